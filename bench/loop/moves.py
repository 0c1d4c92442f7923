"""Moves: the calls that scripted agents are made of."""

from __future__ import annotations

from dataclasses import replace

from .outputs import pytest_passed, source
from .script import Turn, World


def bash(command: str, output: str = "", *, failed: bool = False, code: int | None = None, seconds: float = 0) -> Turn:
    """A shell command with what it prints."""
    exit_code = code if code is not None else (1 if failed else 0)
    return Turn("Bash", {"command": command}, output, failed, exit_code, seconds=seconds)


def edit(world: World, name: str, number: int, said: str = "") -> Turn:
    """An edit that leaves the file unlike it ever was."""
    old, new = f"value = compute({number})", f"value = compute({number + 1}, mode={number * 7 % 97})"
    text = f"# attempt {number}\n{new}\n"
    arguments: dict[str, object] = {"file_path": world.path(name), "old_string": old, "new_string": new}
    output = f"The file {world.path(name)} has been updated."
    return Turn("Edit", arguments, output, writes={name: text}, said=said)


def read(world: World, name: str, output: str = "", *, offset: int = 0, limit: int = 0) -> Turn:
    """A look into a file."""
    arguments: dict[str, object] = {"file_path": world.path(name)}
    if limit:
        arguments |= {"offset": offset, "limit": limit}
    return Turn("Read", arguments, output or source(name.rpartition("/")[2].partition(".")[0], 12))


def say(text: str) -> Turn:
    """Words without a call."""
    return Turn(said=text)


def stuck(turn: Turn, check: str | None = None, *, since: bool = True) -> Turn:
    """A turn that brings nothing; with `check` it is one in which the problem shows again."""
    return replace(turn, stuck=since, check=check, occurs=check is not None)


def clean(turn: Turn, check: str, *, solved: bool = True) -> Turn:
    """A turn that runs the check without the problem."""
    return replace(turn, check=check, solved=solved)


def begin(world: World) -> list[Turn]:
    """How every agent starts: it looks around, changes something and sees the tests that it has pass."""
    turns = [
        bash("git status --short && ls", "README.md\nsrc\ntests\npyproject.toml"),
        read(world, "README.md", "# Shop\n\nCart, prices, discounts and delivery.\n"),
        read(world, "src/cart.py"),
        read(world, "src/prices.py"),
        edit(world, "src/prices.py", 1),
        bash("python -m pytest -q tests/test_prices.py", pytest_passed(9)),
    ]
    return [replace(turn, cost_usd=0.0002) for turn in turns]
