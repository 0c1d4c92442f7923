"""Tally: what a check reports of its failures: how many, which tests, where."""

from __future__ import annotations

import re

import re2

from .fingerprint import fingerprint

NAMES = 24
"""Failing tests remembered of one result."""

_COUNTS = re2.compile(
    rb"\b(\d+) (?:failed|failing|failures?|errors?|problems?|fail)\b"  # pytest, jest, mocha, tsc, ruff, mypy, eslint
    rb"|(?:failures|errors|failed|Failures|Errors|fail)[=:] ?(\d+)"  # unittest, surefire, cargo
)
_PASSED = re2.compile(rb"\b(\d+) (?:passed|passing|pass|ok)\b")
_SUMMARY = 900
"""Bytes at the end of a result where it adds up."""
_NAMES = re.compile(
    rb"^[ \t]*(?:FAILED|FAIL:?|--- FAIL:|not ok \d+(?: -)?|\xe2\x97\x8f|\xe2\x9c\x95|\xc3\x97|ERROR:?)"
    rb" +([^\s(][^\s]*(?: \xe2\x80\xba [^\n]*)?)"
    rb"|^test ([\w:]+) \.\.\. FAILED|^(\S+\.py::\S+) FAILED",
    re.MULTILINE,
)
_PLACE = re.compile(
    rb"(?:^|[\s(\"'])((?:[\w.@+-]*/)*[\w.@+-]+\.(?:py|pyi|js|jsx|mjs|ts|tsx|go|rs|java|kt|rb|c|cc|cpp|h|cs|php|ex|swift))"
    rb"(?:\", line |:|\()(\d+)"
)
_NUMBERS = re2.compile(rb"\b\d+(?:\.\d+)?\b")


def mask_numbers(message: bytes) -> bytes:
    """A message without its numbers: an assertion that compares another value each time is the same assertion."""
    return bytes(_NUMBERS.sub(b"#", message))


def read_failures(raw: bytes) -> int | None:
    """How many failures a result reports; None where it does not add them up."""
    total, found = 0, False
    last = raw[-_SUMMARY:]
    for line in reversed(last.splitlines()):
        counts = [int(one or other) for one, other in _COUNTS.findall(line)]
        if counts:
            found, total = True, sum(counts)
            break
    return total if found else None


def read_passes(raw: bytes) -> int | None:
    """How many tests a result says to have passed; None where it does not say."""
    found = _PASSED.findall(raw[-_SUMMARY:])
    return int(found[-1]) if found else None


def read_failing(raw: bytes) -> tuple[int, ...]:
    """Fingerprints of the tests that a result names as failing, in order of their value."""
    names = {next(filter(None, groups)).split(b" - ")[0] for groups in _NAMES.findall(raw)}
    return tuple(sorted(fingerprint(name) for name in names))[:NAMES]


def read_place(raw: bytes) -> str:
    """The file and line that a failure names last, as `tests/test_a.py:12`; empty where it names none."""
    found = _PLACE.findall(raw)
    return f"{found[-1][0].decode('utf-8', 'replace')}:{int(found[-1][1])}" if found else ""
