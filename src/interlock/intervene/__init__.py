"""The five interventions as pure functions, and their message templates."""

from .._lazy import lazy
from .checkpoint_rollback import checkpoint_rollback as checkpoint_rollback
from .context_reinforcement import context_reinforcement as context_reinforcement
from .emergency_stop import emergency_stop as emergency_stop
from .resource_throttling import resource_throttling as resource_throttling
from .soft_correction import soft_correction as soft_correction

__getattr__ = lazy(__name__, __file__)
