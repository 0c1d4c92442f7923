"""Snapshot, diff, restore and undo of a workspace."""

from .change import Change
from .checkpoints import Checkpoints, Freeze
from .own_changes import OwnChanges
from .plan import LeftAlone, RestorePlan
from .rollback import Restored

__all__ = ["Change", "Checkpoints", "Freeze", "LeftAlone", "OwnChanges", "RestorePlan", "Restored"]
