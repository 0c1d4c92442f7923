"""Start, freeze, thaw, limit and end a tree of processes, saying what held."""

from .abilities import abilities
from .handle import ProcessId, TreeHandle
from .outcome import Ability, Ended, How, LimitEvent, LimitHeld, Use
from .spawn import attach, spawn
from .tree import UNKNOWN_STATUS, Tree

__all__ = [
    "UNKNOWN_STATUS",
    "Ability",
    "Ended",
    "How",
    "LimitEvent",
    "LimitHeld",
    "ProcessId",
    "Tree",
    "TreeHandle",
    "Use",
    "abilities",
    "attach",
    "spawn",
]
