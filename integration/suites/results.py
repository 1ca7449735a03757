"""Reads what test runners say: by test's name, how it ended and what it said."""
import json
import re
import xml.etree.ElementTree as xml

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


def junit(report):
    results = {}
    if not report.exists():
        return results
    for case in xml.parse(report).iter("testcase"):
        name = f"{case.get('classname').removeprefix('tests.')}::{case.get('name')}"
        bad = case.find("failure") if case.find("failure") is not None else case.find("error")
        state = FAILED if bad is not None else SKIPPED if case.find("skipped") is not None else PASSED
        results[name] = (state, (bad.get("message") or bad.text or "") if bad is not None else "")
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


def rusttest(text):
    """Reads libtest's own lines, and for what failed its stdout further below."""
    said = dict(re.findall(r"^---- (\S+) stdout ----\n(.*?)(?=\n\n(?:----|failures:|$))", text, re.M | re.S))
    states = {"ok": PASSED, "FAILED": FAILED, "ignored": SKIPPED}
    found = re.findall(r"^test (\S+) \.\.\. (ok|FAILED|ignored)", text, re.M)
    return {name: (states[state], said.get(name, "")) for name, state in found}
