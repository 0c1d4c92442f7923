"""The demonstration: a scripted agent goes wrong in every way that we detect, supervised by the real runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazy

if TYPE_CHECKING:
    from .player import DemoEvent, play

__all__ = ["DemoEvent", "play"]

# Late, so that the scripted model beside it starts without the runtime.
__getattr__ = lazy(__name__, {"player": ("DemoEvent", "play")})
