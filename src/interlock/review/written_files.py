"""WrittenFiles: texts that earlier calls wrote, so that running a file is judged by what is in it."""

from __future__ import annotations

from msgspec import Struct

from ..calls import CallReading

MAX_FILES = 64
"""Files kept; the oldest is dropped first."""
MAX_TEXT = 131_072
"""Characters of one file; a longer one is not kept."""
MAX_TOTAL = 262_144
"""Characters of all files together. They are stored with the run's state."""


class WrittenFiles(Struct):
    """Texts by path."""

    files: dict[str, str] = {}

    def text_of(self, path: str) -> str | None:
        """The text of a file, if an earlier call wrote all of it."""
        return self.files.get(path)

    def is_named(self, arguments: dict[str, object]) -> bool:
        """Whether a call names one of the files."""
        if not self.files:
            return False
        texts = [value for value in arguments.values() if isinstance(value, str)]
        texts += [str(each) for value in arguments.values() if isinstance(value, list) for each in value]
        return any(path.rpartition("/")[2] in text for text in texts for path in self.files)

    def learn(self, reading: CallReading) -> None:
        """Record what a call writes."""
        for write in reading.writes:
            before = self.files.pop(write.path, "")
            text = write.text
            if write.how == "append":
                text = before + text
            elif write.how == "part":
                text = before.replace(write.old, write.text, 1) if write.old else ""
            if text and len(text) <= MAX_TEXT:
                self.files[write.path] = text
        while len(self.files) > MAX_FILES or sum(map(len, self.files.values())) > MAX_TOTAL:
            del self.files[next(iter(self.files))]
