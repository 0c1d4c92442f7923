"""Failure: whether a result failed, its message without variable parts, and the failures that it reports."""

from __future__ import annotations

import re
from functools import lru_cache

import re2

from ..core import Step
from .fingerprint import fingerprint, has_any

LOOK = 320
"""Bytes at either end of a result that are searched for a failure."""
EXIT = 120
"""Bytes at the end that are searched for an exit status."""
OPENING = 3
"""Lines at the beginning that report the outcome; lines below are content."""
HEAD = 4 * LOOK
"""Bytes at the beginning that are searched for the message."""
MESSAGE = 200
"""Bytes of a message that are compared."""

_COMPLAINTS = (
    b"error:", b"error ", b"error\n", b"error[", b"exception:", b"fatal", b"failure", b"failed", b"failing",
    b"not found", b"no such", b"denied", b"refused", b"cannot", b"can't", b"could not", b"couldn't", b"unable",
    b"unknown", b"invalid", b"missing", b"unexpected", b"unsupported", b"undefined", b"not defined", b"did not",
    b"does not", b"is not", b"not allowed", b"no replacement", b"too much", b"too many", b"timed out",
    b"is empty", b"not recognized", b"not precise",
)  # fmt: skip
"""Words of an error message; searched only if the source does not say whether the call failed."""

_COMPLAINT = re2.Set.SearchSet()
_COMPLAINT.Add(b"|".join(map(re2.escape, _COMPLAINTS)))
_COMPLAINT.Compile()

_ALL_WELL = (b"0 error", b"no error", b"0 fail", b"no fail", b"no issue", b"no problem", b"without error")

_NAMED = (b"Error: ", b"Exception: ", b"Error:\n", b"Exception:\n")
_LAST_LINE = re.compile(rb"^([A-Za-z_][\w.]*(?:: [^\n]*)?)$", re.MULTILINE)
_EXIT = re.compile(rb"exit(?:ed with)? (?:code|status)[ :=]+(\d+)", re.IGNORECASE)
_PIECE = re.compile(rb"'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`|(?<![\w.@~-])[\w.@~-]*+(?:/[\w.@~-]+)+/?")
_QUOTED = re.compile(rb"'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`")
"""For texts without a path: much faster."""
_QUOTES = (b"'", b'"', b"`")
_OPEN_QUOTE = re.compile(rb"[`'\"][^`'\"\n]{2,}$")
_FAILING = re.compile(
    rb"^[ \t]*(?:FAILED|FAIL:?|--- FAIL:|not ok|\xe2\x97\x8f) +[^\s(][^\n]*|^E {3,}[^\n]*"
    rb"|^[^\n]*\S FAILED(?: +\[ *\d+%\])?$",
    re.MULTILINE,
)
"""How test runners name a failing test; headings and totals (`FAILURES`, `2 failed`) are the same for all tests."""
_FAILING_HINTS = (b"FAIL", b"not ok ", b"\xe2\x97\x8f", b"\nE   ")
_SHORT = range(4, 8)
"""The length of a message of one short word (`Killed`); a bare number is an answer."""
_RULES = b" \t=-_*#"
"""Characters that draw lines around headings."""
_HEADING = re.compile(rb"([=_*#-])\1{2}.*\1{3}")
_DRAWN = re.compile(rb"([=_*#-])\1{3,}")
_RULED = (b"===", b"___", b"***", b"###", b"---")
_LINES = (b"====", b"____", b"****", b"####", b"----")


_HARNESS = re2.compile(
    rb"\A\s*(?:(?:<tool_use_error>|<error>|<stderr>)\s*)?(?:Exit code:? \d+|exit status:? \d+"
    rb"|Command (?:failed|exited) with (?:exit )?(?:code|status) \d+[.:]?)[ \t]*(?:\n|\z)"
)
"""The harness's text for every failing command; the failure itself follows it."""


def read_failure(step: Step, text: bytes, asked: bytes, script: bool) -> bytes | None:
    """The normalised message of a result that failed or contains an error message; None for any other.

    `text` is the normalised result, `asked` the call (name, NUL, arguments). The parts of the message that repeat the
    call are masked, so that the same failure of different calls compares equal; other parts stay, so that another
    missing module is another failure. For a `script`, only paths are masked, since it contains everything.
    """
    if not _failed(step, text):
        return None
    harness = _HARNESS.match(text) if has_any(text, (b"xit", b"Command failed")) else None
    said = text[harness.end() :] if harness is not None and text[harness.end() :].strip() else text
    return _masked(_message(said, asked), asked, script)


