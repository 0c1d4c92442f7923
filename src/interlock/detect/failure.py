"""Failure: whether a result is one, and its message without what differs from case to case."""

from __future__ import annotations

import re
from functools import lru_cache

import re2

from ..core import Step

LOOK = 320
"""Bytes at either end of a result where a failure shows itself."""
OPENING = 3
"""Lines at the beginning where a result says how it went; further down it is content."""
HEAD = 4 * LOOK
"""Bytes at the beginning that are searched for its message."""
MESSAGE = 200
"""Bytes of a message that are compared."""

_COMPLAINTS = (
    b"error:", b"error ", b"error\n", b"error[", b"exception:", b"fatal", b"failure", b"failed", b"failing",
    b"not found", b"no such", b"denied", b"refused", b"cannot", b"can't", b"could not", b"couldn't", b"unable",
    b"unknown", b"invalid", b"missing", b"unexpected", b"unsupported", b"undefined", b"not defined", b"did not",
    b"does not", b"is not", b"not allowed", b"no replacement", b"too much", b"too many", b"timed out",
    b"is empty", b"not recognized", b"not precise",
)  # fmt: skip
"""What a result says when it is a complaint; looked for only where the source does not say whether it failed."""

_COMPLAINT = re2.Set.SearchSet()
_COMPLAINT.Add(b"|".join(map(re2.escape, _COMPLAINTS)))
_COMPLAINT.Compile()

_ALL_WELL = (b"0 error", b"no error", b"0 fail", b"no fail", b"no issue", b"no problem", b"without error")

_NAMED = (b"Error: ", b"Exception: ", b"Error:\n", b"Exception:\n")
_LAST_LINE = re.compile(rb"^([A-Za-z_][\w.]*(?:: [^\n]*)?)$", re.MULTILINE)
_EXIT = re.compile(rb"exit(?:ed with)? (?:code|status)[ :=]+(\d+)", re.IGNORECASE)
_PIECE = re.compile(rb"'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`|(?<![\w.@~-])[\w.@~-]*+(?:/[\w.@~-]+)+/?")
_QUOTES = (b"'", b'"', b"`")
_OPEN_QUOTE = re.compile(rb"[`'\"][^`'\"\n]{2,}$")
_FAILING = re.compile(
    rb"^[ \t]*(?:FAILED|FAIL:?|--- FAIL:|not ok|\xe2\x97\x8f) +[^\s(][^\n]*|^E {3,}[^\n]*"
    rb"|^[^\n]*\S FAILED(?: +\[ *\d+%\])?$",
    re.MULTILINE,
)
"""How runners of tests name one that failed; headings and tallies (`FAILURES`, `2 failed`) are the same for all."""
_FAILING_HINTS = (b"FAIL", b"not ok ", b"\xe2\x97\x8f", b"\nE   ")
_SHORT = re.compile(rb"[A-Za-z]{4,7}")
"""A message of one short word (`Killed`); a bare number is an answer."""
_STATUS = re.compile(rb"[45]\d\d [A-Z]")
"""How a refused request begins; any other line that begins with a number is a piece of a file."""
_RULES = b" \t=-_*#"
"""What lines are drawn with around headings."""
_HEADING = re.compile(rb"([=_*#-])\1{2}.*\1{3}")
_DRAWN = re.compile(rb"([=_*#-])\1{3,}")
_RULED = (b"===", b"___", b"***", b"###", b"---")
_LINES = (b"====", b"____", b"****", b"####", b"----")
_BRACES = re.compile(rb"\{[^{}]*\}")


_HARNESS = re2.compile(
    rb"\A\s*(?:(?:<tool_use_error>|<error>|<stderr>)\s*)?(?:Exit code:? \d+|exit status:? \d+"
    rb"|Command (?:failed|exited) with (?:exit )?(?:code|status) \d+[.:]?)[ \t]*(?:\n|\z)"
)
"""What the harness says about every failing command; the failure itself comes after it."""


