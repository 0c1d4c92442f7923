"""Which agent a command starts, so that its hooks can be wired in."""

from __future__ import annotations

from pathlib import Path

from .clients import HookClient, hook_clients
from .wiring import Wiring

RUNNERS = ("npx", "bunx", "pnpx")
"""Commands that run a package by its name."""


def recognise(argv: tuple[str, ...]) -> Wiring | None:
    """The wiring for the agent that this command starts; None where it starts none that we know."""
    at = _program_at(argv)
    if at is None:
        return None
    client, position = at
    command, arguments = argv[: position + 1], argv[position + 1 :]
    if arguments and arguments[0] in client.not_a_session:
        return None
    return client.wiring(command, arguments)


def _program_at(argv: tuple[str, ...]) -> tuple[HookClient, int] | None:
    """The client and where in the command its program is."""
    if not argv:
        return None
    known = {client.program: client for client in hook_clients()}
    first = Path(argv[0]).name.removesuffix(".exe")
    if first in known:
        return known[first], 0
    if first in RUNNERS:
        for position, word in enumerate(argv[1:], 1):
            if not word.startswith("-"):
                package = word if not word.rfind("@") > 0 else word[: word.rfind("@")]
                return next(((one, position) for one in known.values() if package in one.packages), None)
    if first == "env":
        for position, word in enumerate(argv[1:], 1):
            if "=" not in word and not word.startswith("-"):
                found = known.get(Path(word).name)
                return (found, position) if found is not None else None
    return None
