"""StoredLaunch: how to restart a run, stored in its folder without secrets; and the lock that allows only one front."""

from __future__ import annotations

import fcntl
import os
import re

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ...config import Config
from ...core import Context, RunSpec, from_json
from ...journal import LAUNCH, RunFolder, write_durably
from ..proxy import Proxied
from .launch import Launch, StepSource

SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.I)
"""Names of variables whose values are not stored."""


class StoredLaunch(Struct, frozen=True, kw_only=True):
    """How to restart a run. `lacks` names variables that were set but are not stored; `launched` is the park after
    which the client was last started, written before the start; `has_keys`: the proxy has the keys."""

    spec: RunSpec
    config: Config
    context: Context
    needs_approval: bool = False
    removed_actions: tuple[str, ...] = ()
    proxied: Proxied | None = None
    port: int = 0
    has_keys: bool = False
    environment: dict[str, str] = {}
    lacks: tuple[str, ...] = ()
    launched: int = 0
    steps: StepSource = "auto"


def store_launch(folder: RunFolder, launch: Launch, port: int, launched: int = 0) -> None:
    """Store how to restart the run, without secrets."""
    ours = {name: value for name, value in os.environ.items() if not SECRET.search(name) and _is_text(name + value)}
    stored = StoredLaunch(
        spec=launch.spec,
        config=launch.config,
        context=launch.context,
        needs_approval=launch.needs_approval,
        removed_actions=launch.removed_actions,
        proxied=replace(launch.proxied, keys={}) if launch.proxied is not None else None,
        has_keys=launch.proxied is not None and bool(launch.proxied.keys),
        port=port,
        environment=ours,
        lacks=tuple(sorted(os.environ.keys() - ours.keys())),
        launched=launched,
        steps=launch.steps,
    )
    write_durably(folder.path / LAUNCH, msgspec.json.encode(stored))


def _is_text(words: str) -> bool:
    """Whether it can be encoded as UTF-8: a variable may contain any bytes."""
    try:
        words.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_launch(folder: RunFolder) -> StoredLaunch | None:
    """The stored launch, or None."""
    try:
        return from_json((folder.path / LAUNCH).read_bytes(), StoredLaunch)
    except (OSError, msgspec.DecodeError):
        return None


def hold_front(folder: RunFolder) -> int | None:
    """Become the run's only front for the lifetime of this process; None if there is already one."""
    lock = os.open(folder.path / "lock.front", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def has_front(folder: RunFolder) -> bool:
    """Whether the run has a live front."""
    lock = hold_front(folder)
    if lock is not None:
        os.close(lock)
    return lock is None
