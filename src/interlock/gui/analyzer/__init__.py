"""Analysis: what is on the screen?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .result import AnalysisResult, ReplayStatus, Situation

if TYPE_CHECKING:
    from .claude import ClaudeAnalyzer

__all__ = ["AnalysisResult", "ClaudeAnalyzer", "ReplayStatus", "Situation"]


def __getattr__(name: str) -> object:
    from importlib import import_module

    modules = {"ClaudeAnalyzer": "claude"}
    if name not in modules:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{modules[name]}", __name__), name)
