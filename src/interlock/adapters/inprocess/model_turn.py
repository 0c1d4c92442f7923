"""ModelTurn: what has to happen before the model is asked again."""

from __future__ import annotations

from msgspec import Struct

from ...core import Message


class ModelTurn(Struct, frozen=True):
    """`messages` go into the conversation, after `keep` items of it where it goes back; `model` answers, if named.

    `stopped` says why there is no further turn.
    """

    messages: tuple[Message, ...] = ()
    keep: int | None = None
    model: str | None = None
    stopped: str | None = None

    @property
    def text(self) -> str:
        """All messages as one."""
        return "\n\n".join(message.content for message in self.messages)


class Marks:
    """How long the conversation was when the model was asked, by step: where it can go back to."""

    def __init__(self) -> None:
        self._marks: list[tuple[int, int]] = []

    def note(self, step: int, length: int) -> None:
        """The model is about to be asked with this much."""
        self._marks.append((step, length))

    def at(self, step: int) -> int:
        """The length of the conversation that led to a step; later marks are gone then."""
        while len(self._marks) > 1 and self._marks[-1][0] > step:
            self._marks.pop()
        return self._marks[0][1] if not self._marks[1:] else self._marks[-1][1]

    def since(self, step: int) -> int | None:
        """The length of the first conversation that had everything before a step; later marks are gone then."""
        at = next((at for at, (mark, _) in enumerate(self._marks) if mark >= step), None)
        if at is None:
            return None
        del self._marks[at + 1 :]
        return self._marks[at][1]
