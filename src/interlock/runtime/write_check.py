"""WriteCheck: refuses a call before it runs that plainly writes where the run's sandbox allows no writing."""

from __future__ import annotations

import os
from pathlib import Path

from ..calls import read_call
from ..config import Config
from ..contain import limit_writes
from ..core import Review, Step

RULE = "contain.files"
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
        self.denied: dict[str, set[int]] = {}
        """The places that calls were refused for, with their steps."""

    def __call__(self, step: Step, found: Review) -> Review:
        """The verdict on a call, which was `found` without the limits."""
        tool = step.tool
        if not self._limited or tool is None or found.verdict == "block" or len(str(tool.arguments)) > LONGEST:
            return found
        reading = read_call(tool.name, tool.arguments, cwd=self._workspace, workspace=self._workspace)
        outside = next((path for target in reading.changed() if (path := self.outside(target))), "")
        if not outside:
            return found
        self.denied.setdefault(place_of(outside), set()).add(step.index)
        words = str(tool.arguments.get("command", ""))
        return Review("block", 0.5, 1.0, (RULE,), *explain_limit(outside, self._workspace, words), action=found.action)

    def outside(self, target: str) -> str:
        """The path of this target, if it is one that the run may not write; else empty."""
        path = str(Path(target.replace("$HOME", "~", 1) if target.startswith("$HOME") else target).expanduser())
        if not path.startswith("/") or "$" in path or path.startswith(("/dev/", "/proc/")):
            return ""
        if not self._open:
            limits = limit_writes((Path(self._workspace),), self._given)
            self._open = (*(f"{path}/" for path in limits.write), "/dev/", "/proc/")
        return "" if f"{os.path.realpath(path)}/".startswith(self._open) else path


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
