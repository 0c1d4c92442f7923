"""Analysis: what is on the screen?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._lazy import lazy
from .result import AnalysisResult, ReplayStatus, ScreenSituation

if TYPE_CHECKING:
    from .auto import AutoAnalyzer
    from .claude import ClaudeAnalyzer
    from .local import LocalAnalyzer

__all__ = ["AnalysisResult", "AutoAnalyzer", "ClaudeAnalyzer", "LocalAnalyzer", "ReplayStatus", "ScreenSituation"]

__getattr__ = lazy(__name__, {"auto": ("AutoAnalyzer",), "claude": ("ClaudeAnalyzer",), "local": ("LocalAnalyzer",)})
