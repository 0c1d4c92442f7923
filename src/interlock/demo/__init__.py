"""The demonstration: a scripted agent goes wrong in every way that we detect, supervised by the real runtime."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .playing import Event, play

__all__ = ["Event", "play"]


def __getattr__(name: str) -> object:
    # Late, so that the scripted model beside it starts without the runtime.
    if name not in __all__:
        raise AttributeError(name)
    return getattr(import_module(".playing", __name__), name)
