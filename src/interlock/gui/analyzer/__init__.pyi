from .auto import AutoAnalyzer as AutoAnalyzer
from .claude import ClaudeAnalyzer as ClaudeAnalyzer
from .evidence import AnalysisResult as AnalysisResult
from .evidence import ReplayStatus as ReplayStatus
from .evidence import ScreenSituation as ScreenSituation
from .local import LocalAnalyzer as LocalAnalyzer
