"""Statements: what the agent's own text promises and claims, and when it gives its answer."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from ..core import Step
from .effect import Effect, script_of
from .fingerprint import bounded, words
from .tuning import SENTENCE, SPACES

READ = 3000
"""Characters of a text that are read for promises, claims and repetitions."""
NAMES = 64
"""Names kept of promised and of called tools."""

_LOOKUPS = frozenset(b"search retrieve locate consult gather research visit query fetch".split())
_MARKS = ("-", "•", "*", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
"""How an item of a plan begins."""
_NAME = "abcdefghijklmnopqrstuvwxyz0123456789_"
_AROUND = "`'\"*.,:;()[]"
_ANSWERS = ("FINAL ANSWER", "final_answer(", "Final answer:", "Final Answer:")


class Unfounded(Struct, frozen=True):
    """A plan that was not carried out: its words for people, the names in it, and its steps."""

    promises: str
    names: list[str]
    steps: list[int]


class Statements(Struct):
    """Statements so far: promised tools, called names, and the step that planned to look something up."""

    promised: dict[str, int] = field(default_factory=dict)
    called: dict[str, int] = field(default_factory=dict)
    retrieval: int | None = None

    def record(self, step: Step, effect: Effect | None) -> bool:
        """Parse one step of the assistant; True if it gives the final answer."""
        text = step.content[:READ]
        if step.tool is not None:
            self._note(self.called, step.tool.name, step.index)
            if effect in ("run", "answer"):
                for name in called_names(script_of(step.tool)):
                    self._note(self.called, name, step.index)
        if text:
            for name in _promised(text) if "_agent" in text or " tool" in text else ():
                self._note(self.promised, name, step.index)
        if step.tool is not None:
            return effect == "answer"
        if self.retrieval is None and any(map(_looks_up, text.splitlines())):
            self.retrieval = step.index
        return effect == "answer" or any(mark in text for mark in _ANSWERS)

    def unfounded(self, informed: int) -> Unfounded | None:
        """The plan behind an answer, if the run was `informed` of nothing; None without a plan."""
        names = [name for name in self.promised if name not in self.called and name != "final_answer"]
        if informed or not (names or self.retrieval is not None):
            return None
        promises = f"it names {', '.join(names[:3])}" if names else "it says to look things up"
        steps = [self.promised[name] for name in names] or [self.retrieval or 0]
        return Unfounded(promises, names, steps[:3])

    def _note(self, names: dict[str, int], name: str, step: int) -> None:
        if name not in names and len(names) < NAMES:
            names[name] = step


def _promised(text: str) -> Iterator[str]:
    """The agents and tools that a text names: `search_agent`, `web_search tool`."""
    said = [word.strip(_AROUND) for word in text.split()]
    for word, following in zip(said, [*said[1:], ""], strict=True):
        if "_" in word and word.isidentifier() and word.islower() and (word.endswith("_agent") or following == "tool"):
            yield word


def _looks_up(line: str) -> bool:
    """Whether a line is an item of a plan to look something up."""
    item = line.lstrip()
    return item.startswith(_MARKS) and not _LOOKUPS.isdisjoint(words(item.encode("utf-8", "replace")))


def called_names(script: str) -> list[str]:
    """The names of several words that a program calls, in order."""
    if "_" not in script or "(" not in script:
        return []
    # Split at parentheses: there are far fewer of them than words.
    before = (piece.rstrip() for piece in script.split("(")[:-1])
    names = (piece[len(piece.rstrip(_NAME)) :] for piece in before)
    return [name for name in names if "_" in name.strip("_") and name[0].isalpha()]


def sentences(text: str) -> list[bytes]:
    """The long sentences of a text without its code, for detecting repetitions."""
    if len(text) < SENTENCE and text.isascii():
        return []
    raw = bounded(text, READ, 0).lower()
    if len(raw) < SENTENCE:
        return []
    if "```" in text:
        raw = b"\n".join(raw.split(b"```")[::2])
    return [
        part
        for part in raw.replace(b"\n", b". ").split(b". ")
        if len(part) >= SENTENCE
        and part.count(b" ") >= SPACES
        and part.find(b"=") < 0
        and part.find(b"[") < 0
        and part[:1].isalpha()
    ]
