"""Replay: a scripted session typed into an editor."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)
