"""Outcomes: the result of a check: its exit status, and what test runners count."""

from __future__ import annotations

import re

import re2

from ..core import late_pattern
from .checks import SCRIPTS, CheckCommand, read_checks
from .model import Outcome

HEAD, TAIL = 3_000, 5_000
"""Characters of an output that are read, at its beginning and at its end."""
DETAIL = 100
FAILING = 32
"""Failing tests that are kept."""


def _by_line(pattern: str) -> re.Pattern[str]:
    """A pattern whose `^` and `$` match at line ends; long outputs are searched in linear time."""
    return late_pattern(f"(?m){pattern}", engine=lambda text, _: re2.compile(text))


_ANSI = late_pattern(r"\x1b\[[0-9;]*[A-Za-z]")
_HTTP = late_pattern(r"HTTP/[\d.]+ (\d{3})|^\s*(\d{3})\s*\Z|\bHTTP[ _]?(?:CODE|STATUS)?[ :=]+(\d{3})\b", re.M)
_FAILED = _by_line(
    r"^(?:FAILED|ERROR) (\S+)|^(?:FAIL|ERROR): (\S+)|^--- FAIL: (\S+)|^test (\S+) \.\.\. FAILED"
    r"|^\s*● (.+)$|^FAIL\s+(\S+)"
)
"""How runners name a test that failed."""


def read_outcome(check: CheckCommand, output: str, exit_code: int | None, error: bool | None) -> tuple[Outcome, str]:
    """The result of a check, and the text that shows it; only its own exit status shows a pass."""
    text = _bounded(output)
    said = _sum(text) if check.kind == "tests" else _answered(text) if check.kind == "endpoint" else None
    status = exit_code if exit_code is not None else None if error is None else int(error)
    if check.shows and status in (126, 127):
        return "none", "it did not run"
    if said is not None and said[0] != "passed":
        # A script of the project that prints an error and exits with 0 may have meant to.
        return ("unknown", said[1]) if status == 0 and check.shows and check.runner in SCRIPTS else said
    if not check.shows:
        return "unknown", "its exit status is hidden"
    if status is None:
        return "unknown", "its exit status is not known"
    if status == 0:
        return "passed", said[1] if said is not None else "exit status 0"
    if check.kind == "tests" and said is None and (status == 5 or _did_not_run(text)):
        return "none", "no tests ran"
    return "failed", f"exit status {status}" if exit_code is not None else "it failed"


def failing_tests(output: str) -> tuple[str, ...]:
    """The tests that a runner names as failed."""
    found = _FAILED.findall(_bounded(output))
    return tuple(dict.fromkeys(next(filter(None, groups), "") for groups in found))[:FAILING]


SUMS_UP = frozenset(("pytest", "unittest", "jest", "vitest", "cargo", "go"))
"""Runners that always print at the end how many tests ran."""
_QUIET = late_pattern(r"[>|]|--json|--report|-qq|-q\s+-q|--silent|--quiet|-json")
"""Options that suppress that summary."""


def why_not_passed(command: str, output: str) -> str:
    """Why a command with exit status 0 did not pass: its tests failed, or none ran; otherwise empty."""
    checks = [check for check in read_checks(command) if check.kind == "tests" and check.runner not in SCRIPTS]
    if not checks or checks[-1].runner.endswith(".sh"):
        return ""
    said = _sum(_bounded(output))
    if said is not None and said[0] in ("failed", "none"):
        return f"ended with status 0, but printed: {said[1]}"
    if said is None and checks[-1].runner.split()[0] in SUMS_UP and not _QUIET.search(command):
        return "ended with status 0, but did not say how many tests passed"
    return ""


def _bounded(output: str) -> str:
    text = output if len(output) <= HEAD + TAIL else f"{output[:HEAD]}\n{output[-TAIL:]}"
    return _ANSI.sub("", text) if "\x1b" in text else text


Said = tuple[Outcome, str] | None

_COUNT = late_pattern(
    r"(\d+)\s+(failed|failures?|errors?|passed|passing|failing|skipped|xfailed|deselected|pending|todo)\b"
)
_NOT_THERE = late_pattern(
    r"command not found|: not found\b|No module named '?(?:pytest|unittest|tox|nox)|can't open file|[Mm]issing script"
    r"|No such file or directory|could not determine executable|No rule to make target|Unknown command"
    r"|\bno tests ran\b|collected 0 items|(?i:no tests? (?:found|ran)|no test files?|there are no tests to run)"
)
_PYTEST = _by_line(r"^(?:=+ )?((?:\d+ \w+(?:, )?)+|no tests ran|no tests collected)(?: \([^)]*\))? in [\d.]+s?\b.*$")
_UNITTEST = _by_line(r"^Ran (\d+) tests? in [\d.]+s")
_JEST = _by_line(r"^\s*Tests:?\s+((?:\d+ \w+[,| ]*)+)(?:\(\d+\))?(?:, )?(?:\d+ total)?")
_SUITES = _by_line(r"^\s*Test (?:Suites:|Files)\s+[^\n]*?(\d+) failed")
_TAP = _by_line(r"^(?:#|ℹ) (pass|fail|tests|cancelled) (\d+)")
_CARGO = _by_line(r"^test result: (ok|FAILED)\. (\d+) passed; (\d+) failed")
_MAVEN = late_pattern(r"Tests run: (\d+), Failures: (\d+), Errors: (\d+)")
_GO_OK = late_pattern(r"^ok\s+\S+\s+(?:[\d.]+s|\(cached\))(?!.*no tests to run)", re.M)
_GO_FAIL = _by_line(r"^(?:--- FAIL|FAIL\b(?:\s+\S+\s+(?:[\d.]+s|\[))?)")
_GRADLE = late_pattern(r"(\d+) tests completed, (\d+) failed")
_JAVA_NONE = _by_line(r"--- (?:maven-)?surefire[\w-]*:\S+:test |^(?:> Task )?\S*:test NO-SOURCE")


