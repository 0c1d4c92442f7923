"""History: what one agent did so far, read once per step and shared by all detectors."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec import Struct, field

from ..core import Step, Tool
from .effect import Effect, read_effect, wrote
from .failure import read_failure
from .fingerprint import WORDS, alike, canonical, fingerprint, words
from .goal import GOAL
from .normalise import bounded, normalise
from .paths import read_paths
from .progress import NEWS, Knowledge, gained
from .speech import Speech

T = TypeVar("T")

TURNS = 24
"""Turns kept: further back nothing is compared."""
PROMPTS = 16
"""Prompts remembered: one that is repeated word for word is not new."""
PENDING = 32
"""Calls that wait for their result."""
ARGUMENTS = 2000
"""Characters of the arguments and of the thought before them that are read."""
ALIKE = 0.6
"""Calls that share this much of their words ask for nearly the same."""
ALIKE_LONG = 0.85
"""Long calls (code, patches) share most of their words anyway."""
LONG = 40
"""Words from which a call is long."""


class Call(Struct):
    """A call that was asked for."""

    step: int
    tool: str
    key: int
    words: set[bytes]
    text: bytes
    effect: Effect
    query: bool
    paths: list[str]
    target: bool
    call_id: str | None = None


class Turn(Struct):
    """A call together with what came of it.

    `outcome` is the fingerprint of the normalised result, `error` that of its message if it failed (else 0), `news`
    the share of its words that neither the call nor an earlier result had, `echo` whether it only repeats the call,
    `gain` whether it brought the run forward, `query` whether it asked in words, `target` whether it asked for
    something that no call had named before.
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
    outcome: int
    failed: bool
    error: int
    message: str
    news: float
    echo: bool
    wrote: bool
    gain: bool
    call_id: str | None = None

    @property
    def taught(self) -> bool:
        """Whether it brought new information."""
        return not self.failed and not self.echo and self.news >= NEWS

    def near(self, other: Turn) -> bool:
        """Whether two turns asked for nearly the same; two scripts that share words are still two experiments."""
        if self.key == other.key:
            return True
        if self.tool != other.tool or self.effect == "run" or self.paths != other.paths:
            return False
        long = len(self.words) > LONG or len(other.words) > LONG
        return alike(self.words, other.words) >= (ALIKE_LONG if long else ALIKE)


class Past(Struct):
    """The part of a history that is stored."""

    turns: list[Turn] = field(default_factory=list)
    pending: list[Call] = field(default_factory=list)
    knowledge: Knowledge = field(default_factory=Knowledge)
    progressed: bool = True
    speech: Speech = field(default_factory=Speech)
    informed: int = 0
    prompt: str = ""
    prompts: int = 0
    prompt_step: int = -1
    prompted: list[int] = field(default_factory=list)


class History:
    """The turns of one agent. `turn` is the one that the current step completed, if it did."""

    def __init__(self) -> None:
        self.past = Past()
        self.turn: Turn | None = None
        self.call: Call | None = None
        self.answers = False

    @property
    def turns(self) -> list[Turn]:
        """The last turns, newest last; the current one is among them."""
        return self.past.turns

    @property
    def progressed(self) -> bool:
        """Whether the last turn brought the run forward."""
        return self.past.progressed

    def take(self, step: Step) -> None:
        """Read one step; afterwards `call` and `turn` say what it began or completed."""
        self.turn = self.call = None
        self.answers = False
        if step.kind == "tool_call" and step.tool is not None:
            self.call = read_call(step, step.tool)
            self.call.target = self.past.knowledge.targets(self.call.words)
            push(self.past.pending, self.call, PENDING)
            self.answers = self.past.speech.take(step, self.call.effect)
        elif step.kind == "tool_result":
            call = self._answered(step)
            if call is not None:
                self.turn = self._complete(call, step)
                push(self.past.turns, self.turn, TURNS)
        elif step.role == "assistant" and step.kind == "message":
            self.answers = self.past.speech.take(step, None)
        elif step.role == "user" and step.kind == "message":
            self._prompted(step)

    def save(self) -> bytes:
        return msgspec.msgpack.encode(self.past)

    def restore(self, state: bytes) -> None:
        self.past = msgspec.msgpack.decode(state, type=Past)
        self.turn = self.call = None
        self.answers = False

    def _answered(self, step: Step) -> Call | None:
        """The call that a result belongs to: by its id, else the oldest that waits."""
        waiting = self.past.pending
        if step.tool is not None and step.tool.call_id is not None:
            for at, call in enumerate(waiting):
                if call.call_id == step.tool.call_id:
                    return waiting.pop(at)
            return None
        return waiting.pop(0) if waiting else None

    def _prompted(self, step: Step) -> None:
        """A person said something new: what is tried after it is tried for another reason."""
        mark = fingerprint(bounded(step.content))
        if mark not in self.past.prompted:
            self.past.prompts += 1
            self.past.prompt_step = step.index
            self.past.prompt = self.past.prompt or step.content[:GOAL]
            push(self.past.prompted, mark, PROMPTS)

    def _complete(self, call: Call, step: Step) -> Turn:
        past = self.past
        text = normalise(step.content)
        message = read_failure(step, text, call.text, call.effect == "run")
        failed = message is not None
        news, echo = past.knowledge.take(text, call.words)
        turn = Turn(
            step=step.index,
            asked=call.step,
            tool=call.tool,
            key=call.key,
            words=call.words,
            effect=call.effect,
            query=call.query,
            paths=call.paths,
            target=call.target,
            outcome=fingerprint(text),
            failed=failed,
            error=fingerprint(message) if message else call.key if failed else 0,
            message=(message or b"").decode("utf-8", "replace"),
            news=news,
            echo=echo,
            wrote=wrote(step, call.effect, failed),
            gain=False,
            call_id=call.call_id,
        )
        turn.gain = past.progressed = gained(turn, past.turns)
        past.informed += turn.taught and turn.effect != "answer"
        return turn


def read_call(step: Step, tool: Tool) -> Call:
    """What a call asks for. A call without arguments of its own is told apart by the text that goes with it."""
    arguments = canonical(tool.arguments)
    asked = words(arguments[:ARGUMENTS])
    name = tool.name.encode("utf-8", "replace")
    key = fingerprint(name + b"\0" + arguments)
    if len(asked) <= 2 and asked <= words(name) | {b"raw"} and len(step.content) > ARGUMENTS // 10:
        thought = bounded(step.content, ARGUMENTS, 0)
        asked, key = words(thought), fingerprint(thought)
    if len(asked) > WORDS:
        asked = set(sorted(asked)[:WORDS])
    effect = read_effect(tool)
    paths = read_paths(step, tool, effect)
    return Call(
        step=step.index,
        tool=tool.name,
        key=key,
        words=asked,
        text=name + b"\0" + arguments[:ARGUMENTS],
        effect=effect,
        query=effect == "read" and any(_asks(value) for value in tool.arguments.values()),
        paths=paths,
        target=False,
        call_id=tool.call_id,
    )


def _asks(value: object) -> bool:
    """Whether an argument is a question in words, and no path, number or pattern."""
    if isinstance(value, list):
        return len(value) > 1 and all(isinstance(one, str) for one in value)
    return isinstance(value, str) and value.count(" ", 0, ARGUMENTS) >= 3


def push(window: list[T], item: T, cap: int) -> None:
    """Append to a bounded window."""
    window.append(item)
    if len(window) > cap:
        del window[0]
