"""Recorded traces: neutral ones, step lines, Claude Code transcripts; plain or gzip, one line at a time."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)
