"""Source: the dashboard's runs, with readers that stay open between two requests of a page."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from ..core import InterlockError
from ..journal import Store
from ..report import NEWS, AllRuns, Copy, RunRow, Story

if TYPE_CHECKING:
    from ..link import HubClient

KEPT = 12
"""Runs whose reader stays open after someone looked at them."""

SHARED_S = 0.08
"""How old a list of runs may be that is given out again."""

FETCH_S = 1.0
"""Time between two questions to the hub about one run."""


class Source(AllRuns):
    """Reads runs and sends them requests; what several pages look at is read once. Thread-safe."""

    def __init__(self, store: Store, hub: HubClient | None = None) -> None:
        super().__init__(store, hub)
        self._stories: OrderedDict[tuple[str, str], Story] = OrderedDict()
        self._fetched: dict[int, float] = {}
        self._lock, self._looking = threading.Lock(), threading.Lock()
        self._rows: list[RunRow] = []
        self._looked = float("-inf")

    def rows(self, *, sparks: bool = True) -> list[RunRow]:
        """Every run in one row; several who ask at the same time share one look."""
        with self._looking:
            if time.monotonic() - self._looked > SHARED_S:
                self._rows = super().rows(sparks=sparks)
                self._looked = time.monotonic()
            return self._rows

    def story(self, run_id: str, use: str = "lines") -> Story:
        """A run's story as it is now, shared by all who ask for one use of it: adding up a long run takes a while, and
        its timeline does not wait for that. Who follows a run opens one of its own."""
        key = (run_id, use)
        with self._lock:
            story = self._stories.get(key)
            if story is None or not self.is_known(story):
                story = self._stories[key] = self.open(run_id)
            self._stories.move_to_end(key)
            while len(self._stories) > KEPT:
                # Its reader is closed when the last who holds it lets go.
                self._stories.popitem(last=False)
        self.refresh(story)
        _catch_up(story)
        return story

    def refresh(self, story: Story) -> None:
        """Fetch what the hub has beyond, now and then; a run of this machine needs none of that."""
        if isinstance(story, Copy) and time.monotonic() - self._fetched.get(id(story), 0.0) > FETCH_S:
            self._fetched[id(story)] = time.monotonic()
            story.fetch()

    def resolve(self, ref: str) -> str:
        """The id that is meant by an id, a name or the beginning of one; what it was if there is no such run here."""
        try:
            return ref if self.is_here(ref) else self.store.find(ref).run_id
        except InterlockError:
            return ref

    def is_known(self, story: Story) -> bool:
        """Whether a story that was opened before still has its run."""
        return isinstance(story, Copy) or story.folder.path.is_dir()

    def close(self) -> None:
        with self._lock:
            for story in self._stories.values():
                story.close()
            self._stories.clear()
        super().close()


def _catch_up(story: Story) -> None:
    """Take in all that is new, however much that is."""
    before = -1
    while before < 0 or story.last_seq - before >= NEWS:
        before = story.last_seq
        story.update()
