"""The demonstration: a scripted agent goes wrong in every way that we detect, supervised by the real runtime."""

from .play import Event, play

__all__ = ["Event", "play"]
