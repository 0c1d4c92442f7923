"""OwnChanges: what a run changed itself, so that a rollback can leave everything else alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .change import Change
from .entry import TreeEntry, state_of

NOT_KNOWN = "possibly not this run's work"
SINCE = "changed since the rollback"
FORCIBLE = (NOT_KNOWN, SINCE)
"""Why a path that differs is left alone unless it is forced."""


Same = Callable[[str, str, TreeEntry], bool]
"""Whether what is at a path now says the same as the state that is known of it."""


class OwnChanges:
    """Paths with the state that the run's last change left. A path changed by anyone else since is not in it.

    `others` is what is said of a path that differs and is not in it; `same` looks closer at one that does.
    """

    def __init__(
        self, states: dict[str, str] | None = None, others: str = NOT_KNOWN, same: Same = lambda *_: False
    ) -> None:
        self.states = dict(states or {})
        self.others = others
        self._same = same

    def add(self, changes: Iterable[Change]) -> None:
        """Take in changes that the run made, oldest first."""
        for change in changes:
            self.states[change.key] = change.now

    def covers(self, path: str, now: TreeEntry | None) -> bool:
        """Whether a path is as the run left it, in all that counts."""
        known = self.states.get(path)
        return known == state_of(now) or (known is not None and now is not None and self._same(path, known, now))

    def __contains__(self, item: object) -> bool:
        return isinstance(item, tuple) and len(item) == 2 and self.states.get(item[0]) == item[1]

    def __len__(self) -> int:
        return len(self.states)
