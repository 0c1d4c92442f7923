"""CallReading: what one tool call does, read once before it runs and used by every later decision."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Kind = Literal["shell", "edit", "read", "web", "code", "answer", "plan", "agent", "other"]
"""What kind of tool a call is for."""
Verb = Literal["read", "write", "append", "delete", "move", "execute", "fetch", "send", "administer", "arrange"]
"""`arrange` sets something going for later: a schedule, a unit, a container, a background process."""
Zone = Literal["workspace", "temp", "caches", "home", "system", "host", "service", "container", "unknown"]
"""Where a target is. `host` is any other place on this machine; `unknown` starts with a value that only a run shows."""
Extent = Literal["one", "many", "all"]
"""A single thing; a folder or whatever a pattern or search selects; everything in the zone."""
CheckKind = Literal["tests", "lint", "types", "build", "endpoint", "push", "commit"]
How = Literal["whole", "append", "part"]


class Effect(Struct, frozen=True, gc=False, omit_defaults=True):
    """One thing that a call does to one target. `by` is the program or function that does it.

    `server` is the machine, database or account that it is done to, where the call names one. `file`: the target is the
    path of a file or folder, not the name of something else (`repository`, `table users`).
    """

    verb: Verb
    target: str
    zone: Zone
    extent: Extent = "one"
    by: str = ""
    server: str = ""
    file: bool = False


class Write(Struct, frozen=True, gc=False, omit_defaults=True):
    """Text that a call puts into a file: all of it, more at its end, or a part of it (`old` is what it replaces)."""

    path: str
    text: str
    how: How = "whole"
    old: str = ""


class Program(Struct, frozen=True, omit_defaults=True):
    """One program that a call runs, behind its wrappers.

    `via` are the wrappers, outermost first. `decides`: the script succeeds only if this program does. `into` are the
    programs that its output goes to. `start` and `end` are where it stands in the command; 0, 0 where it comes from
    a nested script. `executes`: it runs code that is not its own: a script, a build, a program that nobody knows.
    `command` is its name with its subcommand: `git commit`, `npm run build`; `targets` are the operands that look like
    files, and `script` the file that an interpreter runs. `act`: it installs a package by name, or deploys.
    """

    words: tuple[str, ...]
    via: tuple[str, ...] = ()
    cwd: str = ""
    decides: bool = False
    into: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    start: int = 0
    end: int = 0
    executes: bool = False
    command: str = ""
    targets: tuple[str, ...] = ()
    script: str = ""
    act: str = ""

    @property
    def name(self) -> str:
        return self.words[0]


class Check(Struct, frozen=True, omit_defaults=True):
    """A check that a call runs, what it is limited to, and whether the call's exit status is the check's.

    `text` is the program with its words; `into` are the programs that its output goes to.
    """

    kind: CheckKind
    runner: str
    targets: tuple[str, ...]
    decides: bool
    text: str = ""
    into: tuple[str, ...] = ()
    cwd: str = ""


class Wait(Struct, frozen=True, gc=False, omit_defaults=True):
    """The call sleeps for some seconds (0: not known), asks how something is that runs elsewhere, or limits itself."""

    how: Literal["sleeps", "polls", "limits"]
    seconds: float = 0.0


class Inline(Struct, frozen=True, gc=False, omit_defaults=True):
    """Code inside a call in a language that is not read."""

    language: str
    text: str


class CallReading(Struct, frozen=True, omit_defaults=True):
    """All that is known about a call before it runs. `key` is equal for calls that do the same.

    `concealed` says why a part cannot be read plainly; empty if everything could be. `unread` says that the text is
    not valid from some point on. `table` is the version of the table of programs that the reading was made with.
    """

    kind: Kind
    key: str
    programs: tuple[Program, ...] = ()
    effects: tuple[Effect, ...] = ()
    writes: tuple[Write, ...] = ()
    checks: tuple[Check, ...] = ()
    waits: tuple[Wait, ...] = ()
    inline: tuple[Inline, ...] = ()
    says: str = ""
    concealed: str = ""
    unread: str = ""

    @property
    def changes(self) -> bool:
        """Whether the call may change anything: what needs a checkpoint before it."""
        return bool(self.concealed or self.inline) or any(
            effect.verb not in ("read", "fetch") for effect in self.effects
        )

    @property
    def only_prints(self) -> bool:
        """Whether all that the call does is to print text of its own."""
        plain = bool(self.says) and "$" not in self.says
        return plain and not (self.effects or self.inline or self.concealed or self.waits)

    def changed(self) -> tuple[str, ...]:
        """The files on this machine that the call changes by name."""
        return tuple(dict.fromkeys(e.target for e in self.effects if e.file and e.verb in CHANGING))


CHANGING = ("write", "append", "delete", "move")
"""Verbs that change files."""
ELSEWHERE = ("service", "container")
"""Zones that are not on this machine's file system."""
