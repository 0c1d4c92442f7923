"""Private files: what a person proves with that they are the person. No agent reads them."""

from __future__ import annotations

from pathlib import Path

from ..core import key_paths
from .schema import Config


def private_files(config: Config) -> tuple[Path, ...]:
    """All of them, whether they exist or not."""
    return (*key_paths(), *named_files(config))


def named_files(config: Config) -> tuple[Path, ...]:
    """Those that the configuration puts somewhere else than where Interlock has them by itself."""
    hub, store = config.hub, config.store.dir
    named = [hub.key_file, hub.credentials_file, hub.token_file, hub.tls.get("key_file")]
    named += [f"{store}/{name}" for name in (".key", ".web-token")] if store else []
    return tuple(Path(name).expanduser().absolute() for name in named if name)
