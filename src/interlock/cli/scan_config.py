"""The configuration of a scan: the file's, with what the command line says on top."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast, get_args

from msgspec.structs import replace

from ..config import Config, load
from ..core import BadInput

Sensitivity = Literal["low", "medium", "high"]


def scan_config(path: str | None, sensitivity: str | None) -> Config:
    """Load and adjust; what the command line says wins."""
    config = load(Path(path) if path is not None else None)
    if sensitivity is None:
        return config
    if sensitivity not in get_args(Sensitivity):
        raise BadInput(f"there is no sensitivity {sensitivity!r}", todo="Known: low, medium, high")
    return replace(config, detect=replace(config.detect, sensitivity=cast(Sensitivity, sensitivity)))
