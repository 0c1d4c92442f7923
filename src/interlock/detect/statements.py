"""Statements: what the agent's own text promises and claims, and when it gives its answer."""

from __future__ import annotations

import re

import re2
from msgspec import Struct, field

from ..core import Step
from .effect import Effect, script_of
from .fingerprint import bounded
from .tuning import SENTENCE, SPACES

READ = 3000
"""Characters of a text that are read for promises, claims and repetitions."""
NAMES = 64
"""Names kept of promised and of called tools."""

_AGENT = re2.compile(r"\b([a-z][a-z0-9]*(?:_[a-z0-9]+)*_agent)\b")
_TOOL = re2.compile(r"\b([a-z][a-z0-9]*(?:_[a-z0-9]+)+)[`'\"]? tool\b")
_PROMISES = (("_agent", _AGENT), (" tool", _TOOL))
"""A cheap substring that promises of a tool contain, and the pattern that confirms it."""
_CALLED = re.compile(r"([a-z](?<!\w\w)[a-z0-9]*(?:_[a-z0-9]+)+)\s*\Z")
"""A name of several words just before a parenthesis."""
LONGEST = 80
"""Characters before a parenthesis that are searched for it."""
# A set tells whether there is a match, not where, at a fifth of the cost.
_RETRIEVE = re2.Set.SearchSet()
_RETRIEVE.Add(
    r"(?mi)^\s*(?:[-•*]|\d+[.)])\s[^\n]*\b"
    r"(?:search|retrieve|look up|locate|consult|gather|research|visit|query|fetch|use the [^\n]{0,40}reference)\b"
)
_RETRIEVE.Compile()
"""A list item of a plan to look something up."""
_ANSWERS = ("FINAL ANSWER", "final_answer(", "Final answer:", "Final Answer:")


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
            for hint, pattern in _PROMISES:
                if hint in text:
                    for name in pattern.findall(text):
                        self._note(self.promised, name, step.index)
        if step.tool is not None:
            return effect == "answer"
        if self.retrieval is None and _RETRIEVE.Match(text.encode("utf-8", "replace")):
            self.retrieval = step.index
        return effect == "answer" or any(mark in text for mark in _ANSWERS)

    def broken(self) -> list[str]:
        """The tools that were promised but never called."""
        return [name for name in self.promised if name not in self.called and name != "final_answer"]

    def _note(self, names: dict[str, int], name: str, step: int) -> None:
        if name not in names and len(names) < NAMES:
            names[name] = step


def called_names(script: str) -> list[str]:
    """The names of several words that a program calls, in order."""
    if "_" not in script or "(" not in script:
        return []
    # Split at parentheses: there are far fewer of them than words.
    before = (piece[-LONGEST:] for piece in script.split("(")[:-1])
    return [found[1] for text in before if "_" in text and (found := _CALLED.search(text))]


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
