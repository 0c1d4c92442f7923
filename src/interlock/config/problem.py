"""ConfigProblem: one thing that is wrong, or doubtful, in a configuration, and where."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ..core import BadInput


class ConfigProblem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is wrong with the key `path`, in which file and line or environment variable, and what to do."""

    what: str
    path: str = ""
    source: str = ""
    line: int | None = None
    todo: str = ""
    level: Literal["error", "warning"] = "error"

    @property
    def where(self) -> str:
        return f"{self.source}:{self.line}" if self.source and self.line else self.source

    def error(self) -> BadInput:
        """The same as an exception."""
        return BadInput(f"{self.path}: {self.what}" if self.path else self.what, where=self.where, todo=self.todo)

    def __str__(self) -> str:
        return str(self.error())
