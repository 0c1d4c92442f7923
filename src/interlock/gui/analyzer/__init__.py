"""Analysis: what is on the screen?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .result import AnalysisResult, ReplayStatus, Situation

if TYPE_CHECKING:
    from .auto import AutoAnalyzer
    from .claude import ClaudeAnalyzer
    from .local import LocalAnalyzer

__all__ = ["AnalysisResult", "AutoAnalyzer", "ClaudeAnalyzer", "LocalAnalyzer", "ReplayStatus", "Situation"]


def __getattr__(name: str) -> object:
    from importlib import import_module

    modules = {"AutoAnalyzer": "auto", "ClaudeAnalyzer": "claude", "LocalAnalyzer": "local"}
    if name not in modules:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{modules[name]}", __name__), name)
