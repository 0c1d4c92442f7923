"""The controller: score, strategies, effectiveness."""

from .capabilities import NEEDS
from .controller import Controller
from .history import remember
from .ruling import Ruling, Rulings
from .state import ControllerState, count_anew
from .step_clock import StepClock
from .strategies import PATTERN_TABLE, Situation, Strategy, register_strategy

__all__ = [
    "NEEDS", "PATTERN_TABLE", "Controller", "ControllerState", "Ruling", "Rulings", "Situation", "StepClock",
    "Strategy", "count_anew", "register_strategy", "remember",
]  # fmt: skip
