"""CompletedCall: a call with its CallResult, parsed into comparable values."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from ..calls import CallReading
from ..calls import Effect as Effects
from ..core import Step, Tool
from .check_commands import TARGETS, main_program
from .effect import Effect, command_of, is_shell, read_effect, read_paths, reading_of
from .fingerprint import WORDS, alike, bounded, canonical, fingerprint, has_any, name_words, normalise, words
from .garbled import Garble, read_garble
from .tuning import ALIKE, ALIKE_LONG, LONG, NEWS
from .waiting_calls import Wait, asks_state, limits_itself, read_waits

ARGUMENTS = 2000
"""Characters parsed of the arguments and of the text before a call."""

REMEMBERED = 1024
"""Parsed calls cached: one call in three repeats a recent one."""

EFFECTS = 24
"""Effects kept per call."""

QUESTION = 3
"""Minimum number of words for a text to be a question; sums and lists of numbers have none."""
BEGINNING = 200
"""Characters at the start of an argument in which those words must occur."""

_WORD = re.compile(r"[^\W\d_]{2,}")


class CallContent(Struct):
    """A call's request, from its name and arguments alone; `bare` if they say nothing specific."""

    key: int
    words: set[bytes]
    text: bytes
    effect: Effect
    query: bool
    paths: list[str]
    waits: Wait
    bare: bool = False
    program: str = ""
    targets: tuple[str, ...] = ()
    garble: Garble = ""
    effects: tuple[Effects, ...] = ()
    partly: bool = False


class PendingCall(CallContent):
    """A call without a result yet."""

    step: int = 0
    tool: str = ""
    target: bool = False
    call_id: str | None = None
    batch: int = 0
    time: float | None = None
    quoted: str = ""
    asks: bool = False
    limited: bool = False


class CompletedCall(Struct):
    """A call with its result.

    `outcome` is the fingerprint of the normalised result, `error` that of its message if it failed (else 0), `news` the
    share of its words that neither the call nor an earlier result had, `echo` whether it only repeats the call, `gain`
    whether it made progress, `query` whether it asked in words, `target` whether it named something that no call had
    named before, `waits` whether it waits or polls for a status, and `waiting` whether this one was spent waiting, so
    that it is judged by time. `moved` is the outcome without its numbers, except for those that show progress.
    `timed_out` says that it was ended at a time limit, `refused` that Interlock did not let it run. `program` and
    `targets` are what it runs and on what; `failure` is the fingerprint of its message without numbers, `failures` and
    `passes` are the reported counts, `failing` the tests that it names. Calls of one `batch` were issued together,
    before any of their results: they count as one attempt.
    """

    step: int
    asked: int
    tool: str
    key: int
    words: set[bytes]
    effect: Effect
    query: bool
    paths: list[str]
    target: bool
    waits: Wait
    outcome: int
    failed: bool
    error: int
    message: str
    news: float
    echo: bool
    wrote: bool
    gain: bool
    call_id: str | None = None
    time: float = 0.0
    waiting: bool = False
    program: str = ""
    targets: tuple[str, ...] = ()
    failure: int = 0
    failures: int | None = None
    passes: int | None = None
    failing: tuple[int, ...] = ()
    place: str = ""
    batch: int = 0
    moved: int = 0
    timed_out: bool = False
    refused: bool = False
    effects: tuple[Effects, ...] = ()
    partly: bool = False

    @property
    def taught(self) -> bool:
        """Whether the result contained new information."""
        return not self.failed and not self.echo and self.news >= NEWS

    def near(self, other: CompletedCall) -> bool:
        """Whether two turns made nearly the same request; two scripts that share words are still two experiments."""
        if self.key == other.key:
            return True
        return self.effect != "run" and self.paths == other.paths and self.like(other)

    def like(self, other: CompletedCall) -> bool:
        """Whether two calls of the same tool share most of their words."""
        if self.tool != other.tool:
            return False
        long = len(self.words) > LONG or len(other.words) > LONG
        return alike(self.words, other.words) >= (ALIKE_LONG if long else ALIKE)


def read_call(step: Step, tool: Tool) -> PendingCall:
    """Parse a call. One without specific arguments is identified by the text before it."""
    request, reading = _request(step, tool), reading_of(tool)
    key, asked = request.key, request.words
    if request.bare and len(step.content) > ARGUMENTS // 10:
        thought = bounded(step.content, ARGUMENTS, 0)
        key, asked = fingerprint(thought), _few(words(thought))
    return PendingCall(  # positional: keyword arguments take six times as long
        key,
        asked,
        request.text,
        request.effect,
        request.query,
        request.paths,
        request.waits,
        False,
        request.program,
        request.targets,
        request.garble,
        request.effects,
        request.partly,
        step.index,
        tool.name,
        False,
        tool.call_id,
        0,
        step.time,
        _quoted(tool.arguments),
        asks_state(reading),
        limits_itself(reading),
    )


