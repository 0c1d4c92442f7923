"""The controller: score, strategies, effectiveness."""

from .capabilities import NEEDS
from .controller import Controller
from .history import remember
from .registry import find_strategy, register_strategy, unregister_strategy
from .ruling import Ruling, Rulings
from .state import ControllerState, count_anew
from .step_clock import StepClock
from .strategies import PATTERN_TABLE, Situation, Strategy

__all__ = [
    "NEEDS", "PATTERN_TABLE", "Controller", "ControllerState", "Ruling", "Rulings", "Situation", "StepClock",
    "Strategy", "count_anew", "find_strategy", "register_strategy", "remember", "unregister_strategy",
]  # fmt: skip
