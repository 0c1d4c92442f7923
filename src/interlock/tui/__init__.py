"""The terminal UI: all runs at a glance, one run in full, and the keys that steer it."""

from .app import Top
from .place import Place

__all__ = ["Place", "Top"]
