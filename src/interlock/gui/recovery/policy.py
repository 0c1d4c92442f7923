"""Policies: what helps against what, as data. Each has steps to try in turn and what must be right afterwards."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from msgspec import Struct

from ...core import from_json

NEED_EDITOR = ("focus_vscode", "open_file", "clear_notifications", "key ctrl+1")
"""Actions that mean something in the editor only; in a browser, ctrl+1 goes to another page."""


class RecoveryPolicy(Struct, frozen=True):
    """What to do about one kind of trouble.

    `steps` are lists of actions, tried in turn until one has helped: a click may have come before a dialog listened.
    `then` are the topics about which no layer may report a problem afterwards.
    """

    kind: str
    steps: tuple[tuple[str, ...], ...]
    then: tuple[str, ...]

    def actions(self, attempt: int, expected_file: str | None, *, editor: bool = True) -> tuple[str, ...]:
        """The actions of an attempt (from 0); the first list again when there are no more.

        Without an `editor` those that need one are left out, and nothing is left if they were all.
        """
        chosen = self.steps[attempt % len(self.steps)]
        if not editor:
            chosen = tuple(action for action in chosen if not action.startswith(NEED_EDITOR))
            chosen = () if all(action.startswith("wait ") for action in chosen) else chosen
        if expected_file is None:
            chosen = tuple(action for action in chosen if "{expected_file}" not in action)
        return tuple(action.replace("{expected_file}", expected_file or "") for action in chosen)


class _Table(Struct, frozen=True):
    policies: tuple[RecoveryPolicy, ...]


def find_policy(kind: str) -> RecoveryPolicy | None:
    """The policy for a kind of trouble; None if there is none."""
    return _table().get(kind)


@cache
def _table() -> dict[str, RecoveryPolicy]:
    raw = (Path(__file__).parent / "policies.json").read_bytes()
    return {policy.kind: policy for policy in from_json(raw, _Table).policies}
