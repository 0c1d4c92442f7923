from .auto import AutoAnalyzer as AutoAnalyzer
from .claude import ClaudeAnalyzer as ClaudeAnalyzer
from .local import LocalAnalyzer as LocalAnalyzer
from .result import AnalysisResult as AnalysisResult
from .result import ReplayStatus as ReplayStatus
from .result import ScreenSituation as ScreenSituation
