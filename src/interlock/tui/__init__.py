"""The terminal UI: all runs at a glance, one run in full, and the keys that steer it."""

from .app import Top
from .run_source import RunSource

__all__ = ["RunSource", "Top"]
