#!/usr/bin/env python3
"""Stands in for redis-server where a suite starts one of its own and redlockd is
to be tested: hands every connection on to a redlockd at 127.0.0.1, each such
server to a database of its own. Takes the options and the configuration file on
standard input that suites give."""
import os
import select
import socket
import sys
import threading

CLUSTERS = int(os.environ["SUITE_CLUSTERS"])
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
    """The redlockd and the database that were longest ago given to such a server; empty."""
    os.makedirs(BUSY, exist_ok=True)
    for turn in range(16 * 64):
        try:
            os.close(os.open(f"{BUSY}/{turn}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        cluster, db = divmod(turn % (16 * CLUSTERS), 16)
        place = ("127.0.0.1", 6379 + cluster), db
        if turn >= 16 * CLUSTERS:
            empty(*place)
        return place
    sys.exit("too many servers")


def empty(redlockd, db):
    with socket.create_connection(redlockd) as server, server.makefile("rwb") as file:
        ask(file, b"SELECT", b"%d" % db)
        for key in ask(file, b"KEYS", b"*"):
            ask(file, b"LOCKS", b"FORCE", key)


def ask(file, *args):
    file.write(b"*%d\r\n" % len(args) + b"".join(b"$%d\r\n%b\r\n" % (len(a), a) for a in args))
    file.flush()
    return reply(file)


def reply(file):
    line = file.readline()[:-2]
    if line.startswith(b"*"):
        return [reply(file) for _ in range(int(line[1:]))]
    if line.startswith(b"$") and line != b"$-1":
        return file.read(int(line[1:]) + 2)[:-2]
    if line.startswith(b"-"):
        sys.exit(line.decode())
    return line


def hand_on(client, redlockd, db):
    server = socket.create_connection(redlockd)
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


def serve(listener, place):
    while True:
        client, _ = listener.accept()
        threading.Thread(target=hand_on, args=(client, *place), daemon=True).start()


def main():
    found, place, listeners = settings(), database(), []
    if found.get("unixsocket"):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(found["unixsocket"])
        listeners.append(listener)
    if found.get("port", "0") != "0":
        listener = socket.create_server(("127.0.0.1", int(found["port"])))
        listeners.append(listener)
    for listener in listeners:
        listener.listen(128)
        threading.Thread(target=serve, args=(listener, place), daemon=True).start()
    print("Ready to accept connections", flush=True)
    print("The server is now ready to accept connections", flush=True)
    threading.Event().wait()


main()
