"""The five interventions as pure functions, and their message templates."""

from ..core import Plan, RollbackEntry
from .attempt import FIRST, Attempt
from .checkpoint_rollback import checkpoint_rollback
from .checkpoints import newest_safe
from .context_reinforcement import context_reinforcement, restore_after_compaction
from .custom import Custom, level_of
from .emergency_stop import emergency_stop
from .incident import Incident
from .options import RecoveryOption
from .outcome import Answer, Continue, RecoveryNeeded, Stopped
from .pause import pause_for_person
from .registry import custom_interventions, register_intervention, unregister_intervention
from .report import IncidentReport
from .resource_throttling import resource_throttling
from .soft_correction import soft_correction
from .templates import BUILT_IN, Templates, parse_templates

__all__ = [
    "BUILT_IN", "FIRST", "Answer", "Attempt", "Continue", "Custom", "Incident", "IncidentReport", "Plan",
    "RecoveryNeeded", "RecoveryOption", "RollbackEntry", "Stopped", "Templates", "checkpoint_rollback",
    "context_reinforcement", "custom_interventions", "emergency_stop", "level_of", "newest_safe", "parse_templates",
    "pause_for_person", "register_intervention", "resource_throttling", "restore_after_compaction", "soft_correction",
    "unregister_intervention",
]  # fmt: skip
