"""GUI sessions: see the screen, recover, verify. Names are imported when they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .session import FileOperation, Operation, OperationType, ReplaySession
    from .verifier import FileComparison, FileVerifier, VerificationResult

_WHERE = {
    "session": ("FileOperation", "Operation", "OperationType", "ReplaySession"),
    "verifier": ("FileComparison", "FileVerifier", "VerificationResult"),
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "FileComparison", "FileOperation", "FileVerifier", "Operation", "OperationType", "ReplaySession",
    "VerificationResult",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
