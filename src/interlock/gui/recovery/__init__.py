"""Recovery: checked actions, carried out."""

from .actions import VOCABULARY, ActionRefused, parse_action
from .executor import RecoveryExecutor, RecoveryResult

__all__ = ["VOCABULARY", "ActionRefused", "RecoveryExecutor", "RecoveryResult", "parse_action"]
