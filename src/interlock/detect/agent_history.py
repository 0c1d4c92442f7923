"""AgentHistory: one agent's steps, parsed once for all detectors; RunActivity: the work of all agents."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec import Struct, field

from ..core import ASSUMED_SECONDS, Step, from_msgpack, read_time_out
from .completed_call import CompletedCall, PendingCall, read_call, read_result
from .effect import wrote
from .failure import TIMED_OUT, mask_numbers, read_failure, read_report
from .fingerprint import bounded, fingerprint
from .goal import GOAL
from .progress import Knowledge, gained
from .statements import Statements
from .waiting_calls import LONG_SECONDS, Polls

T = TypeVar("T")

TURNS = 24
"""Turns kept; older ones are not compared."""
PROMPTS = 16
"""Prompts remembered: one repeated word for word is not new."""
EMPTY = 4
"""Empty results in a row after which naming something new no longer counts as progress."""
PENDING = 32
"""Pending calls kept."""


class HistoryState(Struct):
    """The stored part of a history."""

    turns: list[CompletedCall] = field(default_factory=list)
    pending: list[PendingCall] = field(default_factory=list)
    knowledge: Knowledge = field(default_factory=Knowledge)
    progressed: bool = True
    speech: Statements = field(default_factory=Statements)
    informed: int = 0
    prompt: str = ""
    prompts: int = 0
    prompt_step: int = -1
    prompted: list[int] = field(default_factory=list)
    now: float = 0.0
    batch: int = 0
    answered: bool = False
    empty: int = 0
    polls: Polls = field(default_factory=Polls)


class AgentHistory:
    """The turns of one agent. `turn` is the turn that the current step completed, if any.

    The `ledger` belongs to the run and is stored with it, not with the history.
    """

    def __init__(self, ledger: RunActivity | None = None) -> None:
        self.ledger = ledger or RunActivity()
        self.past = HistoryState()
        self.turn: CompletedCall | None = None
        self.call: PendingCall | None = None
        self.answers = False
        self.instructed = False

    @property
    def turns(self) -> list[CompletedCall]:
        """The last turns, newest last, including the current one."""
        return self.past.turns

    @property
    def progressed(self) -> bool:
        """Whether the last turn made progress."""
        return self.past.progressed

    def record(self, step: Step, *, refused: bool = False) -> None:
        """Parse one step; afterwards `call` and `turn` are what it began or completed."""
        past = self.past
        self.turn = self.call = None
        self.answers = self.instructed = False
        past.now = step.time if step.time is not None else past.now + ASSUMED_SECONDS
        if step.kind == "tool_call" and step.tool is not None:
            call = self.call = read_call(step, step.tool)
            call.target = past.knowledge.targets(call.words)
            past.batch += past.answered
            past.answered = False
            call.batch = past.batch
            if call.call_id is not None and past.pending:
                # Issued again under the same id: the result belongs to the newest.
                past.pending = [one for one in past.pending if one.call_id != call.call_id]
            push(past.pending, call, PENDING)
            self.answers = past.speech.record(step, call.effect)
        elif step.kind == "tool_result":
            asked = self._answered(step)
            past.answered = True
            if asked is not None:
                self.turn = self._complete(asked, step, refused)
                push(past.turns, self.turn, TURNS)
        elif step.role == "assistant" and step.kind == "message":
            self.answers = past.speech.record(step, None)
        elif step.role == "user" and step.kind == "message":
            self._prompted(step)

    def save(self) -> bytes:
        return msgspec.msgpack.encode(self.past)

    def restore(self, state: bytes) -> None:
        self.past = from_msgpack(state, HistoryState)
        self.turn = self.call = None
        self.answers = False

    def _answered(self, step: Step) -> PendingCall | None:
        """The call that a result belongs to: by its id, otherwise the oldest pending call."""
        waiting = self.past.pending
        if step.tool is not None and step.tool.call_id is not None:
            for at, call in enumerate(waiting):
                if call.call_id == step.tool.call_id:
                    return waiting.pop(at)
            return None
        return waiting.pop(0) if waiting else None

    def _prompted(self, step: Step) -> None:
        """A person gave a new instruction: attempts after it do not count as repetitions of those before."""
        mark = fingerprint(bounded(step.content))
        if mark not in self.past.prompted:
            self.past.prompts += 1
            self.instructed = True
            self.past.prompt_step = step.index
            self.past.prompt = self.past.prompt or step.content[:GOAL]
            push(self.past.prompted, mark, PROMPTS)

    def _complete(self, call: PendingCall, step: Step, refused: bool) -> CompletedCall:
        past = self.past
        result = read_result(step.content)
        # One that ends at a limit of its own has only waited.
        limited = not refused and read_time_out(step.exit_code, step.content, call.quoted)
        timed_out = limited and not call.limited
        message = TIMED_OUT if timed_out else read_failure(step, result.text, call.text, call.effect == "run")
        failed = message is not None and not refused and (timed_out or not limited)
        news, echo = past.knowledge.learn(result.words, call.words)
        turn = CompletedCall(  # positional: keyword arguments take six times as long
            step.index,
            call.step,
            call.tool,
            call.key,
            call.words,
            call.effect,
            call.query,
            call.paths,
            call.target,
            call.waits,
            result.mark + (step.exit_code or 0),
            failed,
            call.key if failed else 0,
            "",
            news,
            echo,
            not refused and wrote(step, call.effect, failed),
            False,
            call.call_id,
            past.now,
            False,
            call.program,
            call.targets,
            call.key if failed else 0,
        )
        turn.batch, turn.moved, turn.timed_out, turn.refused = call.batch, result.moved, timed_out, refused
        turn.effects, turn.partly = call.effects, call.partly
        if refused:
            return turn
        turn.waiting = limited or self._waited(turn, call, step)
        if message and failed:
            turn.error, turn.failure = fingerprint(message), fingerprint(mask_numbers(message))
            turn.message = message.decode("utf-8", "replace")
            turn.place, turn.failures, turn.passes, turn.failing = read_report(bounded(step.content))
        # A batch over many files prints nothing where all is well; so does what acts elsewhere.
        acts = turn.paths or any(effect.verb != "read" for effect in turn.effects)
        silent = result.empty and not turn.wrote and not (turn.target and acts)
        past.empty = past.empty + 1 if silent else 0
        turn.gain = past.progressed = past.empty < EMPTY and gained(turn, past.turns, past.knowledge)
        past.informed += turn.taught and turn.effect != "answer"
        self.ledger.record(turn)
        return turn

    def _waited(self, turn: CompletedCall, call: PendingCall, step: Step) -> bool:
        """Whether a call was spent waiting: it took long and did not fail by itself, or it asks for a state."""
        if call.waits == "sleeps":
            return not turn.failed or call.asks
        now = self.past.now
        asked = call.time if call.time is not None else now
        seconds = step.duration_ms / 1000 if step.duration_ms is not None else now - asked
        if seconds >= LONG_SECONDS and not call.waits and (call.effect == "run" or not call.paths):
            return not turn.failed
        return call.waits == "asks" and not self.past.polls.busy(turn.key + turn.moved, asked, now)


def push(window: list[T], item: T, cap: int) -> None:
    """Append to a bounded window, dropping the oldest item."""
    window.append(item)
    if len(window) > cap:
        del window[0]


FILES = 256
"""Written files remembered."""


class RunActivity(Struct):
    """Files written and files only read.

    `created` are paths that the run made itself, `looked` those that it read, as far as readings name them.
    """

    written: list[str] = field(default_factory=list)
    read: dict[str, None] = field(default_factory=dict)
    created: list[str] = field(default_factory=list)
    looked: list[str] = field(default_factory=list)

    def record(self, turn: CompletedCall) -> None:
        """Record one turn."""
        if turn.wrote:
            for path in turn.paths:
                name = file_name(path)
                if name not in self.written:
                    self.written.append(name)
            del self.written[:-FILES]
        elif not turn.failed:
            for path in turn.paths:
                self.read[file_name(path)] = None
            while len(self.read) > FILES:
                del self.read[next(iter(self.read))]


def file_name(path: str) -> str:
    """The last component of a path."""
    return path.rstrip("/").rpartition("/")[2]
