"""TraceTests: what a recorded trace changed about tests and checking rules, from its edits alone."""

from __future__ import annotations

import re

from ..core import Step, Tool
from ..review import Write, kind_of
from .calls import read_call
from .honesty import compare_edits, is_checked_by
from .model import TestFact

FILES, TEXT, EDITS = 24, 60_000, 64
"""Files whose text is kept, characters of each, and edits that are compared."""

_NUMBERED = re.compile(r"^\s*\d+(?::|\t|\||→)\s?", re.MULTILINE)
_HIDES = re.compile(
    r"(?:sed\s+-\w*i\S*\s+['\"]/(error|fail\w*|warn\w*|fatal)[^/]*/d['\"]|grep\s+-\w*v\w*\s+['\"]?(error|fail\w*|"
    r"fatal)\b['\"]?)"
    r"\s+(\S+\.(?:log|out))",
    re.IGNORECASE,
)


def _is_edit(tool: Tool) -> bool:
    return kind_of(tool.name)[1] == "editor" and "create" not in str(tool.arguments.get("command"))


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
        self._hidden: list[TestFact] = []

    def observe(self, step: Step) -> None:
        """Process one step."""
        if step.origin != "agent":
            return
        if step.kind == "tool_result":
            self._read(step)
        elif step.kind == "tool_call" and step.tool is not None:
            call = read_call(step, step.tool)
            self._reading = (step.tool.call_id, call.reads) if call.reads and is_checked_by(call.reads) else None
            for write in call.writes:
                if is_checked_by(write.path):
                    self._write(write, edits=_is_edit(step.tool))
            hidden = _HIDES.search(call.script) if "sed" in call.script or "grep -v" in call.script else None
            if hidden is not None:
                what = f"lines with {hidden[1] or hidden[2]} removed from a log"
                self._hidden.append(TestFact(what, hidden[3] if hidden[3] else "", 0, "evidence"))
            if call.paths:
                self._changed.update(filter(None, call.paths))

    def facts(self) -> tuple[TestFact, ...]:
        """What the edits changed about tests and rules."""
        edits = compare_edits(self._edits, self._changed) if self._edits else ()
        return (*edits, *self._hidden[:EDITS])

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

    def _write(self, write: Write, *, edits: bool) -> None:
        known = self._known.get(write.path)
        if known is not None and write.path in self._shown:
            known = self._known[write.path] = _without_numbers(known)
            self._shown.discard(write.path)
        old = write.old
        if old:
            whole = known is not None and old in known
            before = known if whole and known is not None else old
            after = before.replace(old, write.text, 1) if whole else write.text
            if whole:
                self._remember(write.path, after)
        elif edits and known is None:
            before, after = "", write.text
        elif known is not None and not edits:
            before, after = known, write.text
            self._remember(write.path, after)
        else:
            self._remember(write.path, write.text)
            return
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
