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
_PASSED = re.compile(rb"(\d+) (?:passed|passing|pass|ok)\b")
_SUMMARY = 900
"""Bytes at the end of a result where it adds up."""
_NAMES = re.compile(
    rb"^[ \t]*(?:FAILED|FAIL:?|--- FAIL:|not ok \d+(?: -)?|\xe2\x97\x8f|\xe2\x9c\x95|\xc3\x97|ERROR:?)"
    rb" +([^\s(][^\s]*(?: \xe2\x80\xba [^\n]*)?)"
    rb"|^test ([\w:]+) \.\.\. FAILED|^(\S+\.py::\S+) FAILED",
    re.MULTILINE,
)
_PLACE = re.compile(
    rb"\.(?:py|pyi|js|jsx|mjs|ts|tsx|go|rs|java|kt|rb|c|cc|cpp|h|cs|php|ex|swift)(?:\", line |:|\()(\d+)"
)
"""The end of a place; what is before it is read back from there: a path may begin anywhere, and ends seldom."""
_PATH = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@+-/"
_LONGEST = 300
"""Bytes of a path."""
_NAME_HINTS = (b"FAIL", b"ERROR", b"not ok", b"\xe2\x97\x8f", b"\xe2\x9c\x95", b"\xc3\x97")
"""What a result has in it that an expression looks for: most have none of it."""
_NUMBERS = re.compile(rb"\b\d+(?:\.\d+)?\b")


def mask_numbers(message: bytes) -> bytes:
    """A message without its numbers: an assertion that compares another value each time is the same assertion."""
    return _NUMBERS.sub(b"#", message)


def read_failures(raw: bytes) -> int | None:
    """How many failures a result reports; None if it does not add them up."""
    total: int | None = None
    last = raw[-_SUMMARY:]
    if b"ail" not in last and b"rror" not in last and b" problem" not in last:
        return None
    line = -2
    for found in _COUNTS.finditer(last):
        # Only what the last such line says adds up.
        start = last.rfind(b"\n", 0, found.start())
        total = (total or 0) + int(found[1] or found[2]) if start == line else int(found[1] or found[2])
        line = start
    return total


def read_passes(raw: bytes) -> int | None:
    """How many tests a result says to have passed; None if it does not say."""
    last = raw[-_SUMMARY:]
    count = None
    for found in _PASSED.finditer(last) if b" pass" in last or b" ok" in last else ():
        before = last[found.start() - 1 : found.start()]
        if not before.isalnum() and before != b"_":
            count = int(found[1])
    return count


def read_failing(raw: bytes) -> tuple[int, ...]:
    """Fingerprints of the tests that a result names as failing, in order of their value."""
    if not any(hint in raw for hint in _NAME_HINTS):
        return ()
    names = {next(filter(None, groups)).split(b" - ")[0] for groups in _NAMES.findall(raw)}
    return tuple(sorted(fingerprint(name) for name in names))[:NAMES]


def read_place(raw: bytes) -> str:
    """The file and line that a failure names last, as `tests/test_a.py:12`; empty if it names none."""
    last = ""
    for found in _PLACE.finditer(raw):
        before = raw[max(0, found.start() - _LONGEST) : found.start()]
        name = before[len(before.rstrip(_PATH)) :]
        if name:
            ending = found[0].partition(b'"')[0].partition(b":")[0].partition(b"(")[0]
            last = f"{(name + ending).decode('utf-8', 'replace')}:{int(found[1])}"
    return last