TIMED_OUT = b"it was ended at a time limit"
"""The message of a call that was: one kind of failure, whatever the client says about it."""


@lru_cache(maxsize=256)
def refused_for_form(message: str) -> bool:
    """Whether a tool rejected the call for a missing or extra argument, and did nothing."""
    said = message.lower()
    return any(form in said for form in _FORMS)


_FORMS = (
    "no replacement was performed", "is required for", "missing required", "required parameter",
    "string to replace not", "extra operand", "invalid option", "unrecognized option", "unrecognized argument",
    "illegal option", "inputvalidationerror", "invalid `new_str` parameter", "invalid parameter",
)  # fmt: skip


def _failed(step: Step, text: bytes) -> bool:
    if step.exit_code is not None:
        return step.exit_code != 0
    if step.error is not None:
        return step.error
    if text.find(b"exit", -EXIT) >= 0:
        found = _EXIT.search(text[-EXIT:])
        if found is not None:
            return found[1] != b"0"
    if text.find(b"Traceback (most recent call last)") >= 0 or text.find(b"FAILED", -LOOK) >= 0:
        return True
    return _complains(text[:LOOK].lstrip())


def _complains(head: bytes) -> bool:
    """Whether the first lines contain an error message, ignoring paths and quoted text."""
    if not _complaint(head.lower() + b"\n"):
        return False
    opening = b""
    for line in head.split(b"\n", OPENING)[:OPENING]:
        if not line.lstrip()[:1].isdigit() or _is_status(line):
            opening += line.lower() + b"\n"
    opening = _pieces(opening).sub(b"", opening)
    return _complaint(opening) and not has_any(opening, _ALL_WELL)


def _is_status(line: bytes) -> bool:
    """Whether a line begins with an HTTP error status; any other number at its beginning is part of a file."""
    return line[:1] in b"45" and line[:3].isdigit() and line[3:4] == b" " and line[4:5].isupper()


def _complaint(lower: bytes) -> bool:
    """Whether a lower-case text contains an error message; one search covers all of them."""
    return _COMPLAINT.Match(lower) is not None


def _message(text: bytes, asked: bytes) -> bytes:
    """The line with the error message; empty if there is none."""
    named = max(map(text.rfind, _NAMED))
    if named >= 0:
        begin = max(text.rfind(mark, 0, named) for mark in (b"\n", b" ")) + 1
        return _announced(text[begin : begin + MESSAGE].splitlines(), 0)
    lines = _LAST_LINE.findall(text) if text.find(b"Traceback (most") >= 0 else None
    if lines:
        return bytes(lines[-1][:MESSAGE])
    if has_any(text, _FAILING_HINTS):
        failing = b"; ".join(line.strip() for line in _FAILING.findall(text))
        if failing:
            return failing[:MESSAGE]
    if len(bare := text.strip()) in _SHORT and bare.isalpha():
        return bare
    if has_any(text, _LINES):
        text = _DRAWN.sub(rb"\1\1\1", text)
    return _complaining(text, asked)


def _complaining(text: bytes, asked: bytes) -> bytes:
    """The first line with an error message, at the beginning or else at the end.

    Without one, the only line of the output, or the last line of a longer one, which begins with a banner.
    """
    others: list[bytes] = []
    for part in (text[:HEAD], text[max(HEAD, len(text) - LOOK) :]):
        lines = part.splitlines()
        for at, line in enumerate(lines):
            stripped = line.strip(_RULES)
            if len(stripped) < 8 or stripped[:40] in asked or (stripped[:1] == b"[" and stripped[-1:] == b"]"):
                continue
            if line.startswith(_RULED) and _HEADING.match(line):
                continue
            if _complaint(stripped.lower() + b"\n"):
                return _announced(lines, at)
            others.append(stripped)
    return others[0 if len(others) <= OPENING else -1][:MESSAGE] if others else b""


def _announced(lines: list[bytes], at: int) -> bytes:
    """A line, joined with the next non-empty one if it ends with a colon."""
    line = lines[at].strip(_RULES)
    if line[-1:] == b":":
        line += b" " + next((one for one in (after.strip(_RULES) for after in lines[at + 1 :]) if one), b"")
    return line[:MESSAGE]


