"""What every command says things with: JSON on stdout for machines, one clear line on stderr for errors."""

from __future__ import annotations

import contextlib
import sys

import msgspec


def print_json(value: object) -> None:
    """One JSON document on one line of stdout."""
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
    sys.stdout.flush()


def say_error(line: str, who: str = "interlock") -> None:
    """One line on stderr; where nobody listens there either, nothing."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"{who}: {' '.join(line.split())}\n")
        sys.stderr.flush()
