"""Sessions for chaos: code-like text without end, the same for the same seed."""

from __future__ import annotations

import random

from ..session import FileOperation, Operation, OperationType, ReplaySession
from ..text import split_lines

FILES = ("main.py", "notes.md", "data.yaml")
WORDS = (
    "alpha", "beta", "gamma", "delta", "value", "index", "total", "names", "items", "count", "result", "größe", "état",
)  # fmt: skip


CHUNK_CHARS = 150
"""An editor that describes itself takes a hundred characters a second: a chunk is a second or two."""


def make_session(number: int, chance: random.Random, before: dict[str, str], lines: int = 24) -> ReplaySession:
    """A session that empties every file and writes it again."""
    files = []
    for path in FILES:
        old = len(split_lines(before.get(path, "")))
        clear = [Operation(OperationType.DELETE, 1, old)] if old else []
        text = "".join(_line(chance) for _ in range(lines))
        files.append(FileOperation(path, [*clear, Operation(OperationType.INSERT, 1, None, text)]))
    return ReplaySession(f"chaos-{number}", files, replay_config={"chunk_chars": CHUNK_CHARS})


def _line(chance: random.Random) -> str:
    one, two, three = (chance.choice(WORDS) for _ in range(3))
    shapes = (
        f"def {one}_{two}({three}, *args):\n",
        f"\treturn {{'{one}': [{two} ** {chance.randrange(99)}, \"{three}\"]}}\n",
        f"# {one} {two} {three}: {chance.random():.6f}\n",
        f"{one} = ({two}[{chance.randrange(9)}] + {three}) // {chance.randrange(1, 99)}\n",
        f"    if {one} <= {two} and not {three}: pass\n",
        "\n",
    )
    return chance.choice(shapes)
