"""Recorded traces: neutral ones, step lines, Claude Code transcripts; plain or gzip, one line at a time."""

from .lines import LineError, read_lines
from .trace_events import TraceBegin, TraceEnd, TraceEvent, read_batches

__all__ = ["LineError", "TraceBegin", "TraceEnd", "TraceEvent", "read_batches", "read_lines"]
