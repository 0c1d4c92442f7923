"""Installs permanent hooks into a client's own files, as changes that can be shown, made and undone."""

from __future__ import annotations

import difflib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import platformdirs
from msgspec import Struct

from ...core import BadInput, from_json, read_small
from ...link import gates_folder, serve_socket
from .hookclient_build import FALLBACK, compile_client, python_command
from .wiring import HookCommand

Settings = dict[str, object]
BACKUP = "interlock-backup"
CLIENT_NAME = "hookclient"
USERS = "installed-in"


class FileChange(Struct, frozen=True):
    """A change of one file: its content before (None: it does not exist) and after (None: it is removed)."""

    path: Path
    before: bytes | None
    after: bytes | None

    @property
    def is_needed(self) -> bool:
        return self.before != self.after

    @property
    def loses_nothing(self) -> bool:
        """Whether no backup is needed: the file holds only our settings, or becomes equal to a backup."""
        return self.after is None or any(data == self.after for data in map(Path.read_bytes, backups_of(self.path)))

    @property
    def done(self) -> str:
        """What happened to the file, once the change is made."""
        return "created" if self.before is None else "removed" if self.after is None else "changed"

    def diff(self) -> str:
        """The change as a unified diff."""
        old = (self.before or b"").decode("utf-8", "replace").splitlines(keepends=True)
        new = (self.after or b"").decode("utf-8", "replace").splitlines(keepends=True)
        lines = difflib.unified_diff(old, new, str(self.path), str(self.path))
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)

    def summary(self) -> str:
        """The change in one line: the file, the number of lines, and the client's events."""
        lines = self.diff().splitlines()[2:]
        added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
        if self.before is None:
            what = f"create {self.path} ({added} lines)"
        elif self.after is None:
            what = f"remove {self.path} ({removed} lines)"
        else:
            what = f"change {self.path} ({added} lines added, {removed} removed)"
        events = _hooked(self.before) ^ _hooked(self.after)
        return f"{what}, hooks on {', '.join(sorted(events))}" if events else what

    def make(self) -> Path | None:
        """Make the change atomically; returns the backup, if one was needed."""
        # A settings file that is a link may belong to a dotfiles repository: change its target.
        path = Path(os.path.realpath(self.path))
        backup = None
        if self.before is not None and not self.loses_nothing:
            backup = path.with_name(f"{path.name}.{BACKUP}-{time.strftime('%Y%m%dT%H%M%S')}")
            shutil.copy2(path, backup)
        if self.after is None:
            path.unlink(missing_ok=True)
            return backup
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as draft:
            draft.write(self.after)
        if self.before is not None:
            shutil.copymode(path, draft.name)
        Path(draft.name).replace(path)
        return backup


class InstalledWords(HookCommand, frozen=True):
    """How installed hooks call the client: it uses the run's own socket if there is one, else `interlock serve`."""

    command: tuple[str, ...]
    client: str

    def words(self, *, before: bool) -> tuple[str, ...]:
        options = ("--before",) if before else ()
        return (*self.command, *options, "--serve", str(serve_socket()), "--gates", str(gates_folder()), self.client)


def backups_of(path: Path) -> list[Path]:
    """Our backups of a settings file, the newest first."""
    real = Path(os.path.realpath(path))
    return sorted(real.parent.glob(f"{real.name}.{BACKUP}-*"), reverse=True)


def finish_install(changes: Sequence[FileChange]) -> None:
    """Record which settings use the client, so that it is removed with the last of them."""
    names = {str(change.path.absolute()) for change in changes if _calls_client(change.path)}
    users = _client_folder() / USERS
    if names:
        users.write_text("".join(f"{name}\n" for name in sorted(names | set(_noted(users)))))


def finish_uninstall(changes: Sequence[FileChange], stays: Path) -> None:
    """Remove what an installation created and nothing needs: backups, folders below `stays`, the client."""
    for change in changes:
        now = read_file(change.path)
        for backup in backups_of(change.path):
            if read_small(backup) in (now, change.before):
                backup.unlink()
        _remove_empty(change.path.parent, stays)
    folder = _client_folder()
    users = folder / USERS
    if users.exists() and not any(_calls_client(Path(name)) for name in _noted(users)):
        for name in (CLIENT_NAME, f"{CLIENT_NAME}.py", USERS):
            (folder / name).unlink(missing_ok=True)
        _remove_empty(folder, folder.parent.parent)


def _noted(users: Path) -> list[str]:
    return (read_file(users) or b"").decode("utf-8", "surrogateescape").splitlines()


def _calls_client(path: Path) -> bool:
    return f"interlock/hooks/{CLIENT_NAME}".encode() in (read_file(path) or b"")


def _remove_empty(folder: Path, stays: Path) -> None:
    """Remove a folder and its parents, up to `stays` or one that is not empty."""
    while folder != stays and stays in folder.parents:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


def _client_folder() -> Path:
    return Path(platformdirs.user_data_dir("interlock")) / "hooks"


def install_client() -> tuple[str, ...]:
    """Copy the hook client to a folder that survives clearing caches; returns the words that start it."""
    folder = _client_folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    compiled = compile_client()
    if compiled is not None:
        target = folder / CLIENT_NAME
        _copy(compiled, target)
        return (str(target),)
    target = folder / f"{CLIENT_NAME}.py"
    _copy(FALLBACK, target)
    return (*python_command()[:-1], str(target))


def is_ours(group: object) -> bool:
    """Whether a group of hooks calls our client."""
    hooks = group.get("hooks") if isinstance(group, dict) else None
    calls = [one for one in hooks if isinstance(one, dict)] if isinstance(hooks, list) else []
    return any(f"interlock/hooks/{CLIENT_NAME}" in str(one.get("command")) + str(one.get("args")) for one in calls)


def change_settings(path: Path, edit: Callable[[Settings], Settings]) -> FileChange:
    """The change of a JSON file by an edit. If the result equals a backup of ours, its exact bytes are restored."""
    before = read_file(path)
    settings = _decode(path, before) if before and before.strip() else {}
    edited = edit(settings)
    if edited == settings:
        return FileChange(path, before, before)
    for backup in backups_of(path):
        data = read_small(backup)
        if data.strip() and _decode(backup, data) == edited:
            return FileChange(path, before, data)
    after = msgspec.json.format(msgspec.json.encode(edited), indent=2) + b"\n" if edited else None
    return FileChange(path, before, after)


def read_file(path: Path) -> bytes | None:
    try:
        return read_small(path, links=True)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadInput(f"it cannot be read ({error.strerror})", where=str(path)) from None


def _hooked(data: bytes | None) -> set[str]:
    """The events for which a settings file has our hooks; none if it is not JSON."""
    try:
        hooks = from_json(data or b"{}", Settings).get("hooks")
    except msgspec.DecodeError:
        return set()
    groups = hooks.items() if isinstance(hooks, dict) else ()
    return {event for event, group in groups if isinstance(group, list) and any(map(is_ours, group))}


def _decode(path: Path, data: bytes) -> Settings:
    try:
        return from_json(data, Settings)
    except msgspec.DecodeError as error:
        raise BadInput(f"it is not a JSON object ({error})", where=str(path), todo="Fix it first.") from None


def _copy(source: Path, target: Path) -> None:
    """Replaced atomically, as a hook may be starting it right now."""
    if target.exists() and target.read_bytes() == source.read_bytes():
        return
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copy2(source, draft)
    draft.replace(target)
