#!/usr/bin/env python3
"""Stands in for redis-server where a suite starts one of its own and redlockd is
to be tested: hands every connection on to redlockd at 127.0.0.1:6379, each such
server to a database of its own. Takes the options and the configuration file on
standard input that suites give."""
import os
import select
import socket
import subprocess
import sys
import threading

TARGET = ("127.0.0.1", 6379)
BUSY = os.environ["TMPDIR"] + "/databases"  # which are given, private to the run


def settings():
    args, found = sys.argv[1:], {}
    for i, arg in enumerate(args):
        if arg.startswith("--") and i + 1 < len(args):
            found[arg[2:]] = args[i + 1]
    if "-" in args:
        for line in sys.stdin:
            words = line.split(None, 1)
            if len(words) == 2:
                found[words[0]] = words[1].strip()
    return found


def database():
    """The one of the sixteen that was longest ago given to such a server, empty."""
    os.makedirs(BUSY, exist_ok=True)
    for turn in range(16 * 64):
        try:
            os.close(os.open(f"{BUSY}/{turn}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        if turn >= 16:
            empty(turn % 16)
        return turn % 16
    sys.exit("too many servers")


def empty(db):
    redis = ["redis-cli", "-n", str(db)]
    for key in subprocess.run([*redis, "--scan"], capture_output=True, text=True, check=True).stdout.splitlines():
        subprocess.run([*redis, "LOCKS", "FORCE", key], stdout=subprocess.DEVNULL, check=True)


def hand_on(client, db):
    server = socket.create_connection(TARGET)
    if db:
        server.sendall(f"SELECT {db}\r\n".encode())
        server.recv(64)
    while True:
        for ready in select.select([client, server], [], [])[0]:
            data = ready.recv(65536)
            if not data:
                client.close()
                server.close()
                return
            (server if ready is client else client).sendall(data)


def serve(listener, db):
    while True:
        client, _ = listener.accept()
        threading.Thread(target=hand_on, args=(client, db), daemon=True).start()


def main():
    found, db, listeners = settings(), database(), []
    if found.get("unixsocket"):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(found["unixsocket"])
        listeners.append(listener)
    if found.get("port", "0") != "0":
        listener = socket.create_server(("127.0.0.1", int(found["port"])))
        listeners.append(listener)
    for listener in listeners:
        listener.listen(128)
        threading.Thread(target=serve, args=(listener, db), daemon=True).start()
    print("Ready to accept connections", flush=True)
    print("The server is now ready to accept connections", flush=True)
    threading.Event().wait()


main()
