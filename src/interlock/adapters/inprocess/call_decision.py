"""CallDecision: the decision about a call. ModelTurn: what to do before the next request to the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from ...core import Decision, Message, Step


class CallDecision(Struct, frozen=True):
    """Whether a call runs, with which arguments, and what the model is told if it does not."""

    step: Step
    decision: Decision
    arguments: dict[str, object]

    @property
    def runs(self) -> bool:
        return self.decision.action in ("proceed", "rewrite")

    @property
    def stopped(self) -> bool:
        return self.decision.action == "stop"

    @property
    def words(self) -> str:
        """The text that replaces the result of a call that does not run."""
        what = "Stopped" if self.stopped else "Refused"
        return f"{what} by Interlock: {self.decision.reason}"


class CallOutcome(Struct, frozen=True):
    """A tool's result as supervision sees it; `error` is None if the framework does not report it."""

    content: str
    error: bool | None = None
    exit_code: int | None = None


def read_outcome(result: object) -> CallOutcome:
    """The outcome of a tool's return value: text, or a mapping with an exit status."""
    if isinstance(result, Mapping):
        status = next((result[key] for key in ("returncode", "exit_code") if key in result), None)
        if isinstance(status, int):
            said = next((result[key] for key in ("output", "stdout", "content") if key in result), result)
            return CallOutcome(str(said), status != 0, status)
    return CallOutcome(result if isinstance(result, str) else str(result))


def read_error(error: BaseException) -> CallOutcome:
    """The outcome of a tool that raised."""
    return CallOutcome(f"{type(error).__name__}: {error}", True)


class ModelTurn(Struct, frozen=True):
    """`messages` are added to the conversation, after `keep` items of it if it is rolled back; `model` answers, if set.

    `stopped` is why there is no further turn.
    """

    messages: tuple[Message, ...] = ()
    keep: int | None = None
    model: str | None = None
    stopped: str | None = None

    @property
    def text(self) -> str:
        """All messages as one text."""
        return "\n\n".join(message.content for message in self.messages)


class Marks:
    """The length of the conversation at each request, by step, for rollbacks."""

    def __init__(self) -> None:
        self._marks: list[tuple[int, int]] = []

    def note(self, step: int, length: int) -> None:
        """Note the length of the conversation at a request."""
        self._marks.append((step, length))

    def at(self, step: int) -> int:
        """The length of the conversation that led to a step; drops later marks."""
        while len(self._marks) > 1 and self._marks[-1][0] > step:
            self._marks.pop()
        return self._marks[0][1] if not self._marks[1:] else self._marks[-1][1]

    def since(self, step: int) -> int | None:
        """The length of the first conversation that included everything before a step; drops later marks."""
        at = next((at for at, (mark, _) in enumerate(self._marks) if mark >= step), None)
        if at is None:
            return None
        del self._marks[at + 1 :]
        return self._marks[at][1]


T = TypeVar("T")


class HistoryEdits(Generic[T]):
    """Edits repeated in every later request at the same position, so that the model sees one conversation.

    Positions count items of the framework's own history, which only grows.
    """

    def __init__(self) -> None:
        self._added: list[tuple[int, T]] = []
        self._gone: list[tuple[int, int]] = []

    def add(self, at: int, item: T) -> None:
        """Insert an item after the first `at` items of the history."""
        self._added.append((at, item))

    def cut(self, keep: int, length: int) -> None:
        """Omit everything between the first `keep` items and the current end, which is at `length`."""
        self._added = [(at, item) for at, item in self._added if at <= keep]
        self._gone.append((keep, length))

    def apply(self, history: Sequence[T]) -> list[T]:
        """The history that the model should see."""
        shown: list[T] = []
        for index in range(len(history) + 1):
            shown += [item for at, item in self._added if at == index]
            if index < len(history) and not any(begin <= index < end for begin, end in self._gone):
                shown.append(history[index])
        return shown