def read_failure(step: Step, text: bytes, asked: bytes, script: bool) -> bytes | None:
    """The normalised message of a result that failed or complains; None for one that does not.

    `text` is the normalised result, `asked` the call (name, NUL, arguments): what the message repeats of the call
    is masked, so that the same failure of different calls reads the same; what the call did not say stays, so that
    another missing module is another failure. Of a `script` only paths are masked: it says everything.
    """
    if not _failed(step, text):
        return None
    harness = _HARNESS.match(text) if b"xit" in text or b"Command failed" in text else None
    said = text[harness.end() :] if harness is not None and text[harness.end() :].strip() else text
    return _masked(_message(said, asked), asked, script)


@lru_cache(maxsize=256)
def refused_for_form(message: str) -> bool:
    """Whether a tool refused the call itself, for what it lacks or has too much of, and did nothing."""
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
    tail = text[-LOOK:]
    if b"exit" in tail[-120:]:
        found = _EXIT.search(tail[-120:])
        if found is not None:
            return found[1] != b"0"
    if b"Traceback (most recent call last)" in text or b"FAILED" in tail:
        return True
    return _complains(text[:LOOK].lstrip())


def _complains(head: bytes) -> bool:
    """Whether the opening lines complain, apart from paths and quotes in them."""
    if not _complaint(head.lower() + b"\n"):
        return False
    opening = b""
    for line in head.split(b"\n", OPENING)[:OPENING]:
        if not line.lstrip()[:1].isdigit() or _STATUS.match(line):
            opening += line.lower() + b"\n"
    opening = _PIECE.sub(b"", opening)
    return _complaint(opening) and not any(word in opening for word in _ALL_WELL)


def _complaint(lower: bytes) -> bool:
    """Whether a text in lower case has a complaint in it: one search for all of them."""
    return _COMPLAINT.Match(lower) is not None


def _message(text: bytes, asked: bytes) -> bytes:
    """The line that says what went wrong; empty if there is none."""
    named = max(map(text.rfind, _NAMED))
    if named >= 0:
        begin = max(text.rfind(mark, 0, named) for mark in (b"\n", b" ")) + 1
        return _announced(text[begin : begin + MESSAGE].splitlines(), 0)
    lines = _LAST_LINE.findall(text) if b"Traceback (most" in text else None
    if lines:
        return bytes(lines[-1][:MESSAGE])
    if any(hint in text for hint in _FAILING_HINTS):
        failing = b"; ".join(line.strip() for line in _FAILING.findall(text))
        if failing:
            return failing[:MESSAGE]
    if _SHORT.fullmatch(bare := text.strip()):
        return bare
    if any(line in text for line in _LINES):
        text = _DRAWN.sub(rb"\1\1\1", text)
    return _complaining(text, asked)


def _complaining(text: bytes, asked: bytes) -> bytes:
    """The first line that complains, at the beginning or else at the end.

    Failing that the only thing that is said, or what a longer output ends with: it begins with a banner.
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
    """A line of a text, together with the next that says something where it only announces it."""
    line = lines[at].strip(_RULES)
    if line[-1:] == b":":
        line += b" " + next((one for one in (after.strip(_RULES) for after in lines[at + 1 :]) if one), b"")
    return line[:MESSAGE]


def _masked(message: bytes, asked: bytes, script: bool) -> bytes:
    def mask(found: re.Match[bytes]) -> bytes:
        piece = found[0].strip(b"'\"`")
        return b"~" if piece in asked and not (script and b"/" not in piece) else found[0]

    if b"{" in message:
        message = _BRACES.sub(b"~", _BRACES.sub(b"~", message))
    message = _PIECE.sub(mask, message)
    if not script:
        if any(quote in message for quote in _QUOTES):
            message = _OPEN_QUOTE.sub(lambda found: b"~" if found[0][1:].strip()[:20] in asked else found[0], message)
        message = message.replace(asked.split(b"\0", 1)[0], b"~")
    return b" ".join(message.split())
