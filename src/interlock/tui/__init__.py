"""The terminal UI: all runs at a glance, one run in full, and the keys that steer it."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)
