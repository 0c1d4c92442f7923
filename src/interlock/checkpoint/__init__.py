"""Snapshot, diff, restore and undo of a workspace."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)
