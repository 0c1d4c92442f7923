"""What each rung needs, and what an adapter can therefore apply."""

from __future__ import annotations

from collections.abc import Mapping

from ..core import Capability, InterventionType, RunState

NEEDS: Mapping[InterventionType, frozenset[Capability]] = {
    "soft_correction": frozenset({"inject"}),
    "context_reinforcement": frozenset({"inject"}),
    "resource_throttling": frozenset(),
    "checkpoint_rollback": frozenset(),
    "emergency_stop": frozenset({"stop"}),
}
"""What the adapter must be able to do. Throttling and rollback are the runtime's own work: throttling delays and
refuses calls and limits the process; rollback needs a workspace that can be restored, see `can_restore`."""


def can_restore(run: RunState) -> bool:
    """Whether there is a workspace to undo; whether a safe checkpoint exists, the rung itself answers."""
    return run.context.workspace is not None or bool(run.checkpoints)
