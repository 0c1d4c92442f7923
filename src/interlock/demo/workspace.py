"""The workshop: a small project in a temporary folder, and shell commands that really run in it."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from msgspec import Struct

FILES = {
    "src/parser.py": "def parse(text):\n    return text.split(',')\n",
    "src/report.py": "def report(rows):\n    return '\\n'.join(map(str, rows))\n",
    "tests/test_parser.py": "from src.parser import parse\n\n\ndef test_empty():\n    assert parse('') == []\n",
    "data/customers.csv": "id,name\n1,Ada\n2,Grace\n",
    ".env": "REGION=eu-west-1\n",
}


class Output(Struct, frozen=True):
    """What a command printed, and how it ended."""

    text: str
    exit_code: int

    @property
    def failed(self) -> bool:
        return self.exit_code != 0


class Workshop:
    """The folder that the scripted agent works in."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name, content in FILES.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        (root / "data" / "empty").mkdir()
        (root / "src" / "parser.py").chmod(0o755)

    def run(self, command: str) -> Output:
        """Run a shell command in the folder, for real."""
        done = subprocess.run(
            ["/bin/sh", "-c", command], cwd=self.root, capture_output=True, text=True, timeout=20, check=False
        )
        return Output((done.stdout + done.stderr).strip(), done.returncode)

    def fingerprint(self) -> str:
        """One hash over every path, type, mode and content."""
        digest = hashlib.sha256()
        for path in sorted(self.root.rglob("*")):
            info = path.lstat()
            digest.update(f"{path.relative_to(self.root)} {info.st_mode:o}\0".encode())
            if path.is_file():
                digest.update(path.read_bytes())
        return digest.hexdigest()[:12]

    def count(self) -> int:
        """How many files there are."""
        return sum(path.is_file() for path in self.root.rglob("*"))
