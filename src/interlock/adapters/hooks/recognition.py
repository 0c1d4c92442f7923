"""Which agent a command starts, so that its hooks can be wired in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .claude_wiring import NOT_A_SESSION as NO_CLAUDE_SESSION
from .claude_wiring import ClaudeWiring
from .codex_wiring import NOT_A_SESSION as NO_CODEX_SESSION
from .codex_wiring import CodexWiring
from .gemini_wiring import NOT_A_SESSION as NO_GEMINI_SESSION
from .gemini_wiring import GeminiWiring
from .opencode_wiring import NOT_A_SESSION as NO_OPENCODE_SESSION
from .opencode_wiring import OpencodeWiring
from .wiring import Wiring

RUNNERS = ("npx", "bunx", "pnpx")
"""Commands that run a package by its name."""

Maker = Callable[[tuple[str, ...], tuple[str, ...]], Wiring]


class _Known:
    def __init__(self, packages: tuple[str, ...], no_session: frozenset[str], make: Maker) -> None:
        self.packages, self.no_session, self.make = packages, no_session, make


KNOWN: dict[str, _Known] = {
    "claude": _Known(("@anthropic-ai/claude-code",), NO_CLAUDE_SESSION, ClaudeWiring),
    "codex": _Known(("@openai/codex",), NO_CODEX_SESSION, CodexWiring),
    "gemini": _Known(("@google/gemini-cli",), NO_GEMINI_SESSION, GeminiWiring),
    "opencode": _Known(("opencode-ai",), NO_OPENCODE_SESSION, OpencodeWiring),
}
"""The programs' names."""


def recognise(argv: tuple[str, ...]) -> Wiring | None:
    """The wiring for the agent that this command starts; None where it starts none that we know."""
    at = _program_at(argv)
    if at is None:
        return None
    name, position = at
    known = KNOWN[name]
    command, arguments = argv[: position + 1], argv[position + 1 :]
    if arguments and arguments[0] in known.no_session:
        return None
    return known.make(command, arguments)


def _program_at(argv: tuple[str, ...]) -> tuple[str, int] | None:
    """The client's name and where in the command it stands."""
    if not argv:
        return None
    first = Path(argv[0]).name.removesuffix(".exe")
    if first in KNOWN:
        return first, 0
    if first in RUNNERS:
        for position, word in enumerate(argv[1:], 1):
            if not word.startswith("-"):
                package = word if not word.rfind("@") > 0 else word[: word.rfind("@")]
                return next(((name, position) for name, one in KNOWN.items() if package in one.packages), None)
    if first == "env":
        for position, word in enumerate(argv[1:], 1):
            if "=" not in word and not word.startswith("-"):
                name = Path(word).name
                return (name, position) if name in KNOWN else None
    return None
