"""Analyzers: what the screen shows, and whether that is a problem."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)
