"""Start, freeze, thaw, limit and end a tree of processes, saying what held."""

from .containment_check import abilities
from .handle import ProcessId, TreeHandle
from .outcome import Ability, EndOutcome, FreezeOutcome, LimitEvent, LimitHeld, Use
from .spawn import attach, spawn
from .tree import UNKNOWN_STATUS, ProcessTree

__all__ = [
    "UNKNOWN_STATUS",
    "Ability",
    "EndOutcome",
    "FreezeOutcome",
    "LimitEvent",
    "LimitHeld",
    "ProcessId",
    "ProcessTree",
    "TreeHandle",
    "Use",
    "abilities",
    "attach",
    "spawn",
]
