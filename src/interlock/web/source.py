"""Source: the dashboard's runs, with readers that stay open between requests."""

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
"""Runs whose reader stays open."""

SHARED_S = 0.08
"""How long a list of runs is shared between requests."""

FETCH_S = 1.0
"""How often one run is fetched from the hub."""


class Source(AllRuns):
    """Reads runs and sends them requests; pages share what was read. Thread-safe."""

    def __init__(self, store: Store, hub: HubClient | None = None) -> None:
        super().__init__(store, hub)
        self._stories: OrderedDict[tuple[str, str], Story] = OrderedDict()
        self._fetched: dict[int, float] = {}
        self._lock, self._rows_lock = threading.Lock(), threading.Lock()
        self._rows: list[RunRow] = []
        self._rows_read_at = float("-inf")

    def rows(self, *, sparks: bool = True) -> list[RunRow]:
        """All runs as rows; simultaneous requests share one poll."""
        with self._rows_lock:
            if time.monotonic() - self._rows_read_at > SHARED_S:
                self._rows = super().rows(sparks=sparks)
                self._rows_read_at = time.monotonic()
            return self._rows

    def story(self, run_id: str, use: str = "lines") -> Story:
        """A run's current story, shared by all requests with the same `use`: the charts of a long run take a while, and
        its timeline does not wait for them. Event streams open a story of their own."""
        key = (run_id, use)
        with self._lock:
            story = self._stories.get(key)
            # A run of this machine may have been removed since.
            if story is None or not (isinstance(story, Copy) or story.folder.path.is_dir()):
                story = self._stories[key] = self.open(run_id)
            self._stories.move_to_end(key)
            while len(self._stories) > KEPT:
                # Its reader is closed with its last reference.
                self._stories.popitem(last=False)
        self.refresh(story)
        _catch_up(story)
        return story

    def refresh(self, story: Story) -> None:
        """Fetch newer records of a remote run, at most once per FETCH_S."""
        if isinstance(story, Copy) and time.monotonic() - self._fetched.get(id(story), 0.0) > FETCH_S:
            self._fetched[id(story)] = time.monotonic()
            story.fetch()

    def resolve(self, ref: str) -> str:
        """The run id for an id, a name or a prefix; `ref` itself if there is no such run here."""
        try:
            return ref if self.is_here(ref) else self.store.find(ref).run_id
        except InterlockError:
            return ref

    def close(self) -> None:
        with self._lock:
            for story in self._stories.values():
                story.close()
            self._stories.clear()
        super().close()


def _catch_up(story: Story) -> None:
    """Read everything that is new."""
    before = -1
    while before < 0 or story.last_seq - before >= NEWS:
        before = story.last_seq
        story.update()
