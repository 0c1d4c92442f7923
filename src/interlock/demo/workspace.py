"""The workshop: a small project in a temporary folder, and shell commands that really run in it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from ..runtime import CheckRunner, Wall, no_wall

COMMAND_S = 60.0


class Output(Struct, frozen=True):
    """What a command printed, and how it ended."""

    text: str
    exit_code: int

    @property
    def failed(self) -> bool:
        return self.exit_code != 0


class Workshop:
    """The folder that the scripted agent works in; `wall` contains its commands."""

    def __init__(self, root: Path, files: Mapping[str, str], wall: Wall = no_wall) -> None:
        self.root = root
        self._runner = CheckRunner(str(root), COMMAND_S)
        self._runner.enclose = wall
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    def run(self, command: str) -> Output:
        """Run a shell command in the folder, for real."""
        (done,) = self._runner.run((command,))
        return Output(done.output or done.why, 1 if done.exit_status is None else done.exit_status)

    def files(self) -> dict[str, str]:
        """A hash over mode and content of every path; those of folders end with a slash."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            folder = path.is_dir() and not path.is_symlink()
            content = b"" if folder else path.read_bytes()
            name = f"{path.relative_to(self.root)}{'/' if folder else ''}"
            found[name] = hashlib.sha256(f"{path.lstat().st_mode:o}\0".encode() + content).hexdigest()
        return found


def count_files(paths: Iterable[str]) -> int:
    """How many of these are no folders."""
    return sum(not path.endswith("/") for path in paths)
