"""OwnRecord: what a run changed itself, so that a rollback can tell it from what a person changed."""

from __future__ import annotations

from collections.abc import Iterable

from .change import Change


class OwnRecord:
    """Paths with the state that the run's last change left. A path changed by anyone else since is not in it."""

    def __init__(self, states: dict[str, str] | None = None) -> None:
        self.states = dict(states or {})

    def add(self, changes: Iterable[Change]) -> None:
        """Take in changes that the run made, oldest first."""
        for change in changes:
            self.states[change.key] = change.now

    def __contains__(self, item: object) -> bool:
        return isinstance(item, tuple) and len(item) == 2 and self.states.get(item[0]) == item[1]

    def __len__(self) -> int:
        return len(self.states)
