"""How tests call the command: as a user does, in a process of its own, with a state of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def interlock(*arguments: str, home: Path, stdin: bytes | str = b"", cwd: Path | None = None, **env: str):
    """Run the command; standard output and error as text."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [sys.executable, "-m", "interlock", *arguments],
        input=data,
        capture_output=True,
        cwd=cwd or home,
        timeout=120,
        check=False,
        env={
            **os.environ,
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "COLUMNS": "100",
            **env,
        },
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    )


def lines_of(output: str) -> list[Any]:
    """Every line of JSON output, decoded."""
    return [json.loads(line) for line in output.splitlines()]
