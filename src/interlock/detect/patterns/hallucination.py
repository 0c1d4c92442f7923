"""Hallucination: what the agent states and the trace contradicts."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct, field

from ...core import Issue, Seen
from ..detector import Remembering, Setting
from ..history import Turn, push

_NO_SUCH_TOOL = re.compile(
    r"unknown (?:command|tool|function|action)|no such tool|tool [^\n]{0,60}(?:not found|does not exist|is not (?:a |avail|valid|recogni))"
    r"|(?:is|are) not (?:a|an) (?:known|valid|recogni[sz]ed) (?:command|tool|function)",
    re.IGNORECASE,
)


class Contradictions(Struct):
    """(step, what) of the last contradictions."""

    found: list[tuple[int, str]] = field(default_factory=list)
    answered: bool = False


class Hallucination(Remembering[Contradictions]):
    """Collects contradictions; two of them make an alarm."""

    type = "hallucination"

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, Contradictions())

    def observe(self, seen: Seen) -> Iterable[Issue]:
        if self.history.answers and not self.state.answered:
            return self._answer(seen.step.index)
        turn = self.history.turn
        return self._tool(turn) if turn is not None and turn.failed else ()

    def _answer(self, step: int) -> tuple[Issue, ...]:
        """An answer that rests on a look-up which never happened."""
        past = self.history.past
        speech = past.speech
        if past.informed:
            return ()
        broken = speech.broken()
        if not broken and speech.retrieval is None:
            return ()
        self.state.answered = True
        said = [speech.promised[name] for name in broken] or [speech.retrieval or 0]
        what = (
            f"{', '.join(broken[:3])} was never called" if broken else "nothing was looked up, though the plan says so"
        )
        return (
            self.issue(
                step,
                f"The answer rests on nothing that the run has seen: {what}. Look it up before answering.",
                key="answer",
                confidence=0.8 if broken else 0.6,
                evidence=[*said[:3], step],
                details={"promised": broken, "claim": "answer without evidence"},
            ),
        )

    def _tool(self, turn: Turn) -> tuple[Issue, ...]:
        """Tools that do not exist."""
        if not _NO_SUCH_TOOL.search(turn.message):
            return ()
        found = self.state.found
        push(found, (turn.asked, turn.tool), 8)
        if len(found) < self.tuning.contradictions:
            return ()
        names = list(dict.fromkeys(name for _, name in found))
        return (
            self.issue(
                turn.step,
                f"Tools were called that do not exist: {', '.join(names[-3:])}. Use only the tools that are offered.",
                key="tool",
                confidence=self.tuning.confidence(len(found)),
                evidence=[at for at, _ in found],
                details={"tools": names, "tool": turn.tool},
            ),
        )


detector = Hallucination
