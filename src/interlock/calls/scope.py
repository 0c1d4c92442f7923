"""Scope: what a shell knows at one point of a script, and what goes through its pipes."""

from __future__ import annotations

from typing import NamedTuple

from .findings import UNKNOWN_FOLDER
from .model import Zone
from .syntax import Node

ELSEWHERE, SOURCED = "(on)", "(sourced)"
"""What a program's environment says about where it runs, and which files the shell has sourced."""
DEFAULTS = {"HOME": ("~",), "IFS": (" ",)}
MAX_TEXT = 1_048_576
"""Characters of a script that are read."""
MAX_FLOW = 65_536
"""Characters kept of what goes through a pipe."""
MAX_WORDS = 256
MAX_VALUE = 4_096
"""Characters kept of a variable's value."""
MAX_VARIABLES = 200


class Flow(NamedTuple):
    """What goes through a pipe: its text if that is known, the programs that made it, the paths that it lists."""

    text: str | None = None
    producers: tuple[str, ...] = ()
    items: tuple[str, ...] = ()


EMPTY = Flow()
SILENCE = Flow("")
"""What a program prints that prints nothing."""


class Scope:
    """What a shell knows at one point of a script; `elsewhere` is the zone of another machine that it runs on."""

    __slots__ = ("cwd", "elsewhere", "environment", "fail_fast", "functions", "pipefail", "variables", "via")

    def __init__(self, cwd: str) -> None:
        self.cwd = cwd
        self.via: tuple[str, ...] = ()
        self.elsewhere: Zone | None = None
        self.fail_fast = self.pipefail = False
        self.environment: dict[str, str] = {}
        self.variables: dict[str, tuple[str, ...]] = {}
        self.functions: dict[str, Node] = {}

    def copy(self) -> Scope:
        other = Scope(self.cwd)
        other.via, other.elsewhere = self.via, self.elsewhere
        other.fail_fast, other.pipefail = self.fail_fast, self.pipefail
        other.environment = dict(self.environment)
        other.variables, other.functions = dict(self.variables), dict(self.functions)
        return other

    def set(self, name: str, values: tuple[str, ...]) -> None:
        if name in self.variables or len(self.variables) < MAX_VARIABLES:
            self.variables[name] = tuple(value[:MAX_VALUE] for value in values[:MAX_WORDS])

    def value(self, name: str) -> tuple[str, ...] | None:
        known = self.variables.get(name)
        if known is None and name == "PWD" and self.cwd not in ("", UNKNOWN_FOLDER):
            return (self.cwd,)
        return DEFAULTS.get(name) if known is None else known
