"""Starts, freezes, thaws, limits and ends a tree of processes, and reports what worked."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)
