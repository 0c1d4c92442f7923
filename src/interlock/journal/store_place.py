"""Where the store is: what a front has to know of it, without all that reads and writes journals."""

from __future__ import annotations

from pathlib import Path

from ..config import Config
from ..core import user_folder


def store_root(config: Config) -> Path:
    """The folder that the configuration names."""
    return Path(config.store.dir).expanduser() if config.store.dir else default_root()


def default_root() -> Path:
    """Where runs live if nothing else is said."""
    return user_folder("state") / "runs"
