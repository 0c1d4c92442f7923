"""Steering: what was asked of runs from here, and the word for what a run has not answered yet."""

from __future__ import annotations

from ..link.requests import Requests

DOING: dict[str, str] = {
    "pause": "pausing…",
    "resume": "resuming…",
    "cancel": "ending…",
    "escalate": "escalating",
    "approve": "approving",
    "reject": "rejecting…",
    "rollback": "going back",
}
"""What a run is shown as while it has not answered: never as what was asked for."""


class Steering(Requests):
    """The requests of the terminal UI."""

    def doing(self, run_id: str) -> str:
        """A word for what a run was asked and has not answered yet; empty where there is nothing."""
        waiting = [sent for sent in self.of(run_id) if sent.state == "sent"]
        return DOING[waiting[-1].command] if waiting else ""
