"""Codex for one run: `-c` overrides that add our hooks to whatever its configuration files say.

Codex runs only hooks whose hash the user has agreed to. Ours are agreed to by the same overrides, each by its own
hash; the switch that trusts every hook is never used, for it would trust those of a foreign repository as well.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from .building import hook_command
from .claude_wiring import prompt_in
from .codex import MOMENTS, Codex
from .wiring import HOLD_S, HookWords, Place, Wired

NOT_A_SESSION = frozenset(
    ("-V", "--version", "-h", "--help", "help", "login", "logout", "mcp", "plugin", "completion", "update", "doctor",
     "sandbox", "debug", "execpolicy", "apply", "a", "cloud", "features", "archive", "delete", "unarchive")
)  # fmt: skip
SESSIONS = frozenset(("exec", "e", "review", "resume", "fork"))
FLAGS = frozenset(
    ("--json", "--skip-git-repo-check", "--ephemeral", "--full-auto", "--oss", "--search", "--last",
     "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", "--ignore-user-config")
)  # fmt: skip

SOURCE = "/<session-flags>/config.toml"
"""Where Codex says that hooks given by `-c` come from."""

END_S = 3
"""The longest that it gives a hook at the end of a session."""


class CodexWiring:
    """`arguments` are the words after the client's own."""

    client = Codex.name

    def __init__(self, command: tuple[str, ...], arguments: tuple[str, ...]) -> None:
        self._command, self._arguments = command, arguments
        words = arguments[1:] if arguments and arguments[0] in SESSIONS else arguments
        self.task = prompt_in(words, FLAGS)

    def wire(self, place: Place) -> Wired:
        words = HookWords(hook_command(), place, self.client)
        options: list[str] = []
        trusted = []
        for event in MOMENTS:
            command = words.line(before=MOMENTS[event] == "before")
            timeout = END_S if event == "SessionEnd" else HOLD_S
            options += ["-c", f"hooks.{event}={toml_groups(command, timeout)}"]
            trusted.append(f'"{SOURCE}:{label(event)}:0:0"={{trusted_hash="{trust_hash(event, command, timeout)}"}}')
        options += ["-c", f"hooks.state={{{','.join(trusted)}}}"]
        argv = (*self._command, *options, *self._arguments)
        headless = bool(self._arguments) and self._arguments[0] in ("exec", "e")
        return Wired(argv=argv, files=(Path(words.command[0]),), headless=headless)


def toml_groups(command: str, timeout: int) -> str:
    """One hook as an inline TOML value. JSON strings are TOML strings."""
    return f'[{{hooks=[{{type="command",command={json.dumps(command)},timeout={timeout}}}]}}]'


def trust_hash(event: str, command: str, timeout: int) -> str:
    """What Codex takes a hook for: the hash of its canonical JSON."""
    hook = {"async": False, "command": command, "timeout": timeout, "type": "command"}
    canonical = json.dumps({"event_name": label(event), "hooks": [hook]}, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"


def label(event: str) -> str:
    """PreToolUse is pre_tool_use."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in event).lstrip("_")
