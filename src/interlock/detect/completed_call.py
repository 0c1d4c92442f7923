"""CompletedCall: a call together with its result, CallResult, read into what can be compared."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from ..core import Step, Tool
from .check_commands import TARGETS, read_command
from .effect import Effect, command_of, is_shell, read_effect, read_paths
from .fingerprint import WORDS, alike, bounded, canonical, fingerprint, has_any, name_words, normalise, words
from .garbled import Garble, read_garble
from .tuning import ALIKE, ALIKE_LONG, LONG, NEWS
from .waiting_calls import Wait, read_waits

ARGUMENTS = 2000
"""Characters of the arguments and of the thought before them that are read."""

REMEMBERED = 1024
"""Calls whose reading is remembered: of those that runs make, one in three came shortly before."""

QUESTION = 3
"""Words from which a text asks something; a sum or a list of numbers has none."""
BEGINNING = 200
"""Characters of an argument where they have to be."""

_WORD = re.compile(r"[^\W\d_]{2,}")


class CallContent(Struct, kw_only=True):
    """What a call asks for, by its name and arguments alone; `bare` where they say nothing of their own."""

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


class PendingCall(CallContent, kw_only=True):
    """A call that was asked for."""

    step: int
    tool: str
    target: bool
    call_id: str | None = None
    batch: int = 0


class CompletedCall(Struct):
    """A call together with the result.

    `outcome` is the fingerprint of the normalised result, `error` that of its message if it failed (else 0), `news`
    the share of its words that neither the call nor an earlier result had, `echo` whether it only repeats the call,
    `gain` whether it brought the run forward, `query` whether it asked in words, `target` whether it asked for
    something that no call had named before, `waits` whether it is made to wait or to ask for a status, and `waiting`
    whether time passed since it was last asked. `program` and `targets` say what it runs and on what; `failure` is the
    fingerprint of its message without numbers, `failures` and `passes` how many it reports, `failing` the tests that it
    names. Calls of one `batch` were made at once, before any of their results was there: together they are one try.
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

    @property
    def taught(self) -> bool:
        """Whether it brought new information."""
        return not self.failed and not self.echo and self.news >= NEWS

    def near(self, other: CompletedCall) -> bool:
        """Whether two turns asked for nearly the same; two scripts that share words are still two experiments."""
        if self.key == other.key:
            return True
        return self.effect != "run" and self.paths == other.paths and self.like(other)

    def like(self, other: CompletedCall) -> bool:
        """Whether two calls of a tool share most of their words."""
        if self.tool != other.tool:
            return False
        long = len(self.words) > LONG or len(other.words) > LONG
        return alike(self.words, other.words) >= (ALIKE_LONG if long else ALIKE)


def read_call(step: Step, tool: Tool) -> PendingCall:
    """What a call asks for. A call without arguments of its own is distinguished by the text that goes with it."""
    request = _request(step, tool)
    key, asked = request.key, request.words
    if request.bare and len(step.content) > ARGUMENTS // 10:
        thought = bounded(step.content, ARGUMENTS, 0)
        key, asked = fingerprint(thought), _few(words(thought))
    return PendingCall(
        step=step.index,
        tool=tool.name,
        key=key,
        words=asked,
        text=request.text,
        effect=request.effect,
        query=request.query,
        paths=request.paths,
        target=False,
        waits=request.waits,
        call_id=tool.call_id,
        program=request.program,
        targets=request.targets,
        garble=request.garble,
    )


def _request(step: Step, tool: Tool) -> CallContent:
    """The request of a call; runs make the same short calls again and again."""
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
    command, shell = command_of(tool), is_shell(tool.name)
    effect = read_effect(tool, command)
    paths = read_paths(step, tool, effect, command)
    runs = shell and effect in ("run", "write")
    program, targets = read_command(command) if runs else (tool.name, tuple(paths[:TARGETS]))
    return CallContent(
        key=fingerprint(name + b"\0" + arguments),
        words=_few(asked),
        text=name + b"\0" + arguments[:ARGUMENTS],
        effect=effect,
        query=effect == "read" and any(_asks(value) for value in tool.arguments.values()),
        paths=paths,
        bare=len(asked) <= 2 and asked <= name_words(tool.name) | {b"raw"},
        program=program,
        targets=targets,
        waits=read_waits(tool, effect, program, command if runs else None),
        garble=read_garble(tool, command if shell else None),
    )


def _few(asked: set[bytes]) -> set[bytes]:
    return set(sorted(asked)[:WORDS]) if len(asked) > WORDS else asked


def _asks(value: object) -> bool:
    """Whether an argument is a question in words, and no path, sum or pattern."""
    if isinstance(value, list):
        return len(value) > 1 and all(isinstance(one, str) for one in value)
    if not isinstance(value, str) or value.count(" ", 0, ARGUMENTS) < QUESTION:
        return False
    return len(_WORD.findall(value, 0, BEGINNING)) >= QUESTION


READ = 1200
"""Bytes of a result whose words are read."""
RESULTS_REMEMBERED = 256
"""Results whose reading is remembered: of those that runs get, one in three came shortly before."""


_SILENT = (b"no output", b"any output", b"without output", b"(no content)", b"no matches found", b"no files found")
"""How tools say that a call printed nothing, or found nothing."""
_SHORT = 100
"""Characters of such a remark at most."""


class CallResult(Struct, frozen=True):
    """The normalised text of a result, its fingerprint, the words that it begins with, and whether it says nothing."""

    text: bytes
    mark: int
    words: set[bytes]
    empty: bool


def read_result(content: str) -> CallResult:
    """Read what a call brought."""
    return _read(bounded(content))


@lru_cache(RESULTS_REMEMBERED)
def _read(raw: bytes) -> CallResult:
    text = normalise(raw)
    return CallResult(text, fingerprint(text), words(text[:READ]), _is_empty(text))


def _is_empty(text: bytes) -> bool:
    if len(text) > _SHORT:
        return False
    said = text.strip().lower()
    return not said or has_any(said, _SILENT)
