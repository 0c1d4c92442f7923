"""Recovery: checked actions, carried out."""

from .actions import VOCABULARY, Refused, parse_action
from .executor import RecoveryExecutor, RecoveryResult

__all__ = ["VOCABULARY", "RecoveryExecutor", "RecoveryResult", "Refused", "parse_action"]