QUOTED = 12
"""Characters from which the text of a call is removed where a result repeats it."""


def _quoted(arguments: dict[str, object]) -> str:
    """The text of a call that results quote: a command, a query, a path."""
    texts = [value for value in arguments.values() if isinstance(value, str)]
    longest = max(texts, key=len, default="")
    return longest[:ARGUMENTS] if len(longest) >= QUOTED else ""


def _request(step: Step, tool: Tool) -> CallContent:
    """Parse a call's request; short ones are cached, since runs repeat them."""
    arguments = canonical(tool.arguments)
    if step.paths is not None or len(arguments) > ARGUMENTS:
        return _read_request(step, tool, arguments)
    known = _REQUESTS.get((tool.name, arguments))
    if known is None:
        if len(_REQUESTS) >= REMEMBERED:
            _REQUESTS.clear()
        known = _REQUESTS[tool.name, arguments] = _read_request(step, tool, arguments)
    return known


_REQUESTS: dict[tuple[str, bytes], CallContent] = {}


def _read_request(step: Step, tool: Tool, arguments: bytes) -> CallContent:
    asked = words(arguments[:ARGUMENTS])
    name = tool.name.encode("utf-8", "replace")
    reading = reading_of(tool)
    command, shell = command_of(tool), is_shell(reading)
    effect = read_effect(tool, reading)
    paths = read_paths(step, reading)
    runs = shell and effect in ("run", "write")
    program, targets = main_program(reading) if runs else (tool.name, tuple(paths[:TARGETS]))
    return CallContent(
        fingerprint(name + b"\0" + arguments),
        _few(asked),
        name + b"\0" + arguments[:ARGUMENTS],
        effect,
        effect == "read" and any(map(_asks, tool.arguments.values())),
        paths,
        read_waits(reading),
        len(asked) <= 2 and asked <= name_words(tool.name) | {b"raw"},
        program,
        targets,
        read_garble(tool, command if shell else None),
        reading.effects[:EFFECTS],
        _is_partial(tool, reading),
    )


_EDITS = frozenset((b"edit", b"replace", b"insert", b"patch"))


def _is_partial(tool: Tool, reading: CallReading) -> bool:
    """Whether a call changes a part of files, which are there already."""
    if any(write.how == "part" for write in reading.writes) or any(one.name == "sed" for one in reading.programs):
        return True
    return not _EDITS.isdisjoint(name_words(tool.name.replace("_", " "))) and tool.arguments.get("command") != "create"


def _few(asked: set[bytes]) -> set[bytes]:
    return set(sorted(asked)[:WORDS]) if len(asked) > WORDS else asked


def _asks(value: object) -> bool:
    """Whether an argument is a question in words, rather than a path, sum or pattern."""
    if isinstance(value, list):
        return len(value) > 1 and all(isinstance(one, str) for one in value)
    if not isinstance(value, str) or value.count(" ", 0, ARGUMENTS) < QUESTION:
        return False
    return len(_WORD.findall(value, 0, BEGINNING)) >= QUESTION


READ = 1200
"""Bytes of a result whose words are compared."""
RESULTS_REMEMBERED = 256
"""Parsed results cached: one result in three repeats a recent one."""


_SILENT = (b"no output", b"any output", b"without output", b"(no content)", b"no matches found", b"no files found")
"""Messages of tools for a call that printed or found nothing."""
_SHORT = 100
"""Maximum length of such a message."""


class CallResult(Struct, frozen=True):
    """The normalised text of a result, its fingerprints, its first words, and whether it is empty.

    `moved` is the fingerprint of its text without numbers, and of the numbers that show progress.
    """

    text: bytes
    mark: int
    moved: int
    words: set[bytes]
    empty: bool


def read_result(content: str) -> CallResult:
    """Parse a call's result."""
    return _read(bounded(content))


_COUNTED = re.compile(
    rb"(?<![\w./])\d+ ?(?:/|of|out of) ?\d+(?![\w/.])|(?<![\w.])\d+(?:\.\d+)? ?%"
    rb"|\b\d+ (?:failed|failing|failures?|errors?|problems?)\b"
)
"""The numbers that show progress: N of M, per cent, and counts of failures."""
_COUNTED_HINTS = (b"/", b" of ", b"%", b"fail", b"error", b"problem")


@lru_cache(RESULTS_REMEMBERED)
def _read(raw: bytes) -> CallResult:
    text = normalise(raw)
    moved = text.translate(None, b"0123456789")
    if has_any(text, _COUNTED_HINTS):
        moved += b" ".join(_COUNTED.findall(text))
    return CallResult(text, fingerprint(text), fingerprint(moved), words(text[:READ]), _is_empty(text))


def _is_empty(text: bytes) -> bool:
    if len(text) > _SHORT:
        return False
    said = text.strip().lower()
    return not said or has_any(said, _SILENT)
