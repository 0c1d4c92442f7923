"""GUI sessions: see the screen, recover, verify. Names are imported when they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazy

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

__all__ = [
    "AnalysisResult", "ClaudeAnalyzer", "FileComparison", "FileOperation", "FileVerifier", "InputBackend",
    "InterventionConfig", "InterventionEvent", "InterventionOrchestrator", "LocalAnalyzer", "MSSBackend",
    "Operation", "OperationType", "RecoveryExecutor", "RecoveryResult", "ReplayEngine", "ReplayResult",
    "ReplaySession", "ReplayStatus", "Screenshot", "ScreenshotBackend", "ScrotBackend", "VerificationResult",
    "WaylandBackend", "create_screenshot_backend",
]  # fmt: skip

__getattr__ = lazy(
    __name__,
    {
        "analyzer": ("AnalysisResult", "ClaudeAnalyzer", "LocalAnalyzer", "ReplayStatus"),
        "input": ("InputBackend",),
        "orchestrator": ("InterventionConfig", "InterventionEvent", "InterventionOrchestrator"),
        "recovery": ("RecoveryExecutor", "RecoveryResult"),
        "replay": ("ReplayEngine", "ReplayResult"),
        "screenshot": (
            "MSSBackend", "Screenshot", "ScreenshotBackend", "ScrotBackend", "WaylandBackend",
            "create_screenshot_backend",
        ),
        "session": ("FileOperation", "Operation", "OperationType", "ReplaySession"),
        "verifier": ("FileComparison", "FileVerifier", "VerificationResult"),
    },
)  # fmt: skip
