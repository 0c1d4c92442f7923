"""Recorded traces: neutral ones, step lines, Claude Code transcripts; plain or gzip, one line at a time."""

from .feed import Begin, End, TraceEvent, read_batches
from .lines import LineError, read_lines

__all__ = ["Begin", "End", "LineError", "TraceEvent", "read_batches", "read_lines"]
