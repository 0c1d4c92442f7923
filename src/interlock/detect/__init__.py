"""Find patterns in the stream of steps, one file each, at constant cost per step."""

from .agent_history import AgentHistory
from .detector import Asked, Detector, DetectorFailed, Factory, Setting, StatefulDetector
from .detectors import Detectors, finding_key
from .registry import factories, issue_types, register, unregister
from .tuning import Tuning

__all__ = [
    "AgentHistory", "Asked", "Detector", "DetectorFailed", "Detectors", "Factory", "Setting", "StatefulDetector",
    "Tuning", "factories", "finding_key", "issue_types", "register", "unregister",
]  # fmt: skip
