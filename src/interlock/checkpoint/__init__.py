"""Snapshot, diff, restore and undo of a workspace."""

from .change import Change
from .checkpoints import Checkpoints, Freeze
from .own import OwnRecord
from .plan import LeftAlone, Plan
from .rollback import Restored

__all__ = ["Change", "Checkpoints", "Freeze", "LeftAlone", "OwnRecord", "Plan", "Restored"]
