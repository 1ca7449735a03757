#!/usr/bin/env python3
"""Runs the lock libraries' own tests against one redis-server and against redlockd
over five masters, both with their defaults, and writes docs/suites.md.

    integration/suites/run.py [-only REGEXP] [-report FILE] [-work DIR] [-redlockd FILE]

Each suite comes from its package (suites.json) into a folder of its own and is
run as it is. It finds the server at 127.0.0.1:6379, in a network namespace where
nothing else is (unshare, Linux only), so no port of the machine is touched.
Where a test ends otherwise with redlockd, reasons.json must say why; else the
run fails."""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


def call(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class Suite:
    """One library's tests, in a folder of its own."""

    def __init__(self, told, work):
        self.name, self.kind, self.package = told["name"], told["kind"], told["package"]
        self.version, self.needs, self.tests = told["version"], told.get("needs", []), told.get("tests", [])
        self.options = told.get("options", [])
        self.no_expiry = told.get("no_expiry", "reject")
        self.home = work / re.sub(r"\W+", "-", self.name)
        self.source = self.home / "source"
        self.python = self.home / "venv/bin/python"

    def fetch(self):
        if (self.home / "fetched").exists():
            return
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True)
        {"pytest": self.fetch_pypi, "go": self.fetch_go, "mocha": self.fetch_npm}[self.kind]()
        (self.home / "fetched").touch()

    def fetch_pypi(self):
        call(sys.executable, "-m", "venv", self.home / "venv")
        pip = [self.python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        call(*pip, "download", "--no-deps", "--no-binary", self.package, "-d", self.home, f"{self.package}=={self.version}")
        with tarfile.open(next(self.home.glob("*.tar.gz"))) as archive:
            archive.extractall(self.home / "sdist", filter="data")
        next((self.home / "sdist").iterdir()).rename(self.source)
        call(*pip, "install", f"{self.package}=={self.version}", *self.needs)

    def fetch_go(self):
        told = json.loads(call("go", "mod", "download", "-json", f"{self.package}@{self.version}", cwd=ROOT))
        shutil.copytree(told["Dir"], self.source)
        for path in [self.source, *self.source.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        call("go", "test", "-c", "-o", self.home / "suite.test", ".", cwd=self.source)

    def fetch_npm(self):
        self.source.mkdir()
        packed = call("npm", "pack", "--silent", f"{self.package}@{self.version}", cwd=self.home).split()[-1]
        call("tar", "xzf", self.home / packed, "--strip-components=1", "-C", self.source)
        install = ["npm", "install", "--silent", "--no-audit", "--no-fund"]
        call(*install, "--omit=dev", cwd=self.source)
        call(*install, "--prefix", self.home, *self.needs, cwd=self.home)

    def command(self, target):
        """What runs the tests, and how its results are read."""
        if self.kind == "pytest":
            report = self.home / f"{target}.xml"
            report.unlink(missing_ok=True)
            command = [self.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}",
                       *self.options, *self.tests]
            if target == "redlockd":
                command[3:3] = ["-p", "empty_locks"]
            return command, lambda _: junit(report)
        if self.kind == "go":
            return ["go", "tool", "test2json", "-t", self.home / "suite.test", "-test.v=test2json", "-test.timeout=280s"], gotest
        helps = ["--require", HERE / "sets.js"] if target == "redlockd" else []
        return [self.home / "node_modules/.bin/mocha", "--exit", *helps, "--timeout", "20000", "--reporter", "json",
                *self.tests], mocha

    def run(self, target, binary):
        """The tests by name, and what each that failed said."""
        self.fetch()
        command, read = self.command(target)
        env = dict(os.environ, PYTHONPATH=str(HERE), NODE_PATH=str(self.home / "node_modules"), SUITE_TARGET=target, SUITE_REDLOCKD=str(binary), SUITE_HOME=str(self.home),
                   SUITE_NO_EXPIRY=self.no_expiry)
        # The namespaces end with their first process, and all that runs in them.
        inside = ["unshare", "--user", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child", HERE / "inside.sh"]
        try:
            done = subprocess.run([str(c) for c in [*inside, *command]], cwd=self.source, env=env,
                                  capture_output=True, text=True, timeout=600)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"{self.name}, {target}: not done after 600 s") from None
        results = read(done.stdout)
        if not results:
            raise RuntimeError(f"{self.name}, {target}: no results\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return results


def junit(report):
    results = {}
    if not report.exists():
        return results
    for case in xml.parse(report).iter("testcase"):
        name = f"{case.get('classname').removeprefix('tests.')}::{case.get('name')}"
        bad = case.find("failure") if case.find("failure") is not None else case.find("error")
        state = FAILED if bad is not None else SKIPPED if case.find("skipped") is not None else PASSED
        results[name] = (state, (bad.get("message") or "") if bad is not None else "")
    return results


def gotest(text):
    results, said = {}, {}
    for line in text.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        name = event.get("Test")
        if name and event["Action"] == "output":
            said[name] = (said.get(name, "") + event["Output"])[-1500:]
        elif name and event["Action"] in ("pass", "fail", "skip"):
            results[name] = ({"pass": PASSED, "fail": FAILED, "skip": SKIPPED}[event["Action"]], said.get(name, ""))
    for name in said:  # what never ended, as after a panic
        results.setdefault(name, (FAILED, said[name]))
    return results


def mocha(text):
    start = text.find("{")
    if start < 0:
        return {}
    told = json.JSONDecoder().raw_decode(text[start:])[0]
    results = {}
    for state, group in ((PASSED, "passes"), (FAILED, "failures"), (SKIPPED, "pending")):
        for test in told[group]:
            results[test["fullTitle"]] = (state, test.get("err", {}).get("message", ""))
    return results


def compare(suite, redis, redlockd, reasons):
    """The tests that end otherwise, each with its reason; None where nobody knows."""
    differences = []
    for name, (state, _) in redis.items():
        now, said = redlockd.get(name, (FAILED, "did not run"))
        if now == state:
            continue
        told = {"suite": suite.name, "test": name, "said": said}
        reason = next((r["why"] for r in reasons if all(re.search(r.get(k, ""), told[k]) for k in told)), None)
        differences.append((name, now, reason, " ".join(said.split())[:300]))
    return differences


def counted(results):
    states = [state for state, _ in results.values()]
    return f"{states.count(PASSED)} of {len(states) - states.count(SKIPPED)}"


def report(file, rows):
    lines = ["# The lock libraries' own tests", "",
             "Written by `make suites`; do not edit. Each suite comes with its package, and is run as it is against",
             "one redis-server and against redlockd over five masters, both with their defaults; those marked * take",
             "locks without a TTL, and redlockd has `no_expiry = \"max_ttl\"` for them. Where tests empty",
             "the database between them (`FLUSHDB`, which redlockd refuses), the locks are forced out instead; where",
             "a suite starts a redis-server of its own, it gets a database of redlockd's.", "",
             "| suite | version | passed on Redis | passed on redlockd |", "|---|---|---|---|"]
    for suite, redis, redlockd, _ in rows:
        mark = "" if suite.no_expiry == "reject" else " *"
        lines.append(f"| {suite.name}{mark} | {suite.version.removeprefix('v')} | {counted(redis)} | {counted(redlockd)} |")
    lines += ["", "## What differs", ""]
    for suite, _, _, differences in rows:
        by_reason = {}
        for name, now, reason, said in differences:
            by_reason.setdefault(reason or "not explained yet", []).append(name)
        for reason, names in by_reason.items():
            lines.append(f"- {suite.name}: {', '.join(f'`{n}`' for n in names)}: {reason}")
    if lines[-1] == "":
        lines.append("Nothing.")
    file.write_text("\n".join(lines) + "\n")


def main():
    flags = argparse.ArgumentParser(allow_abbrev=False)
    flags.add_argument("-only", default=".", help="run only suites whose name matches")
    flags.add_argument("-report", type=pathlib.Path, help="write the table to this file")
    flags.add_argument("-work", type=pathlib.Path, default=ROOT / "bin/suites", help="where packages are kept")
    flags.add_argument("-redlockd", type=pathlib.Path, default=ROOT / "bin/redlockd")
    options = flags.parse_args()
    reasons = json.loads((HERE / "reasons.json").read_text())
    rows, unexplained = [], 0
    for told in json.loads((HERE / "suites.json").read_text()):
        if not re.search(options.only, told["name"]):
            continue
        suite = Suite(told, options.work.resolve())
        try:
            redis, redlockd = (suite.run(target, options.redlockd.resolve()) for target in ("redis", "redlockd"))
        except RuntimeError as problem:
            print(f"{suite.name} {suite.version}: COULD NOT BE RUN: {problem}", flush=True)
            unexplained += 1
            continue
        differences = compare(suite, redis, redlockd, reasons)
        print(f"{suite.name} {suite.version}: {counted(redis)} on Redis, {counted(redlockd)} on redlockd", flush=True)
        for name, now, reason, said in differences:
            unexplained += reason is None
            print(f"    {name}: {now}: {reason or 'NOT EXPLAINED: ' + said}", flush=True)
        rows.append((suite, redis, redlockd, differences))
    if options.report:
        report(options.report, rows)
    sys.exit(1 if unexplained else 0)


main()
