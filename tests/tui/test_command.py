"""The command itself."""

from __future__ import annotations

import subprocess
import sys


def test_without_a_terminal_it_says_what_to_use_instead() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "interlock", "top"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "interlock: top needs a terminal. Use interlock ps --json, or interlock web.\n"
