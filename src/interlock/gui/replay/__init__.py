"""Replay: a scripted session typed into an editor."""

from ..input.backend import InputBackend
from ..session import FileOperation, Operation, OperationType, ReplaySession, read_session
from .engine import ReplayEngine
from .result import ReplayResult

__all__ = [
    "FileOperation", "InputBackend", "Operation", "OperationType", "ReplayEngine", "ReplayResult", "ReplaySession",
    "read_session",
]  # fmt: skip
