"""Claude Code for one run: `--settings` with our hooks beside whatever the user passed there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from ...core import BadInput, from_json
from .claude_code import MOMENTS, ClaudeCodeDialect
from .hook_switches import switches_hooks_off
from .wiring import HOLD_S, HookWords, RunAddress, Wired

NOT_A_SESSION = frozenset(
    ("-v", "--version", "-h", "--help", "agents", "auth", "config", "doctor", "install", "mcp", "migrate-installer",
     "plugin", "plugins", "project", "remote-control", "setup-token", "ultrareview", "update", "upgrade")
)  # fmt: skip
"""A first argument with which the client starts no agent."""

END_S = 5
"""A session that ends does not wait."""


class ClaudeWiring:
    """`arguments` are the words after the client's own."""

    client = ClaudeCodeDialect.name
    api = ""

    def __init__(self, command: tuple[str, ...], arguments: tuple[str, ...]) -> None:
        self._command, self._arguments = command, arguments
        self.task = prompt_in(arguments, FLAGS)

    def wire(self, place: RunAddress) -> Wired:
        from .hookclient_build import hook_command

        rest, given = _take_settings(self._arguments)
        words = HookWords(hook_command(), place, self.client)
        settings = add_hooks(given, lambda event: exec_form(event, words))
        user, *projects = settings_files()
        notes = []
        if switches_hooks_off(user):
            notes.append(f"hooks are switched off in {user}: its steps are not visible")
        else:
            # A project's settings, which the agent itself can write, do not switch supervision off.
            settings = {"disableAllHooks": False, **settings}
        if "--bare" in self._arguments:
            notes.append("--bare switches its hooks off: its steps are not visible")
        path = place.folder / "settings.json"
        path.write_bytes(msgspec.json.format(msgspec.json.encode(settings), indent=2))
        path.chmod(0o400)
        argv = (*self._command, "--settings", str(path), *rest)
        files = (path, Path(words.command[0]))
        headless = bool({"-p", "--print"} & set(self._arguments))
        return Wired(argv=argv, files=files, settings=(user, *projects), notes=tuple(notes), headless=headless)


def settings_files() -> tuple[Path, ...]:
    """The user's settings, then those of the current project."""
    user = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "settings.json"
    project = Path.cwd() / ".claude"
    return user, project / "settings.json", project / "settings.local.json"


def exec_form(event: str, words: HookWords) -> dict[str, object]:
    """One hook without a shell in between."""
    command, *arguments = words.words(before=MOMENTS[event] == "before")
    timeout = END_S if event == "SessionEnd" else HOLD_S
    return {"type": "command", "command": command, "args": arguments, "timeout": timeout}


def add_hooks(settings: dict[str, object], hook_for: Callable[[str], dict[str, object]]) -> dict[str, object]:
    """The settings with our hooks after the user's own."""
    hooks = settings.get("hooks")
    merged: dict[str, object] = dict(hooks) if isinstance(hooks, dict) else {}
    for event in MOMENTS:
        present = merged.get(event)
        merged[event] = [*(present if isinstance(present, list) else []), {"hooks": [hook_for(event)]}]
    return {**settings, "hooks": merged}


def prompt_in(arguments: tuple[str, ...], flags: frozenset[str]) -> str:
    """What the client is asked to do: the first argument that is not an option's."""
    previous = ""
    for word in arguments:
        if not word.startswith("-") and (not previous.startswith("-") or previous in flags):
            return word
        previous = word
    return ""


FLAGS = frozenset(
    ("-p", "--print", "-c", "--continue", "--verbose", "--dangerously-skip-permissions", "--bare", "--debug",
     "--include-partial-messages", "--include-hook-events", "--replay-user-messages", "--strict-mcp-config", "--ide")
)  # fmt: skip
"""Options without a value; the prompt may follow them."""


def _take_settings(arguments: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, object]]:
    """The arguments without --settings, and what was given there: a file or JSON."""
    rest: list[str] = []
    given: dict[str, object] = {}
    words = iter(arguments)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word == "--settings":
            given = _read(next(words, ""))
        elif word.startswith("--settings="):
            given = _read(word.partition("=")[2])
        else:
            rest.append(word)
    return tuple(rest), given


def _read(value: str) -> dict[str, object]:
    try:
        data = value if value.lstrip().startswith("{") else Path(value).expanduser().read_text()
        return from_json(data, dict[str, object])
    except (OSError, msgspec.DecodeError) as error:
        raise BadInput(f"the settings cannot be read ({error})", where="--settings", todo="Use a JSON file.") from None
