"""The demonstration: a scripted agent goes wrong in every way that we detect, supervised by the real runtime."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .play import Event, play

__all__ = ["Event", "play"]


def __getattr__(name: str) -> object:
    # Late, so that the scripted model beside it starts without the runtime.
    if name not in __all__:
        raise AttributeError(name)
    stage = import_module(".play", __name__)
    # The function play, in the place where the import has just put the module of that name.
    globals().update({exported: getattr(stage, exported) for exported in __all__})
    return globals()[name]
