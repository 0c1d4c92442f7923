"""GUI sessions: see the screen, recover, verify. Names are imported when they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .analyzer import AnalysisResult, ClaudeAnalyzer, LocalAnalyzer, ReplayStatus
    from .input import InputBackend
    from .orchestrator import InterventionConfig, InterventionEvent, InterventionOrchestrator
    from .recovery import RecoveryExecutor, RecoveryResult
    from .replay import ReplayEngine, ReplayResult
    from .screenshot import (
        MSSBackend,
        Screenshot,
        ScreenshotBackend,
        ScrotBackend,
        WaylandBackend,
        create_screenshot_backend,
    )
    from .session import FileOperation, Operation, OperationType, ReplaySession
    from .verifier import FileComparison, FileVerifier, VerificationResult

_WHERE = {
    "analyzer": ("AnalysisResult", "ClaudeAnalyzer", "LocalAnalyzer", "ReplayStatus"),
    "input": ("InputBackend",),
    "orchestrator": ("InterventionConfig", "InterventionEvent", "InterventionOrchestrator"),
    "recovery": ("RecoveryExecutor", "RecoveryResult"),
    "replay": ("ReplayEngine", "ReplayResult"),
    "screenshot": (
        "MSSBackend", "Screenshot", "ScreenshotBackend", "ScrotBackend", "WaylandBackend", "create_screenshot_backend",
    ),
    "session": ("FileOperation", "Operation", "OperationType", "ReplaySession"),
    "verifier": ("FileComparison", "FileVerifier", "VerificationResult"),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "AnalysisResult", "ClaudeAnalyzer", "FileComparison", "FileOperation", "FileVerifier", "InputBackend",
    "InterventionConfig", "InterventionEvent", "InterventionOrchestrator", "LocalAnalyzer", "MSSBackend",
    "Operation", "OperationType", "RecoveryExecutor", "RecoveryResult", "ReplayEngine", "ReplayResult",
    "ReplaySession", "ReplayStatus", "Screenshot", "ScreenshotBackend", "ScrotBackend", "VerificationResult",
    "WaylandBackend", "create_screenshot_backend",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
