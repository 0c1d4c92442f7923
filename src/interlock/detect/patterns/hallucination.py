"""Hallucination: statements of the agent that the trace contradicts."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct, field

from ...core import Issue, Seen, Step, late_pattern
from ...proof import claimed_files, claims_pass, claims_ran
from ..agent_history import file_name, push
from ..completed_call import CompletedCall
from ..detector import Setting, StatefulDetector
from ..fingerprint import name_words, words

FOUND = 8
"""Contradictions kept."""
MISSING = 64
"""Missing modules remembered."""

_NO_SUCH_TOOL = late_pattern(
    r"unknown (?:command|tool|function|action)|no such tool"
    r"|tool [^\n]{0,60}(?:not found|does not exist|is not (?:a |avail|valid|recogni))"
    r"|(?:is|are) not (?:a|an) (?:known|valid|recogni[sz]ed) (?:command|tool|function)",
    re.IGNORECASE,
)
_TOOL_HINTS = ("unknown", "tool", "not a")
"""Substrings of such messages; most messages contain none, and this check is cheaper than matching."""
_NO_SUCH_FILE = ("no such file", "can't open")
_NO_SUCH = ("does not exist", "not found", "cannot find")
_OF_FILES = ("file", "path", "director", "~")
"""Substrings of such messages about files; the path itself is masked."""
_NO_COMMAND = ("command not found", ": not found", "no module named", "modulenotfound")
"""Messages about a missing program or module, as opposed to a file."""
_LOOKS = frozenset((b"ls", b"stat", b"find", b"test", b"exists", b"list", b"glob"))
"""Checking whether a file exists is not an assumption that it does."""
_NO_SUCH_NAME = late_pattern(r"(?:No module named|cannot import name) ['\"]([\w.]+)['\"]")


class Contradictions(Struct):
    """Contradictions as (step, sentence); missing modules; whether an unfounded answer was reported."""

    found: list[tuple[int, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    answered: bool = False


class Hallucination(StatefulDetector[Contradictions]):
    """Collects contradictions; two raise an alarm. An answer without a basis counts as two."""

    type = "hallucination"
    kinds = frozenset(("tool_call", "message", "tool_result"))

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, Contradictions())

    def observe(self, seen: Seen) -> Iterable[Issue]:
        step, turn = seen.step, self.history.turn
        if turn is not None:
            return self._tell(step.index) if self._did(turn) else ()
        if step.role != "assistant":
            return ()
        if self.history.answers and not self.state.answered:
            unfounded = self._answer(step.index)
            if unfounded:
                return unfounded
        return self._tell(step.index) if step.content and self._said(step, seen.absent) else ()

    def _did(self, turn: CompletedCall) -> bool:
        """Whether a result contradicts an assumption of the call."""
        state = self.state
        if not turn.failed or turn.failing:
            return False  # a failing test is about the code, not about the agent's assumptions
        message = turn.message.lower()
        if _has(message, _TOOL_HINTS) and _NO_SUCH_TOOL.search(turn.message):
            return self._note(turn.asked, f"there is no tool {turn.tool}")
        name = _NO_SUCH_NAME.search(turn.message) if "name" in message else None
        if name is not None:
            # Missing once is how one finds out; using it again is a hallucination. Rerunning a script while its import
            # is being fixed is not new, unless the call itself names the module again.
            known, what = name[1] in state.missing, f"there is no {name[1]}"
            push(state.missing, name[1], MISSING)
            new = words(name[1].encode()) <= turn.words or all(what != said for _, said in state.found)
            return known and new and self._note(turn.asked, what)
        if turn.paths and turn.effect != "write" and _no_file(message) and not _looks(turn):
            unheard = [path for path in turn.paths if not self._heard(path)]
            return bool(unheard) and self._note(turn.asked, f"there is no {unheard[0]}, and nothing mentioned it")
        return False

    def _said(self, step: Step, absent: tuple[str, ...] | None) -> bool:
        """Whether the run contradicts a statement of the agent; if so, note it."""
        done = self.history.ledger
        if done.failing is not None and claims_pass(step.content):
            return self._note(step.index, f"tests are said to pass, but they failed at step {done.failing}")
        if not done.ran and claims_ran(step.content):
            return self._note(step.index, "tests are said to have been run, but nothing was run")
        for path in claimed_files(step.content):
            there = absent is not None and path not in absent
            if not there and file_name(path) not in done.written and not self._pending(path):
                return self._note(step.index, f"{path} is said to have been written, but it was not")
        return False

    def _answer(self, step: int) -> tuple[Issue, ...]:
        """An answer that relies on a lookup which never happened."""
        past = self.history.past
        speech = past.speech
        broken = speech.broken()
        if past.informed or not (broken or speech.retrieval is not None):
            return ()
        self.state.answered = True
        said = [speech.promised[name] for name in broken] or [speech.retrieval or 0]
        what = (
            f"{', '.join(broken[:3])} was never called"
            if broken
            else "the plan says to look it up, but nothing was looked up"
        )
        return (
            self.issue(
                step,
                f"The answer is not based on anything that the run has seen: {what}. Look it up before answering.",
                key="answer",
                confidence=0.8 if broken else 0.6,
                evidence=[*said[:3], step],
                details={"promised": broken, "claim": "answer without evidence"},
            ),
        )

    def _tell(self, step: int) -> tuple[Issue, ...]:
        found = self.state.found
        if len(found) < self.tuning.contradictions:
            return ()
        return (
            self.issue(
                step,
                f"Your words do not match what happened: {'; '.join(dict.fromkeys(what for _, what in found[-2:]))}. "
                "Check before you continue, and say what is really there.",
                key="contradiction",
                severity=self.tuning.severity(len(found)) or "medium",
                confidence=self.tuning.confidence(len(found) + 1),
                evidence=[at for at, _ in found],
                details={"contradictions": [what for _, what in found]},
            ),
        )

    def _note(self, step: int, what: str) -> bool:
        push(self.state.found, (step, what), FOUND)
        return True

    def _heard(self, path: str) -> bool:
        """Whether the task or an earlier result mentioned the file, or the run wrote it.

        The failure itself often repeats the path, so words learned in this turn do not count.
        """
        name = file_name(path)
        stem = name.lstrip(".").partition(".")[0].lower()
        past, known = self.history.past, self.history.past.knowledge.known
        now = past.knowledge.turns
        return (
            all(known.get(word, now) < now for word in words(stem.encode("utf-8", "replace")))
            or stem in self.context.original_prompt.lower()
            or stem in past.prompt.lower()
            or name in self.history.ledger.written
        )

    def _pending(self, path: str) -> bool:
        """Whether a pending call, including one in the same message, names this file."""
        return any(file_name(path) in map(file_name, call.paths) for call in self.history.past.pending)


def _no_file(message: str) -> bool:
    if _has(message, _NO_COMMAND):
        return False
    return _has(message, _NO_SUCH_FILE) or (_has(message, _NO_SUCH) and _has(message, _OF_FILES))


def _looks(turn: CompletedCall) -> bool:
    return not _LOOKS.isdisjoint(turn.words) or not _LOOKS.isdisjoint(name_words(turn.tool))


def _has(message: str, words: Iterable[str]) -> bool:
    for word in words:  # noqa: SIM110 (any() is slower)
        if word in message:
            return True
    return False


detector = Hallucination
