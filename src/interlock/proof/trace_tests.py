"""TraceTests: what a recorded trace changed about tests and checking rules, of which it holds both versions."""

from __future__ import annotations

from ..calls import Write, read_call
from ..core import Step
from .honesty import compare_tests, is_checked_by
from .model import TestFact

FILES, TEXT = 24, 60_000
"""Files whose text is kept, and characters of each."""


class TraceTests:
    """Follows the test files and rules that a trace wrote as a whole: only of these both versions are known."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._now: dict[str, str] = {}

    def observe(self, step: Step) -> None:
        """Process one step."""
        if step.origin != "agent" or step.kind != "tool_call" or step.tool is None:
            return
        call = read_call(step.tool.name, step.tool.arguments)
        written = {write.path for write in call.writes}
        for write in call.writes:
            if is_checked_by(write.path):
                self._write(write)
        for path in call.changed():
            if path not in written:
                # Changed in a way that the call does not show: the text is not known any more.
                self._forget(path)

    def facts(self) -> tuple[TestFact, ...]:
        """What the edits changed about tests and rules."""
        return compare_tests((path, before, self._now[path]) for path, before in self._first.items())

    def _write(self, write: Write) -> None:
        known = self._now.get(write.path)
        if write.how == "whole":
            text = write.text
        elif known is not None and write.how == "append":
            text = known + write.text
        elif known is not None and write.old and write.old in known:
            text = known.replace(write.old, write.text, 1)
        else:
            self._forget(write.path)
            return
        if len(text) > TEXT or (known is None and len(self._first) >= FILES):
            self._forget(write.path)
            return
        self._first.setdefault(write.path, text)
        self._now[write.path] = text

    def _forget(self, path: str) -> None:
        self._first.pop(path, None)
        self._now.pop(path, None)