def _sum(text: str) -> Said:
    """The summary of a runner that counts its tests."""
    runners = (_pytest, _unittest, _rust, _java, _javascript, _golang)
    return next((said for counted in runners if (said := counted(text)) is not None), None)


def _pytest(text: str) -> Said:
    found = _last(_PYTEST, text) if " in " in text else None
    if found is None:
        return None
    summary = found[1]
    if summary.startswith("no tests"):
        return "none", summary
    return _counted(summary)


def _counted(summary: str) -> Said:
    counts = {}
    for number, what in _COUNT.findall(summary):
        counts[what.rstrip("s") if what.startswith(("error", "failure")) else what] = int(number)
    words = " ".join(summary.strip(" ,|").split())[:DETAIL]
    if any(counts.get(what, 0) for what in ("failed", "failing", "failure", "error")):
        return "failed", words
    if counts.get("passed", 0) or counts.get("passing", 0):
        return "passed", words
    return ("none", words) if counts else None


def _unittest(text: str) -> Said:
    found = _last(_UNITTEST, text) if "Ran " in text else None
    if found is None:
        return None
    after = text[found.end() :]
    if re.search(r"^FAILED", after, re.M):
        return "failed", f"{found[1]} run, {_line_at(after, 'FAILED')}"
    if found[1] == "0" or "NO TESTS RAN" in after:
        return "none", "0 tests ran"
    return ("passed", f"{found[1]} passed") if re.search(r"^OK", after, re.M) else None


def _rust(text: str) -> Said:
    found = _CARGO.findall(text) if "test result: " in text else []
    if not found:
        return ("failed", "it does not compile") if "error: could not compile" in text else None
    passed, failed = sum(int(each[1]) for each in found), sum(int(each[2]) for each in found)
    if failed or any(each[0] == "FAILED" for each in found):
        return "failed", f"{failed} failed, {passed} passed"
    return ("passed", f"{passed} passed") if passed else ("none", "0 tests ran")


def _java(text: str) -> Said:
    """Maven and Gradle. A build without tests also succeeds."""
    runs = _MAVEN.findall(text)
    ran, failures, errors = (int(each) for each in runs[-1]) if runs else (0, 0, 0)
    if failures or errors:
        return "failed", f"{failures} failures, {errors} errors of {ran}"
    if "BUILD FAILURE" in text or "BUILD FAILED" in text:
        found = _GRADLE.search(text)
        return "failed", found[0] if found else "the build failed"
    if runs or (("surefire" in text or "NO-SOURCE" in text) and _JAVA_NONE.search(text)):
        return ("passed", f"{ran} passed") if ran else ("none", "0 tests ran")
    return None


def _javascript(text: str) -> Said:
    found = _last(_JEST, text) if "Tests" in text else None
    if found is not None:
        said = _counted(found[1])
        suites = _SUITES.search(text) if "Test " in text else None
        if said is not None and said[0] != "failed" and suites is not None and suites[1] != "0":
            return "failed", f"{suites[1]} test files failed"
        if said is not None:
            return said
    suites = _SUITES.search(text) if "Test " in text else None
    if suites is not None and suites[1] != "0":
        return "failed", f"{suites[1]} test files failed"
    counts = {what: int(number) for what, number in _TAP.findall(text)} if "# " in text or "ℹ " in text else {}
    if "pass" in counts or "fail" in counts:
        if counts.get("fail", 0) or counts.get("cancelled", 0):
            return "failed", f"{counts.get('fail', 0)} failed, {counts.get('pass', 0)} passed"
        return ("passed", f"{counts['pass']} passed") if counts.get("pass") else ("none", "0 tests ran")
    mocha = re.search(r"^\s*(\d+) passing", text, re.M) if "passing" in text else None
    if mocha is not None:
        failing = re.search(r"^\s*(\d+) failing", text, re.M)
        if failing is not None and failing[1] != "0":
            return "failed", f"{failing[1]} failing, {mocha[1]} passing"
        return ("passed", f"{mocha[1]} passing") if mocha[1] != "0" else ("none", "0 passing")
    return None


def _golang(text: str) -> Said:
    passing = _GO_OK.findall(text) if "ok" in text else []
    if (
        "FAIL" in text
        and _GO_FAIL.search(text)
        and (passing or "--- FAIL" in text or re.search(r"^FAIL\s", text, re.M))
    ):
        return "failed", _line_at(text, "FAIL")
    if passing:
        return "passed", f"{len(passing)} packages ok"
    return ("none", "no test files") if "[no test files]" in text or "no tests to run" in text else None


def _did_not_run(text: str) -> bool:
    return len(text) < 1_500 and _NOT_THERE.search(text) is not None


def _answered(text: str) -> Said:
    """The status that an endpoint answered with, where the output shows it."""
    codes = [next(part for part in found if part) for found in _HTTP.findall(text)]
    return (("passed" if codes[-1][0] in "23" else "failed"), f"HTTP {codes[-1]}") if codes else None


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for each in pattern.finditer(text):
        found = each
    return found


def _line_at(text: str, piece: str) -> str:
    """The line of a text that contains a piece."""
    at = text.find(piece.strip("\n"))
    begin = text.rfind("\n", 0, max(at, 0)) + 1
    end = text.find("\n", max(at, 0) + 1)
    return " ".join(text[begin : end if end > 0 else len(text)].split()).strip("= ")[:DETAIL]
