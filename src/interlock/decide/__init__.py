"""The controller: score, strategies, effectiveness."""

from .capabilities import NEEDS
from .controller import Controller
from .episode import Episode
from .episode_tracking import strongest
from .history import remember
from .registry import find_strategy, register_strategy, unregister_strategy
from .ruling import Observed, Ruling, Rulings, Sighting
from .state import ControllerState, count_anew
from .step_clock import StepClock
from .strategies import PATTERN_TABLE, Situation, Strategy

__all__ = [
    "NEEDS", "PATTERN_TABLE", "Controller", "ControllerState", "Episode", "Observed", "Ruling", "Rulings", "Sighting",
    "Situation", "StepClock", "Strategy", "count_anew", "find_strategy", "register_strategy", "remember", "strongest",
    "unregister_strategy",
]  # fmt: skip
