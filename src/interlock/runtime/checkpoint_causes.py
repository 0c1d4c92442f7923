"""Causes: why a checkpoint was made, where later decisions ask for it."""

from __future__ import annotations

AFTER_STEP = "after step"
END_OF_TURN = "end of turn"
MEANWHILE = "meanwhile"
"""Made while a process worked whose steps are not visible."""

OWN = frozenset((AFTER_STEP, MEANWHILE))
"""What changed since the checkpoint before one with such a cause is the run's own work."""
