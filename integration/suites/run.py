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
import pathlib
import re
import sys

import kinds
from results import FAILED, PASSED, SKIPPED

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MOST = 6  # tests that the report names for one reason


def compare(suite, redis, redlockd, reasons):
    """The tests that end otherwise, each with its reason; None where nobody knows."""
    differences = []
    for name, (state, _) in redis.items():
        now, said = redlockd.get(name, (FAILED, "did not run"))
        if now == state:
            continue
        told = {"suite": suite.name, "test": name, "said": said}
        reason = next((r["why"] for r in reasons if all(re.search(r.get(k, ""), told[k]) for k in told)), None)
        if (state, now) == (FAILED, PASSED):
            reason = "failed on Redis only"
        differences.append((name, now, reason, " ".join(said.split())[:300]))
    return differences


def counted(results):
    states = [state for state, _ in results.values()]
    return f"{states.count(PASSED)} of {len(states) - states.count(SKIPPED)}"


def report(file, rows):
    lines = ["# The lock libraries' own tests", "",
             "Written by `make suites`; do not edit. Each suite comes with its library's package. It is run unchanged",
             "against one redis-server and against redlockd over five masters, both with their defaults. Suites",
             "marked * take locks without a TTL; for them redlockd has `no_expiry = \"max_ttl\"`. If a suite empties the",
             "database between its tests (`FLUSHDB`, which redlockd refuses), all locks are removed with `LOCKS FORCE`",
             "instead. If it starts servers or containers of its own, each is replaced by a database of redlockd.",
             "If its tests need a class that its package lacks (ShedLock, Laravel, go-zero, pottery), there is one in",
             "[standins](../integration/suites/standins).", "",
             "| suite | version | passed on Redis | passed on redlockd |", "|---|---|---|---|"]
    for suite, redis, redlockd, _ in rows:
        if not redis:
            lines.append(f"| {suite.name} | {suite.version.removeprefix('v')} | could not be run | |")
            continue
        mark = "" if suite.no_expiry == "reject" else " *"
        lines.append(f"| {suite.name}{mark} | {suite.version.removeprefix('v')} | {counted(redis)} | {counted(redlockd)} |")
    lines += ["", "## What differs", ""]
    for suite, _, _, differences in rows:
        by_reason = {}
        for name, now, reason, said in differences:
            by_reason.setdefault(reason or "not explained yet", []).append(name)
        for reason, names in by_reason.items():
            more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
            lines.append(f"- {suite.name}: {', '.join(f'`{n}`' for n in names[:MOST])}{more}: {reason}")
    if lines[-1] == "":
        lines.append("Nothing.")
    file.write_text("\n".join(lines) + "\n" + (HERE / "missing.md.part").read_text())


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
        suite = kinds.KINDS[told["kind"]](told, options.work.resolve())
        try:
            redis, redlockd = (suite.run(target, options.redlockd.resolve()) for target in ("redis", "redlockd"))
        except (RuntimeError, OSError) as problem:
            print(f"{suite.name} {suite.version}: COULD NOT BE RUN: {problem}", flush=True)
            unexplained += 1
            rows.append((suite, {}, {}, []))
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
