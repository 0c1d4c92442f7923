"""Outcomes: the result of a check, from its output and, if it is the check's own, its exit status."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

import re2

from ..core import late_pattern
from .checks import SCRIPTS, CheckCommand, read_checks
from .model import Outcome

HEAD, TAIL = 3_000, 5_000
"""Characters of an output that are read, at its beginning and at its end."""
DETAIL = 100


def _by_line(pattern: str, *, ignore_case: bool = False) -> re.Pattern[str]:
    """A pattern whose `^` and `$` match at line ends; long outputs are searched in linear time."""
    return late_pattern(f"(?{'im' if ignore_case else 'm'}){pattern}", engine=lambda text, _: re2.compile(text))


_ANSI = late_pattern(r"\x1b\[[0-9;]*[A-Za-z]")
_EXIT = late_pattern(
    r"exit(?:ed)?(?: with)? ?(?:code|status)?[ :=]+(\d+)\b|\bEXIT(?:_CODE|_STATUS)?[ :=]+(\d+)", re.IGNORECASE
)
_NOT_THERE = late_pattern(
    r"command not found|: not found\b|No module named '?(?:pytest|unittest|mypy|ruff|tox|nox|flake8)"
    r"|can't open file|[Mm]issing script|npm ERR! missing|No such file or directory|could not determine executable"
    r"|No rule to make target|Unknown command|is not recognized as"
)
_COUNT = late_pattern(
    r"(\d+)\s+(failed|failures?|errors?|passed|passing|failing|skipped|xfailed|deselected|pending|todo)\b"
)


def read_outcome(check: CheckCommand, output: str, exit_code: int | None, error: bool | None) -> tuple[Outcome, str]:
    """The result of a check, and the text that shows it; `unknown` if only a hidden exit status could show a pass."""
    text = _bounded(output)
    said = _PARSERS[check.kind](text) if check.kind in _PARSERS else None
    code = exit_code if exit_code is not None else _printed_status(text)
    if check.kind == "done" and code == 0 and check.shows and "Traceback" not in text:
        fine = _FINE.search(text)
        return "passed", _line_at(text, fine.group(0)) if fine is not None else "exit status 0"
    if said is None and _NOT_THERE.search(text[:600]) and (code is None or code) and len(text) < 1_500:
        return "none", "it did not run"
    if (code in (126, 127) and check.shows) or "No rule to make target" in text[:300]:
        return "none", "it did not run"
    if said is not None and said[0] != "passed":
        # A script of the project that prints an error and exits with 0 may have meant to.
        return said if code != 0 or not check.shows or check.runner not in SCRIPTS else ("unknown", said[1])
    if check.shows:
        failed = code not in (None, 0) or (code is None and error is True)
        if failed:
            status = f"exit status {code}" if code is not None else "it failed"
            return ("none", "no tests collected") if code == 5 and check.runner == "pytest" else ("failed", status)
        if said is not None:
            return said
        if check.kind == "endpoint" and code in (None, 0) and text.strip():
            return "passed", "it responded"
        if code == 0 or error is False or (check.kind in ("types", "lint", "build") and not text.strip()):
            return "passed", "exit status 0" if code == 0 else "no error"
    return said or ("unknown", "its exit status is hidden" if not check.shows else "its output does not say")


SUMS_UP = frozenset(("pytest", "unittest", "jest", "vitest", "cargo", "go"))
"""Runners that always print at the end how many tests ran."""
_QUIET = late_pattern(r"[>|]|--json|--report|-qq|-q\s+-q|--silent|--quiet|-json")
"""Options that suppress that summary."""


def why_not_passed(command: str, output: str) -> str:
    """Why a command with exit status 0 did not pass: its tests failed, or none ran; otherwise empty."""
    checks = [check for check in read_checks(command) if check.kind == "tests" and check.runner not in SCRIPTS]
    if not checks or checks[-1].runner == "script":
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


def _printed_status(text: str) -> int | None:
    """An exit status that the tool, or an `echo $?`, printed at the end."""
    return _status_in(text[-160:])


@lru_cache(16)
def _status_in(end: str) -> int | None:
    found = _last(_EXIT, end) if "exit" in end.lower() else None
    return int(found[1] or found[2]) if found is not None else None


Said = tuple[Outcome, str] | None

_PYTEST = _by_line(r"^(?:=+ )?((?:\d+ \w+(?:, )?)+|no tests ran|no tests collected)(?: \([^)]*\))? in [\d.]+s?\b.*$")
_PYTEST_NONE = _by_line(r"\bno tests ran\b|collected 0 items|NO TESTS RAN|no tests found|No tests found"
    r"|No test files found"
                          r"|no test files\b|There are no tests to run|No tests were executed",
                        ignore_case=True)  # fmt: skip
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
_BROKEN = _by_line(
    r"^(?:E\s{2,}|ERROR collecting|ERRORS?\b|FAILED\b|FAIL(?:URE)?\b|--- FAIL|not ok \d)|^\s*[✗✘×✕] |BUILD FAIL"
    r"|\[ERROR\]"
    r"|Traceback \(most recent call last\)|AssertionError|error: could not compile|make(?:\[\d+\])?: \*\*\*|npm ERR!"
    r"|\b\d+ (?:tests? )?fail(?:ed|ing|ures?)\b|Segmentation fault|^\S+ FAILED\b|\bERROR(?:\s\[|:)"
    r"|\bVULNERABLE\b")  # fmt: skip
_NO_FAILURES = late_pattern(r"\b0 (?:tests? )?(?:failed|failing|failures?)\b")
_FINE = _by_line(
    r"\ball (?:\d+ )?(?:tests?|checks?|packages|specs)\b[^\n]{0,20}\bpass|^\s*PASS(?:ED)?\b|\bPASS(?:ED)?\s*$"
    r"|BUILD SUCCESS"
    r"|^OK\b|\b\d+ (?:tests? )?pass(?:ed|ing)\b|^\s*[✓✔√] |\btests? passed\b|\bALL (?:TESTS )?PASS",
    ignore_case=True,
)  # fmt: skip


def _sum(text: str) -> Said:
    """The summary of a runner that counts its tests."""
    runners = (_pytest, _unittest, _rust, _java, _javascript, _golang)
    return next((said for counted in runners if (said := counted(text)) is not None), None)


def _tests(text: str) -> Said:
    said = _sum(text)
    if said is not None:
        return said
    broken = _BROKEN.search(_NO_FAILURES.sub("", text))
    if broken is not None:
        return "failed", _line_at(text, broken.group(0))
    if _PYTEST_NONE.search(text):
        return "none", "no tests ran"
    fine = _FINE.search(text)
    return ("passed", _line_at(text, fine.group(0))) if fine is not None else None


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


_TYPE_FINE = _by_line(r"Success: no issues found|^0 errors|Found 0 errors|No errors!")
_TYPE_BAD = _by_line(r"Found (\d+) errors?|error TS\d+|^(\d+) errors?,|^\S+:\d+(?::\d+)?:? (?:- )?error")


_LINT_FINE = late_pattern(r"All checks passed|Your code has been rated at 10|no offenses|would be left unchanged"
    r"|0 problems"
                        r"|All matched files use Prettier|No issues found|already formatted", re.I)  # fmt: skip
_LINT_BAD = _by_line(
    r"Found (\d+) errors?|✖ \d+ problems? \(([1-9]\d*) errors?|^\S+:\d+:\d+: [A-Z]+\d+ |would reformat"
    r"|\[warn\] .*Code style"
    r"|^\s+\d+:\d+\s+error\s|^error(?:\[\w+\])?:|\bFailed$|^\S+:\d+:\d+: [CREWF]\d{4}:")  # fmt: skip


_BUILD_BAD = _by_line(
    r"error: could not compile|BUILD FAIL|^make(?:\[\d+\])?: \*\*\*|\berror TS\d+|^\S+:\d+:(?:\d+:)? (?:fatal )?error:"
    r"|^error(?:\[\w+\])?:|Failed to compile|Build failed|npm ERR!|ERROR in |^ERROR: |SyntaxError|undefined reference"
    r"|failed to solve")  # fmt: skip
_BUILD_FINE = _by_line(
    r"BUILD SUCCESS|Compiled successfully|Finished (?:`?\w+`? )?(?:\[|profile|dev|release|test)|✓ built in|built in \d"
    r"|compiled successfully|Build succeeded|Successfully (?:built|tagged)|Build (?:completed|successful)")  # fmt: skip


_HTTP = late_pattern(
    r"HTTP/[\d.]+ (\d{3})|\bHTTP[ _]?(?:CODE|STATUS)?[ :=]+(\d{3})\b|^(\d{3})\Z"
    r"|\bstatus(?:[ _]code)?\"?[ :=]+(\d{3})\b",
    re.M,
)
_NO_ANSWER = _by_line(
    r"curl: \(\d+\)|Connection refused|Could not resolve host|Failed to connect|Connection failed|timed out|^000\z"
)


def _endpoint(text: str) -> Said:
    if (silent := _NO_ANSWER.search(text)) is not None:
        return "failed", _line_at(text, silent.group(0))
    codes = [next(part for part in found if part) for found in _HTTP.findall(text.strip())]
    if codes:
        return ("passed" if codes[-1][0] in "23" else "failed"), f"HTTP {codes[-1]}"
    return None


_REJECTED = _by_line(
    r"! \[(?:remote )?rejected\]|^fatal: |^error: failed to push|Permission denied|Authentication failed"
    r"|pre-push hook"
)
_PUSHED = _by_line(r"^\s*(?:\*|\+|[0-9a-f]{6,}\.\.+[0-9a-f]{6,}).* -> |Everything up-to-date")
_COMMITTED = _by_line(r"^\[[^\]\n]+ [0-9a-f]{6,}\]|\d+ files? changed")
_NOT_COMMITTED = _by_line(r"nothing to commit|no changes added|^fatal: |^error: |hook (?:failed|declined)")


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


_BAD_NEWS = _by_line(
    r"^(?:\S+: )?(?:ERROR|FATAL|FAIL(?:ED|URE)?|CRITICAL)\b|\bCrashLoopBackOff\b|\bVULNERABLE\b|\bNON-COMPLIANT\b"
    r"|Traceback \(most recent call last\)|^(?:Apply|Build|Deployment|Backup|Upload|Migration) failed|"
    r"completed with errors"
    r"|\b0/\d+ +(?:ready|available|healthy)|connection (?:to .* )?(?:failed|refused)|"
    r"Permission denied"
    r"|[Ee]rror rate:? +(?:[1-9]|0\.0*[1-9])"
    r"|\b(?:FAILED|VULNERABLE|DOWN|UNHEALTHY|MISSING|INCOMPLETE)\s*$|lost connection")  # fmt: skip


_COMPLAINT = _by_line(
    r"\b(?:fatal|failed|failure|refused|timed out|unreachable|unavailable|crash\w*)\b|\berror:|^access denied",
    ignore_case=True,
)
_NO_COMPLAINT = _by_line(
    r"\b(?:no|0|zero|without(?: any)?) (?:\w+ )?(?:errors?|failures?|timeouts?|failed)\b|^.*\bWARN.*$", ignore_case=True
)


def _command(text: str) -> Said:
    bad = _BAD_NEWS.search(text)
    if bad is None and _printed_status(text) is None and _COMPLAINT.search(text):
        bad = _COMPLAINT.search(_NO_COMPLAINT.sub("", text))
    return ("failed", _line_at(text, bad.group(0))) if bad is not None else None


def _by_words(*news: tuple[Outcome, re.Pattern[str]]) -> Callable[[str], Said]:
    """A parser that tries one pattern after the other; a count of 0 does not match."""

    def parse(text: str) -> Said:
        for outcome, pattern in news:
            for found in pattern.finditer(text):
                if "0" not in found.groups():
                    return outcome, _line_at(text, found.group(0))
        return None

    return parse


_PARSERS: dict[str, Callable[[str], Said]] = {
    "done": _command,
    "tests": _tests,
    "types": _by_words(("failed", _TYPE_BAD), ("passed", _TYPE_FINE)),
    "lint": _by_words(("failed", _LINT_BAD), ("passed", _LINT_FINE)),
    "build": _by_words(("failed", _BUILD_BAD), ("passed", _BUILD_FINE)),
    "endpoint": _endpoint,
    "push": _by_words(("failed", _REJECTED), ("passed", _PUSHED)),
    "commit": _by_words(("passed", _COMMITTED), ("failed", _NOT_COMMITTED)),
}
