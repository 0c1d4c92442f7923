"""Codex for one run: `-c` overrides that add our hooks to whatever its configuration files say.

Codex runs only hooks whose hash the user has agreed to. Ours are agreed to by the same overrides, each by its own
hash; the switch that trusts every hook is never used, for it would trust those of a foreign repository as well.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from msgspec import Struct

from .claude_code_wiring import prompt_in
from .codex import MOMENTS, CodexDialect
from .wiring import HOLD_S, HookWords, RunAddress, Wired

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

CHOOSES = frozenset(("-c", "--config", "-p", "--profile", "--oss", "--ignore-user-config"))
"""Options that may name another API than the configuration file does."""

END_S = 3
"""The longest that it gives a hook at the end of a session."""


class CodexWiring:
    """`arguments` are the words after the client's own."""

    client = CodexDialect.name

    def __init__(self, command: tuple[str, ...], arguments: tuple[str, ...]) -> None:
        self._command, self._arguments = command, arguments
        words = arguments[1:] if arguments and arguments[0] in SESSIONS else arguments
        self.task = prompt_in(words, FLAGS)
        chosen = any(word.partition("=")[0] in CHOOSES for word in arguments)
        self._own = None if chosen else named_api()
        self.api = self._own.url if self._own is not None else ""

    def wire(self, place: RunAddress) -> Wired:
        from .hookclient_build import hook_command

        words = HookWords(hook_command(), place, self.client)
        options: list[str] = []
        trusted = []
        for event in MOMENTS:
            command = words.line(before=MOMENTS[event] == "before")
            timeout = END_S if event == "SessionEnd" else HOLD_S
            options += ["-c", f"hooks.{event}={toml_groups(command, timeout)}"]
            trusted.append(f'"{SOURCE}:{label(event)}:0:0"={{trusted_hash="{trust_hash(event, command, timeout)}"}}')
        options += ["-c", f"hooks.state={{{','.join(trusted)}}}"]
        if self._own is not None and place.api:
            options += ["-c", f"{self._own.key}={_quoted(place.api)}"]
        argv = (*self._command, *options, *self._arguments)
        headless = bool(self._arguments) and self._arguments[0] in ("exec", "e")
        return Wired(argv=argv, files=(Path(words.command[0]),), headless=headless)


class NamedApi(Struct, frozen=True):
    """The model's API as a configuration file names it, and the key that names it."""

    key: str
    url: str


def named_api() -> NamedApi | None:
    """The API that the user's configuration file names; None if it names none: Codex knows its maker's."""
    folder = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
    import tomllib

    try:
        config = tomllib.loads((folder / "config.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    profile = _table(_table(config, "profiles"), str(config.get("profile")))
    name = str(profile.get("model_provider") or config.get("model_provider") or MAKER)
    own = _table(_table(config, "model_providers"), name).get("base_url")
    if isinstance(own, str) and PLAIN_KEY.fullmatch(name):
        return NamedApi(f"model_providers.{name}.base_url", own.rstrip("/"))
    makers = config.get("openai_base_url")
    return NamedApi("openai_base_url", makers.rstrip("/")) if name == MAKER and isinstance(makers, str) else None


def _table(table: dict[str, object], key: str) -> dict[str, object]:
    value = table.get(key)
    return value if isinstance(value, dict) else {}


MAKER = "openai"
PLAIN_KEY = re.compile(r"[\w-]+")


def toml_groups(command: str, timeout: int) -> str:
    """One hook as an inline TOML value. JSON strings are TOML strings."""
    return f'[{{hooks=[{{type="command",command={_quoted(command)},timeout={timeout}}}]}}]'


def trust_hash(event: str, command: str, timeout: int) -> str:
    """What Codex takes a hook for: the hash of its canonical JSON."""
    hook = {"async": False, "command": command, "timeout": timeout, "type": "command"}
    import hashlib
    import json

    canonical = json.dumps({"event_name": label(event), "hooks": [hook]}, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"


def label(event: str) -> str:
    """PreToolUse is pre_tool_use."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in event).lstrip("_")


def _quoted(words: str) -> str:
    import json

    return json.dumps(words)
