"""Gemini CLI for one run: its own home that is the user's but for the settings, which have our hooks as well.

It has no option for settings. Everything in the folder is a link to the user's; what the client adds or replaces goes
to the user's folder when the run is over.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from ...core import BadInput, from_json
from .claude_code_wiring import prompt_in
from .gemini import MOMENTS, GeminiDialect
from .wiring import HOLD_S, HookWords, RunAddress, Wired

HOME = "GEMINI_CLI_HOME"
FOLDER = ".gemini"
SETTINGS = "settings.json"
SWITCHES = "hooksConfig"
NAME = "interlock"
END_S = 5
NOT_A_SESSION = frozenset(("-v", "--version", "-h", "--help", "mcp", "extensions", "extension", "skills", "hooks"))
FLAGS = frozenset(("-d", "--debug", "-s", "--sandbox", "-y", "--yolo", "-p", "--prompt", "-i", "--prompt-interactive"))


class GeminiWiring:
    """`arguments` are the words after the client's own."""

    client = GeminiDialect.name
    api = ""

    def __init__(self, command: tuple[str, ...], arguments: tuple[str, ...]) -> None:
        self._command, self._arguments = command, arguments
        self.task = prompt_in(arguments, FLAGS)

    def wire(self, place: RunAddress) -> Wired:
        from .hookclient_build import hook_command

        real = Path(os.environ.get(HOME) or Path.home()) / FOLDER
        ours = place.folder / FOLDER
        ours.mkdir(mode=0o700)
        for entry in real.iterdir() if real.is_dir() else ():
            if entry.name != SETTINGS:
                (ours / entry.name).symlink_to(entry)
        words = HookWords(hook_command(), place, self.client)
        original = _read(real / SETTINGS)
        written = with_hooks(original, lambda event: hook(event, words))
        (ours / SETTINGS).write_bytes(written)
        argv = (*self._command, *self._arguments)
        return Wired(
            argv=argv,
            environment={HOME: str(place.folder)},
            files=(ours / SETTINGS, Path(words.command[0])),
            settings=(Path.cwd() / FOLDER / SETTINGS,),
            headless=bool({"-p", "--prompt"} & set(self._arguments)),
            settle=lambda: _settle(ours, real, written, original),
        )


def hook(event: str, words: HookWords) -> dict[str, object]:
    """One hook, with its time in milliseconds."""
    timeout = (END_S if event == "SessionEnd" else HOLD_S) * 1000
    line = words.line(before=MOMENTS[event] == "before")
    return {"type": "command", "name": NAME, "command": line, "timeout": timeout}


def with_hooks(settings: dict[str, object], hook_for: Callable[[str], dict[str, object]]) -> bytes:
    """The settings with our hooks after the user's own, and hooks switched on."""
    hooks = settings.get("hooks")
    merged: dict[str, object] = dict(hooks) if isinstance(hooks, dict) else {}
    for event in MOMENTS:
        present = merged.get(event)
        ours = {"matcher": "*", "hooks": [hook_for(event)]}
        merged[event] = [*(present if isinstance(present, list) else []), ours]
    switches = settings.get(SWITCHES)
    switched = {**(switches if isinstance(switches, dict) else {}), "enabled": True}
    whole = {**settings, "hooks": merged, SWITCHES: switched}
    return msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n"


def without_hooks(settings: dict[str, object]) -> dict[str, object]:
    """The settings without hooks of ours; emptied events go too."""
    hooks = settings.get("hooks")
    if not isinstance(hooks, dict):
        return settings
    kept = {event: [group for group in groups if not _is_ours(group)] for event, groups in hooks.items()}
    left = {event: groups for event, groups in kept.items() if groups}
    rest = {key: value for key, value in settings.items() if key != "hooks"}
    return {**rest, "hooks": left} if left else rest


def _is_ours(group: object) -> bool:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(hooks, list) and any(isinstance(one, dict) and one.get("name") == NAME for one in hooks)


def _read(path: Path) -> dict[str, object]:
    try:
        return from_json(path.read_bytes(), dict[str, object])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError) as error:
        todo = "Fix it; comments are not supported here."
        raise BadInput(f"the settings cannot be read ({error})", where=str(path), todo=todo) from None


def _settle(ours: Path, real: Path, written: bytes, original: dict[str, object]) -> None:
    """Take over what the client wrote: new files, replaced ones, and settings that it changed."""
    import shutil

    for entry in ours.iterdir():
        if entry.is_symlink() or entry.name == SETTINGS:
            continue
        real.mkdir(mode=0o700, exist_ok=True)
        shutil.move(entry, real / entry.name) if not entry.is_dir() else shutil.copytree(
            entry, real / entry.name, symlinks=True, dirs_exist_ok=True
        )
    changed = (ours / SETTINGS).read_bytes() if (ours / SETTINGS).exists() else written
    if changed != written:
        real.mkdir(mode=0o700, exist_ok=True)
        settings = without_hooks(_read(ours / SETTINGS))
        settings.pop(SWITCHES, None)
        if SWITCHES in original:
            settings[SWITCHES] = original[SWITCHES]
        (real / SETTINGS).write_bytes(msgspec.json.format(msgspec.json.encode(settings), indent=2) + b"\n")
