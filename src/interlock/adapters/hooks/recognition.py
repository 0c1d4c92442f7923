"""Recognises the agent that a command starts, without loading clients for other commands."""

from __future__ import annotations

import re
import shlex

from ...core import HOOK_CLIENTS
from .wiring import RUNNERS, Wiring, program_of

FIRST = frozenset(("claude", "codex", "gemini", "opencode", "env", *RUNNERS))
"""The first words of commands that may start a built-in client. Those of plug-ins are not known here."""

SHELLS = ("sh", "bash", "dash", "zsh")
PLAIN = re.compile(r"[\w\s./:=@,'\"+-]*")
"""A command line in which a shell expands nothing; whatever is quoted, it is read as shlex reads it."""

AGENTS = frozenset(("aider", "aider-chat", "goose", "qwen", "cursor-agent", "crush", "amp", "copilot",
                    "mini", "openhands"))  # fmt: skip
"""Agents without hooks of ours."""


def without_shell(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The command that `sh -c` runs, if the shell would do nothing else; else the same command."""
    if program_of(argv) not in SHELLS or len(argv) != 3 or argv[1] != "-c" or PLAIN.fullmatch(argv[2]) is None:
        return argv
    try:
        words = tuple(shlex.split(argv[2]))
    except ValueError:
        return argv
    words = words[1:] if words[:1] == ("exec",) else words
    return words if words and "\n" not in argv[2].strip() and "=" not in words[0] else argv


def names_agent(argv: tuple[str, ...]) -> bool:
    """Whether a command starts a known agent without hooks, also by a runner or `env`."""
    argv = without_shell(argv)
    if program_of(argv) in (*RUNNERS, "env"):
        argv = tuple(word for word in argv[1:] if not word.startswith("-") and "=" not in word)[:1]
    return bool(argv) and program_of(argv).partition("@")[0] in AGENTS


def recognise(argv: tuple[str, ...]) -> Wiring | None:
    """The wiring for the agent that this command starts; None if it starts no known agent."""
    argv = without_shell(argv) if argv else argv
    if not argv or (program_of(argv) not in FIRST and not HOOK_CLIENTS.has_any()):
        return None
    from .clients import wiring_for

    return wiring_for(argv)
