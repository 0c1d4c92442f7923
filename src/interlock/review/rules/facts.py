"""Facts: what rules test about one command, computed once and only when needed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Generic, TypeVar

from ..paths import zones
from ..shell.model import Command
from ..shell.servers import server_of
from ..sql import kinds_of
from ..web import CLIENTS, WebRequest, request_of
from ..wordlist import name_set

MAX_WORDS = 8
"""Leading operands that can be subcommands."""

HARMLESS_VERBS = name_set(
    """list ls get describe show view info create add set put update edit search find status help version login logout
    cat read test check validate diff plan download copy cp init new inspect print export open tail enable whoami
    count head preview"""
)
"""Verbs that determine the command's action: a later word is a name, not an action."""

READING_VERBS = name_set("list ls get describe show help version")
"""Verbs that are never the name of a group of subcommands."""

PARTS = re.compile(r"[-_:.]")

WHOLE_OPTIONS = name_set("pwsh powershell openssl keytool adb fastboot")
"""Programs whose options are words after a single dash, not letters."""


T = TypeVar("T")


class cached(Generic[T]):  # noqa: N801 (it is used as a function)
    """Like functools.cached_property, which takes a lock before Python 3.12: no two threads share a command."""

    def __init__(self, work_out: Callable[[Facts], T]) -> None:
        self._work_out, self._name = work_out, work_out.__name__

    def __get__(self, facts: Facts, _: object = None) -> T:
        found = facts.__dict__[self._name] = self._work_out(facts)
        return found


class Facts:
    """One command as rules see it."""

    def __init__(self, command: Command, workspace: str | None, valued: frozenset[str]) -> None:
        self.command = command
        self.workspace = workspace
        self.words: list[str] = []
        self.operands: list[str] = []
        self.options: set[str] = set()
        self.values: dict[str, str] = {}
        self._split(command.args, valued)

    def _split(self, args: tuple[str, ...], valued: frozenset[str]) -> None:
        leading = True
        at, count = 0, len(args)
        while at < count:
            word = args[at]
            at += 1
            if word == "--":
                self.options.add(word)
                self.operands += args[at:]
                return
            if (word[:1] == "-" and len(word) > 1) or (
                word[:1] == "/" and len(word) == 2 and self.command.program.islower() is False
            ):
                leading = leading and not self.words
                name, equals, value = word.partition("=")
                self.options.add(name)
                if equals:
                    self.values[name] = value
                elif name in valued and at < count:
                    self.values[name] = args[at]
                    at += 1
                elif word[1] != "-" and len(word) > 2 and self.command.program not in WHOLE_OPTIONS:
                    self.options.update(f"-{letter}" for letter in word[1:])
                    if word[:2] in valued:
                        self.values[word[:2]] = word[2:]
                elif at < count:
                    # Not known to take a value: store the next word in case a rule needs it.
                    self.values.setdefault(name, args[at])
            else:
                self.operands.append(word)
                if leading and len(self.words) < MAX_WORDS:
                    self.words.append(word)

    @cached
    def verbs(self) -> frozenset[str]:
        """The verbs among the subcommands, up to the first that determines the action."""
        found: set[str] = set()
        for at, word in enumerate(self.words):
            lower = word.lower()
            if lower in HARMLESS_VERBS and (at or lower in READING_VERBS):
                break
            parts = PARTS.split(lower)
            if parts[0] in HARMLESS_VERBS and len(parts) > 1:
                break
            found.update(parts)
        return frozenset(found)

    @cached
    def zones(self) -> frozenset[str]:
        """The zones of all operands together."""
        found: set[str] = set()
        for operand in self.operands:
            found |= zones(operand, self.command.cwd, self.workspace)
        return frozenset(found)

    @cached
    def moved_zones(self) -> frozenset[str]:
        """The zones of the folders before the last operand: names without an extension."""
        found: set[str] = set()
        into = self.values.get("-t") or self.values.get("--target-directory")
        target = into or (self.operands[-1] if self.operands else "")
        for operand in self.operands if into else self.operands[:-1]:
            parent, _, name = operand.rstrip("/").rpartition("/")
            if "." not in name.lstrip(".") and "{}" not in operand and not (parent and target.startswith(f"{parent}/")):
                found |= zones(operand, self.command.cwd, self.workspace)
        return frozenset(found)

    @cached
    def target_zones(self) -> frozenset[str]:
        """The zones of the last operand."""
        if not self.operands:
            return frozenset()
        return zones(self.operands[-1], self.command.cwd, self.workspace)

    @cached
    def text(self) -> str:
        """The code that the program runs, or the text on its standard input."""
        return self.command.code or self.command.stdin or ""

    @cached
    def sql(self) -> frozenset[str]:
        return kinds_of(self.text) if self.text else frozenset()

    @cached
    def server(self) -> str:
        """The kind of server that the command works on: `tests`, `development`, `here`; empty if it may be remote."""
        return server_of(self.command, self.workspace)

    @cached
    def request(self) -> WebRequest | None:
        return request_of(self.command) if self.command.program in CLIENTS else None
