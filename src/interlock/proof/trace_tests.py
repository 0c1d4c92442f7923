"""TraceTests: what a recorded trace changed about tests and checking rules, from its edits alone."""

from __future__ import annotations

import re

from ..calls import CallReading, Write, read_call
from ..core import Step, Tool
from .honesty import compare_edits, is_checked_by
from .model import TestFact

FILES, TEXT, EDITS = 24, 60_000, 64
"""Files whose text is kept, characters of each, and edits that are compared."""

_NUMBERED = re.compile(r"^\s*\d+(?::|\t|\||→)\s?", re.MULTILINE)


def _without_numbers(text: str) -> str:
    """A text without the line numbers that a tool may have added."""
    plain, numbered = _NUMBERED.subn("", text)
    return plain if numbered * 2 > text.count("\n") else text


class TraceTests:
    """Follows the texts of test files and rules through one trace."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._shown: set[str] = set()
        self._edits: list[tuple[str, str | None, str | None]] = []
        self._reading: tuple[str | None, str] | None = None
        self._changed: set[str] = set()

    def observe(self, step: Step) -> None:
        """Process one step."""
        if step.origin != "agent":
            return
        if step.kind == "tool_result":
            self._read(step)
        elif step.kind == "tool_call" and step.tool is not None:
            self._call(step.tool, read_call(step.tool.name, step.tool.arguments))

    def _call(self, tool: Tool, call: CallReading) -> None:
        shown = _shown_by(call)
        self._reading = (tool.call_id, shown) if shown and is_checked_by(shown) else None
        for write in call.writes:
            if is_checked_by(write.path):
                self._write(write)
        texts = {write.path for write in call.writes}
        for path in call.changed():
            self._changed.add(path)
            if path not in texts:
                # Changed in a way that the call does not show: the text is not known any more.
                self._known.pop(path, None)

    def facts(self) -> tuple[TestFact, ...]:
        """What the edits changed about tests and rules."""
        return compare_edits(self._edits, self._changed) if self._edits else ()

    def _read(self, step: Step) -> None:
        reading, self._reading = self._reading, None
        if reading is None or step.error is True or reading[1] in self._known:
            return
        path, text = reading[1], step.content
        if len(text) > TEXT:
            self._remember(path, _without_numbers(text))
        else:
            # Few of the files that are read are edited: line numbers are removed only then.
            self._remember(path, text)
            self._shown.add(path)

    def _write(self, write: Write) -> None:
        known = self._known.get(write.path)
        if known is not None and write.path in self._shown:
            known = self._known[write.path] = _without_numbers(known)
            self._shown.discard(write.path)
        if write.how == "whole":
            self._remember(write.path, write.text)
            if known is None:
                return
            before, after = known, write.text
        elif write.how == "append":
            before, after = known or "", (known or "") + write.text
            if known is not None:
                self._remember(write.path, after)
        elif known is not None and write.old and write.old in known:
            before, after = known, known.replace(write.old, write.text, 1)
            self._remember(write.path, after)
        else:
            before, after = write.old, write.text
        self._edits.append((write.path, before, after))
        del self._edits[:-EDITS]

    def _remember(self, path: str, text: str) -> None:
        self._known.pop(path, None)
        self._shown.discard(path)
        if len(text) <= TEXT:
            self._known[path] = text
        while len(self._known) > FILES:
            oldest = next(iter(self._known))
            del self._known[oldest]
            self._shown.discard(oldest)


def _shown_by(call: CallReading) -> str:
    """The file whose whole text a call shows: the only one that it reads, with nothing else done."""
    reads = [effect.target for effect in call.effects]
    whole = call.kind == "read" or (len(call.programs) == 1 and call.programs[0].words[:-1] == ("cat",))
    return reads[0] if whole and len(reads) == 1 and call.effects[0].verb == "read" else ""
