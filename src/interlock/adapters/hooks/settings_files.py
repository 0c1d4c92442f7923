"""Which settings files permanent hooks go into, for each client."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from ...core import from_json
from ...link import gates_folder, serve_socket
from . import claude_code, codex, gemini
from .codex import END_S as CODEX_END_S
from .codex import label, trust_hash
from .installation import FileChange, InstalledWords, Settings, change_settings, install_client, is_ours, read_file
from .opencode import PLUGIN
from .wiring import HOLD_S, add_groups, without_groups

END_S = 5
BEGIN, END = "# interlock: hooks agreed to\n", "# interlock: end\n"


def _claude_file(project: Path | None) -> Path:
    if project is not None:
        return project / ".claude" / "settings.json"
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "settings.json"


def install_claude(project: Path | None) -> tuple[FileChange, ...]:
    words = InstalledWords(install_client(), "claude-code")
    path, events = _claude_file(project), claude_code.MOMENTS
    return (_change_groups(path, events, lambda event: {"hooks": [claude_code.exec_form(event, words)]}),)


def uninstall_claude(project: Path | None) -> tuple[FileChange, ...]:
    return (change_settings(_claude_file(project), without_ours),)


def without_ours(settings: Settings) -> Settings:
    """The settings without our hooks."""
    return without_groups(settings, is_ours)


def _change_groups(path: Path, events: Iterable[str], group_for: Callable[[str], object]) -> FileChange:
    """The change of a file to one group of ours for each event."""
    return change_settings(path, lambda settings: add_groups(without_ours(settings), events, group_for))


def _codex_folder(project: Path | None) -> Path:
    return project / ".codex" if project is not None else _codex_home()


def _codex_home() -> Path:
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")


def install_codex(project: Path | None) -> tuple[FileChange, ...]:
    """Change hooks.json, and add the hashes of these hooks as trusted to the user's own configuration."""
    words = InstalledWords(install_client(), "codex")
    path = _codex_folder(project) / "hooks.json"

    def line(event: str) -> str:
        return words.line(before=codex.MOMENTS[event] == "before")

    def timeout(event: str) -> int:
        return CODEX_END_S if event == "SessionEnd" else HOLD_S

    def group(event: str) -> object:
        return {"hooks": [{"type": "command", "command": line(event), "timeout": timeout(event)}]}

    hooks = _change_groups(path, codex.MOMENTS, group)
    agreed = "".join(
        f'[hooks.state."{path}:{label(event)}:{_index_of_ours(hooks, event)}:0"]\n'
        f'trusted_hash = "{trust_hash(event, line(event), timeout(event))}"\n'
        for event in codex.MOMENTS
    )
    return hooks, _agree(agreed)


def uninstall_codex(project: Path | None) -> tuple[FileChange, ...]:
    return change_settings(_codex_folder(project) / "hooks.json", without_ours), _agree("")


def _index_of_ours(change: FileChange, event: str) -> int:
    settings = from_json(change.after or b"{}", dict[str, dict[str, list[object]]])
    return next(number for number, group in enumerate(settings["hooks"][event]) if is_ours(group))


def _agree(text: str) -> FileChange:
    """The user's config.toml with our block at its end, or without it."""
    path = _codex_home() / "config.toml"
    before = read_file(path)
    now = (before or b"").decode()
    head, begun, rest = now.partition(BEGIN)
    tail = rest.partition(END)[2] if begun else ""
    clean = head + tail
    after = f"{clean}{'' if not clean or clean.endswith(chr(10)) else chr(10)}{BEGIN}{text}{END}" if text else clean
    return FileChange(path, before, before if after == now else after.encode() or None)


def _gemini_file(project: Path | None) -> Path:
    home = Path(os.environ.get("GEMINI_CLI_HOME") or Path.home())
    return (project or home) / ".gemini" / "settings.json"


def install_gemini(project: Path | None) -> tuple[FileChange, ...]:
    words = InstalledWords(install_client(), "gemini")
    return (_change_groups(_gemini_file(project), gemini.MOMENTS, lambda event: gemini.group(event, words)),)


def uninstall_gemini(project: Path | None) -> tuple[FileChange, ...]:
    return (change_settings(_gemini_file(project), without_ours),)


def _opencode_file(project: Path | None) -> Path:
    if project is not None:
        return project / ".opencode" / "plugin" / "interlock.js"
    base = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return base / "opencode" / "plugin" / "interlock.js"


def install_opencode(project: Path | None) -> tuple[FileChange, ...]:
    path = _opencode_file(project)
    text = PLUGIN.read_text()
    for name, value in (("SERVE", serve_socket()), ("GATES", gates_folder())):
        text = text.replace(f'const {name} = ""', f"const {name} = {msgspec.json.encode(str(value)).decode()}")
    return (FileChange(path, read_file(path), text.encode()),)


def uninstall_opencode(project: Path | None) -> tuple[FileChange, ...]:
    path = _opencode_file(project)
    return (FileChange(path, read_file(path), None),)
