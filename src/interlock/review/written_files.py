"""WrittenFiles: files written by earlier steps, so that running a file is judged by its contents."""

from __future__ import annotations

from collections.abc import Iterable

import re2
from msgspec import Struct
from msgspec.structs import replace

from .code_signs import acting_parts
from .judgement import SHORT, read_text
from .shell import KnownFile, Script, read_code
from .shell.build_files import may_be_loaded
from .shell.scope import BELOW, CHOICES, MAX_ASKED, find, stems_of
from .shell.servers import ENV_FILE

MAX_FILES = 128
"""Files kept; the oldest is dropped first."""

MAX_TEXT = 16_384
"""Characters of one file: of a longer one its beginning, its end, and what may act in between."""

EDGE = MAX_TEXT // 4


def shortened(text: str) -> str:
    """What is known of a file's text."""
    if len(text) <= MAX_TEXT:
        return text
    middle, _ = acting_parts(text[EDGE:-EDGE], MAX_TEXT - 2 * EDGE - 2)
    return f"{text[:EDGE]}\n{middle}\n{text[-EDGE:]}"


MAX_TOTAL = 131_072
"""Characters of all files together. They are stored with the run's state."""


MAX_SECRETS = 16
"""Files with a secret whose names every command is searched for."""


class Write(Struct, frozen=True):
    """A write to a file: its whole text, or (with `old`) a replacement for a part of it."""

    path: str
    text: str
    old: str | None = None


class WrittenFiles(Struct):
    """Files by path, without deleted and harmless ones.

    `files` is replaced, never modified in place, when files are added or removed.
    """

    files: dict[str, KnownFile] = {}
    size: int = 0
    secrets: list[str] = []
    loaded: list[str] = []
    cloned: list[str] = []

    def read_text(self, text: str, cwd: str | None) -> Script:
        """The commands of a text, with the contents of files that it runs."""
        if not self.files:
            return read_text(text, cwd)
        if self.cloned and any(
            place.rpartition("/")[2] in text or f"{cwd}/".startswith(f"{place}/") for place in self.cloned
        ):
            return read_text(text, cwd, self.files)
        known = _READINGS.get((text, cwd))
        if known is not None and self._finds(known[0]) == known[1]:
            return known[0]
        if not self.loaded and not names_one(text, stems_of(self.files)):
            script = read_text(text, cwd)
            if not self._knows(script, text):
                return script
        script = read_text(text, cwd, self.files)
        if len(text) <= SHORT:
            if len(_READINGS) >= MAX_READINGS:
                _READINGS.clear()
            _READINGS[text, cwd] = (script, self._finds(script))
        return script

    def read_code(self, code: str, language: str, cwd: str | None) -> Script:
        """The commands equivalent to a piece of code, with the contents of files that it runs."""
        return read_code(code, language, cwd, self.files)

    def learn(self, script: Script, step: int) -> None:
        """Record the files that a script writes."""
        for place, file in script.made:
            self.put(place, replace(file, step=step))

    def write(self, place: str, write: Write, step: int) -> None:
        """Record a tool's write; if the file's whole text is unknown, keep the parts that are known."""
        known = self.files.get(place)
        before = known.text if known is not None and known.text is not None else None
        if write.old is None:
            self.put(place, KnownFile(write.text, step=step))
        elif before is not None and write.old and write.old in before:
            self.put(place, KnownFile(before.replace(write.old, write.text, 1), step=step))
        elif before is None:
            self.put(place, KnownFile(write.text, step=step))
        elif write.text not in before:
            self.put(place, KnownFile(f"{before}\n{write.text}", step=step))

    def put(self, place: str, file: KnownFile) -> None:
        """Record one file if it can matter; drop the oldest beyond the limits."""
        self.files = dict(self.files)
        gone = self.files.pop(place, None)
        if gone is not None:
            self.size -= len(gone.text or "")
        for names in (self.secrets, self.loaded, self.cloned):
            if place in names:
                names.remove(place)
        text = file.text
        if text is not None:
            text = shortened(text)
            kept = text if may_matter(text) or "/.env" in f"/{place}" or ENV_FILE.search(place) else None
            if kept is not file.text:
                file = replace(file, text=kept)
        if file.text is None and not (file.fetched or file.program or file.secret or file.link or file.cloned):
            return
        self.files[place] = file
        self.size += len(file.text or "")
        if file.text is not None and may_be_loaded(place) and not place.startswith(CHOICES):
            self.loaded = [*self.loaded, place][-MAX_SECRETS:]
        if file.cloned:
            self.cloned = [*self.cloned, place][-MAX_SECRETS:]
        if file.secret:
            self.secrets = [*self.secrets, place][-MAX_SECRETS:]
        while len(self.files) > MAX_FILES or self.size > MAX_TOTAL:
            oldest = next(iter(self.files))
            self.size -= len(self.files.pop(oldest).text or "")

    def show(self, places: Iterable[str]) -> None:
        """Mark fetched files as read, because their contents were shown."""
        for place in places:
            known = self.files.get(place)
            if known is not None and known.fetched and not known.read:
                self.files[place] = replace(known, read=True)

    def _finds(self, script: Script) -> list[object]:
        """The current state of the files that a script refers to; a cached parse is valid while it is unchanged."""
        if self.loaded or len(script.asked) >= MAX_ASKED or any(place.endswith(BELOW) for place, _ in script.asked):
            return [*self.files.items()]
        return [find(self.files, place, path) for place, path in script.asked]

    def _knows(self, script: Script, text: str) -> bool:
        """Whether a file that the script refers to is known."""
        if not self.files or not (script.asked or self.secrets):
            return False
        if self.secrets and any(name.rpartition("/")[2] in text for name in self.secrets):
            return True
        for place, path in script.asked:
            if place.endswith(BELOW):
                folder = place.removesuffix(BELOW)
                if folder == "." or any(name.startswith(folder) for name in self.files):
                    return True
            elif find(self.files, place, path) is not None:
                return True
        return False


def names_one(text: str, stems: Iterable[str]) -> bool:
    for stem in stems:  # noqa: SIM110 (any() is slower)
        if stem in text:
            return True
    return False


MAX_LIST = 512
MAX_READINGS = 128
_READINGS: dict[tuple[str, str | None], tuple[Script, list[object]]] = {}
"""Cached parses of commands with the files that they ran: runs repeat commands more often than they change files."""

_ACTS = re2.Set.SearchSet()
_ACTS.Add(
    r"\brm\b|[rR]emove|unlink|delete|Delete|DELETE|system|exec|spawn|[pP]open|subprocess|drop|DROP|destroy|truncate|TRUNCATE"
    r"|UPDATE|\bdd\b|mkfs|shred|curl|wget|\bnc\b|socket|requests|urlopen|fetch|http|rmtree|rimraf|kill|git |sudo|chmod"
    r"|chown|\bmv\b|>|env|eval|base64|b64|/dev/|\bcp\b|find |ssh|scp|rsync|docker|kubectl|terraform|aws |psql|mysql"
    r"|shutil|getattr|import|require|source|include|fork|rm_|absent|\"scripts\"|backend|\bbuild\s*=|Path:"
    r"|\b(?:node|python3?|bash|sh|ruby|perl|php|make|npm) "
)
_ACTS.Compile()


def may_matter(text: str) -> bool:
    """Whether running a text can do anything that a rule is about: one quick search."""
    if text[:1] in ("/", "~") and len(text) <= MAX_LIST:
        return True  # a list of paths
    if "import" in text or ">" in text:
        return True  # as in most programs
    return bool(_ACTS.Match(text.encode("utf-8", "replace")))
