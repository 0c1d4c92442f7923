"""Find patterns in the stream of steps, one file each, at constant cost per step."""

from .detector import Asked, Detector, DetectorFailed, Factory, Remembering, Setting
from .history import History
from .panel import Detectors, finding_key
from .registry import factories, issue_types, register, unregister
from .tuning import Tuning

__all__ = [
    "Asked", "Detector", "DetectorFailed", "Detectors", "Factory", "History", "Remembering", "Setting", "Tuning",
    "factories", "finding_key", "issue_types", "register", "unregister",
]  # fmt: skip
