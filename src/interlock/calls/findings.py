"""Findings: what has been read of a call so far, and how a target becomes an effect."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..core import late_pattern
from .model import ELSEWHERE, CallReading, Check, Effect, Extent, Inline, Program, Verb, Wait, Write, Zone
from .zones import DEVICES, extent_of, is_address, resolve, zone_of

MAX_EFFECTS = 10_000
MAX_TARGET = 1_000
MAX_WRITES = 64

ReadFile = Callable[[str], str | None]
"""The text of a file that a call runs, by its path; None if it is not there or is not text."""


class Findings:
    """Collects what a call does; equal effects are kept once."""

    def __init__(self, workspace: str, read_file: ReadFile | None = None) -> None:
        self.workspace = workspace
        self.programs: list[Program] = []
        self.effects: dict[Effect, None] = {}
        self.writes: list[Write] = []
        self.checks: list[Check] = []
        self.waits: list[Wait] = []
        self.inline: list[Inline] = []
        self.says: list[str] = []
        self.hidden: dict[str, None] = {}
        self.unread = ""
        self.fetched: set[str] = set()
        self._read_file = read_file
        self._texts: dict[str, str | None] = {}

    def take(self, reading: CallReading) -> None:
        """All of another reading."""
        self.programs += reading.programs
        self.effects.update(dict.fromkeys(reading.effects))
        self.writes += reading.writes
        self.inline += reading.inline
        for why in filter(None, reading.concealed.split("; ")):
            self.conceal(why)

    def conceal(self, why: str) -> None:
        self.hidden[why] = None

    def add(
        self, verb: Verb, target: str, zone: Zone, extent: Extent, by: str, server: str = "", file: bool = False
    ) -> None:
        """An effect on something that has no path."""
        if len(self.effects) < MAX_EFFECTS:
            self.effects[Effect(verb, target[:MAX_TARGET], zone, extent, by, server, file)] = None
        else:
            self.conceal("it does too much at once")

    def touch(
        self, verb: Verb, path: str, cwd: str, by: str, *, many: bool = False, elsewhere: Zone | None = None
    ) -> None:
        """An effect on a file, a folder or an address."""
        if not path or (path in DEVICES and verb != "delete") or path.startswith("/dev/fd/"):
            return
        target = path if is_address(path) else resolve(path, cwd)
        zone = elsewhere or zone_of(target, self.workspace)
        if cwd == UNKNOWN_FOLDER and zone == "workspace" and target[:1] != "/":
            zone = "unknown"
        extent = extent_of(target, zone, self.workspace, many)
        if zone == "workspace" and verb == "read" and extent == "all":
            extent = "many"
        self.add(verb, target, zone, extent, by, "", zone not in ELSEWHERE)

    def write(self, write: Write, by: str) -> None:
        """Text that is put into a file."""
        self.touch("append" if write.how == "append" else "write", write.path, "", by)
        if write.path in DEVICES:
            return
        if len(self.writes) < MAX_WRITES:
            self.writes.append(write)
        if write.how == "whole":
            self._texts[write.path] = write.text

    def patch(self, text: str, cwd: str, by: str) -> None:
        """The files of a patch in the form of `apply_patch`."""
        matches = list(PATCHED.finditer(text))
        for at, match in enumerate(matches):
            path = resolve((match[2] or match[3]).strip(), cwd)
            if match[1] == "Delete":
                self.touch("delete", path, "", by)
                continue
            end = matches[at + 1].start() if at + 1 < len(matches) else len(text)
            added = "".join(f"{line[1:]}\n" for line in text[match.end() : end].split("\n") if line[:1] == "+")
            self.write(Write(path, added, "whole" if match[1] == "Add" else "part"), by)

    def text_of(self, path: str) -> str | None:
        """The text of a file: what the call wrote into it, or what the file reader gives."""
        if path not in self._texts:
            self._texts[path] = self._read_file(path) if self._read_file is not None else None
        return self._texts[path]

    def hold(self, path: str, text: str | None) -> None:
        """Remember the text of a file without an effect."""
        self._texts[path] = text


PATCHED = late_pattern(r"^\*\*\* (Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE)
UNKNOWN_FOLDER = "$(cd)"
"""The working directory after a `cd` to a place that only a run shows."""
