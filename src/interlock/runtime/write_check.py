"""WriteCheck: refuses a call before it runs that plainly writes where the run's sandbox allows no writing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec.structs import replace

from ..calls import CHANGING, Effect, read_call
from ..config import Config
from ..contain import limit_writes
from ..core import Review, Step

RULE = "contain.files"
OVERWRITES = "fs.empty-outside"
TEMPORARY = ("/tmp", "/var/tmp")
LONGEST = 20_000
"""A longer call is left to the sandbox."""

INSTEAD = (
    ("npm", "npx, or npm install --prefix ./.tools"),
    (".local/lib", "a virtual environment in the project (python -m venv .venv)"),
    ("pip", "a virtual environment in the project (python -m venv .venv)"),
    (".gitconfig", "git config without --global, for this repository"),
    ("git config", "git config without --global, for this repository"),
    ("git worktree", "a worktree below .worktrees/ in the project"),
)
"""What works within the limits, by what the refused command contains."""


class WriteCheck:
    """For one run, whose `contain.files` says what it may write."""

    def __init__(self, config: Config, workspace: str | None) -> None:
        self._limited = config.contain.files == "workspace" and workspace is not None
        self._workspace, self._given = workspace or "", config.contain.write
        self._open: tuple[str, ...] = ()
        self._before = dict(_entries()) if self._limited else {}
        self.denied: dict[str, set[int]] = {}
        """The places that calls were refused for, with their steps."""

    def __call__(self, step: Step, found: Review) -> Review:
        """The verdict on a call, which was `found` without the limits."""
        tool = step.tool
        if not self._limited or tool is None or len(str(tool.arguments)) > LONGEST:
            return found
        if found.verdict == "block" and found.rules != (OVERWRITES,):
            return found
        reading = read_call(tool.name, tool.arguments, cwd=self._workspace, workspace=self._workspace)
        if shared := next((path for effect in reading.effects for path in self._of_others(effect)), ""):
            words = f"{shared} was there before this run: others may need it."
            return Review("block", 0.5, 1.0, (RULE,), words, "delete only what this run has made", action=found.action)
        changed = [effect for effect in reading.effects if effect.file and effect.verb in CHANGING]
        if found.verdict == "block" and changed and all(effect.zone in ("caches", "temp") for effect in changed):
            # Whether the folder of a cache is there does not matter.
            return replace(found, verdict="warn")
        if found.verdict == "block":
            return found
        outside = next((path for target in reading.changed() if (path := self.outside(target))), "")
        if not outside:
            return found
        self.denied.setdefault(place_of(outside), set()).add(step.index)
        words = str(tool.arguments.get("command", ""))
        return Review("block", 0.5, 1.0, (RULE,), *explain_limit(outside, self._workspace, words), action=found.action)

    def _of_others(self, effect: Effect) -> Iterator[str]:
        """What a call deletes from temporary folders that is older than the run's first call."""
        if effect.verb in ("delete", "move") and effect.file and effect.zone == "temp":
            with suppress(OSError):
                named = (path for path, _ in self._before.items() if fnmatchcase(path, effect.target))
                yield from (path for path in named if os.lstat(path).st_mtime_ns == self._before[path])

    def outside(self, target: str) -> str:
        """The path of this target, if it is one that the run may not write; else empty."""
        path = str(Path(target.replace("$HOME", "~", 1) if target.startswith("$HOME") else target).expanduser())
        if not path.startswith("/") or "$" in path or path.startswith(("/dev/", "/proc/")):
            return ""
        if not self._open:
            limits = limit_writes((Path(self._workspace),), self._given)
            self._open = (*(f"{path}/" for path in limits.write), "/dev/", "/proc/")
        return "" if f"{os.path.realpath(path)}/".startswith(self._open) else path


def _entries() -> Iterator[tuple[str, int]]:
    """What is in temporary folders, with its time."""
    for folder in TEMPORARY:
        with suppress(OSError), os.scandir(folder) as found:
            yield from ((one.path, one.stat(follow_symlinks=False).st_mtime_ns) for one in found)


def explain_limit(path: str, workspace: str, command: str) -> tuple[str, str]:
    """Why a path is refused and what to do instead, for the agent."""
    instead = next((what for word, what in INSTEAD if word in f"{command} {path}"), "work inside it")
    kept = f"Interlock keeps writes inside {_short(workspace)}; {_short(path)} is outside."
    return (
        kept,
        f"{instead}. If the task needs it, say so: a person allows it for the next run with --write {place_of(path)}.",
    )


def place_of(path: str) -> str:
    """What a person would allow: the folder of a file, unless that is a whole home."""
    folder = Path(path) if Path(path).is_dir() else Path(path).parent
    wide = folder == Path.home() or len(folder.parts) < 3
    return _short(path if wide else str(folder))


def _short(path: str) -> str:
    home = str(Path.home())
    return f"~{path[len(home) :]}" if path == home or path.startswith(f"{home}/") else path
