"""Recorded traces: neutral traces, step lines, Claude Code transcripts; plain or gzip, read line by line."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)