def _masked(message: bytes, asked: bytes, script: bool) -> bytes:
    def mask(found: re.Match[bytes]) -> bytes:
        piece = found[0].strip(b"'\"`")
        return b"~" if piece in asked and not (script and b"/" not in piece) else found[0]

    message = _pieces(message).sub(mask, message)
    if not script:
        if has_any(message, _QUOTES):
            message = _OPEN_QUOTE.sub(lambda found: b"~" if found[0][1:].strip()[:20] in asked else found[0], message)
        message = message.replace(asked.split(b"\0", 1)[0], b"~")
    return b" ".join(message.split())


def _pieces(text: bytes) -> re.Pattern[bytes]:
    """The pattern that matches quoted text and, if the text may contain any, paths."""
    return _PIECE if text.find(b"/") >= 0 else _QUOTED


NAMES = 24
"""Failing tests kept per result."""

_COUNTS = re2.compile(
    rb"\b(\d+) (?:failed|failing|failures?|errors?|problems?|fail)\b"  # pytest, jest, mocha, tsc, ruff, mypy, eslint
    rb"|(?:failures|errors|failed|Failures|Errors|fail)[=:] ?(\d+)"  # unittest, surefire, cargo
)
_PASSED = re.compile(rb"(\d+) (?:passed|passing|pass|ok)\b")
_SUMMARY = 900
"""Bytes at the end of a result that are searched for totals."""
_NAMES = re.compile(
    rb"^[ \t]*(?:FAILED|FAIL:?|--- FAIL:|not ok \d+(?: -)?|\xe2\x97\x8f|\xe2\x9c\x95|\xc3\x97|ERROR:?)"
    rb" +([^\s(][^\s]*(?: \xe2\x80\xba [^\n]*)?)"
    rb"|^test ([\w:]+) \.\.\. FAILED|^(\S+\.py::\S+) FAILED",
    re.MULTILINE,
)
_PLACE = re.compile(
    rb"\.(?:py|pyi|js|jsx|mjs|ts|tsx|go|rs|java|kt|rb|c|cc|cpp|h|cs|php|ex|swift)(?:\", line |:|\()(\d+)"
)
"""The end of a location; the path before it is read backwards, since paths may begin anywhere but end rarely."""
_PATH = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@+-/"
_LONGEST = 300
"""Maximum length of a path in bytes."""
_NAME_HINTS = (b"FAIL", b"ERROR", b"not ok", b"\xe2\x97\x8f", b"\xe2\x9c\x95", b"\xc3\x97")
_COUNT_HINTS, _PASS_HINTS = (b"ail", b"rror", b" problem"), (b" pass", b" ok")
"""Substrings required by the patterns; most results contain none of them."""
_NUMBERS = re.compile(rb"\b\d+(?:\.\d+)?\b")


def mask_numbers(message: bytes) -> bytes:
    """A message without its numbers: an assertion that fails with different values is the same assertion."""
    return _NUMBERS.sub(b"#", message)


@lru_cache(maxsize=256)
def read_report(raw: bytes) -> tuple[str, int | None, int | None, tuple[int, ...]]:
    """The location, failure and pass counts and failing tests of a result; cached, since many results repeat."""
    return read_place(raw), read_failures(raw), read_passes(raw), read_failing(raw)


def read_failures(raw: bytes) -> int | None:
    """The number of failures that a result reports; None without a total."""
    total: int | None = None
    last = raw[-_SUMMARY:]
    if not has_any(last, _COUNT_HINTS):
        return None
    line = -2
    for found in _COUNTS.finditer(last):
        # Only the totals in the last such line count.
        start = last.rfind(b"\n", 0, found.start())
        total = (total or 0) + int(found[1] or found[2]) if start == line else int(found[1] or found[2])
        line = start
    return total


def read_passes(raw: bytes) -> int | None:
    """The number of passed tests that a result reports; None without one."""
    last = raw[-_SUMMARY:]
    count = None
    for found in _PASSED.finditer(last) if has_any(last, _PASS_HINTS) else ():
        before = last[found.start() - 1 : found.start()]
        if not before.isalnum() and before != b"_":
            count = int(found[1])
    return count


def read_failing(raw: bytes) -> tuple[int, ...]:
    """Fingerprints of the failing tests that a result names, sorted."""
    if not has_any(raw, _NAME_HINTS):
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
