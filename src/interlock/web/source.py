"""Source: where the dashboard's runs are: this machine's store, and a hub where one is given."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from ..control import Answer, Request
from ..core import InterlockError, InvalidState, NotFound
from ..journal import RunFolder, Store
from ..link import ask_owner
from ..link.owner import Notice
from ..report import Fleet, RunRow, Story
from ..report.copy import Copies, Copy
from ..report.story import NEWS

if TYPE_CHECKING:
    from ..link.hub_client import HubClient

KEPT = 12
"""Runs whose reader stays open after somebody looked at them."""

SHARED_S = 0.08
"""How old a list of runs may be that is given out again."""

FETCH_S = 1.0
"""Time between two questions to the hub about one run."""


class Source:
    """Reads runs and sends them requests. Thread-safe."""

    def __init__(self, store: Store, hub: HubClient | None = None) -> None:
        self.store, self.hub = store, hub
        self.fleet = Fleet(store, hub)
        self._stories: OrderedDict[tuple[str, str], Story] = OrderedDict()
        self._fetched: dict[int, float] = {}
        self._copies = Copies(hub) if hub is not None else None
        self._lock, self._looking = threading.Lock(), threading.Lock()
        self._rows: list[RunRow] = []
        self._looked = float("-inf")

    def rows(self, *, sparks: bool = True) -> list[RunRow]:
        """Every run in one row; several who ask at the same time share one look."""
        with self._looking:
            if time.monotonic() - self._looked > SHARED_S:
                self._rows = self.fleet.rows(sparks=sparks)
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

    def open(self, run_id: str) -> Story:
        """A story of one's own, of a run here or elsewhere."""
        if self.is_here(run_id):
            return Story.open(RunFolder(self.store.root / run_id))
        if self._copies is not None:
            return self._copies.open(run_id)
        raise NotFound(f"there is no run {run_id[:80]!r}", todo="It may have been removed.")

    def refresh(self, story: Story) -> None:
        """Fetch what the hub has beyond, now and then; a run of this machine needs none of that."""
        if isinstance(story, Copy) and time.monotonic() - self._fetched.get(id(story), 0.0) > FETCH_S:
            self._fetched[id(story)] = time.monotonic()
            story.fetch()

    def folder(self, run_id: str) -> RunFolder:
        """The folder of a run of this machine, by its whole id."""
        if self.is_here(run_id):
            return RunFolder(self.store.root / run_id)
        host = self.host_of(run_id)
        if host is not None:
            raise InvalidState(
                f"the files of this run are on {host}", todo=f"Look at them with interlock web on {host}."
            )
        raise NotFound(f"there is no run {run_id[:80]!r}", todo="It may have been removed.")

    def resolve(self, ref: str) -> str:
        """The id that is meant by an id, a name or the beginning of one; what it was if there is no such run here."""
        try:
            return ref if self.is_here(ref) else self.store.find(ref).run_id
        except InterlockError:
            return ref

    def host_of(self, run_id: str) -> str | None:
        """The other machine that a run is on; None if it is here or nowhere."""
        if self.hub is None or self.is_here(run_id):
            return None
        return next((run.host for run in self.hub.runs() if run.summary.run_id == run_id), None)

    def is_here(self, run_id: str) -> bool:
        """Whether the run's folder is in this machine's store."""
        return is_plain_name(run_id) and (self.store.root / run_id).is_dir()

    def is_known(self, story: Story) -> bool:
        """Whether a story that was opened before still has its run."""
        return isinstance(story, Copy) or story.folder.path.is_dir()

    def ask(self, request: Request, timeout: float, notice: Notice) -> Answer:
        """Send a request to a run, here or elsewhere, and wait for its one answer."""
        run_id = request.target.run_id
        if self.hub is not None and not self.is_here(run_id):
            return self.hub.ask(request, timeout=timeout, notice=notice)
        return ask_owner(self.folder(run_id), request, timeout=timeout, notice=notice)

    def close(self) -> None:
        with self._lock:
            for story in self._stories.values():
                story.close()
            self._stories.clear()
        if self.hub is not None:
            self.hub.close()
        if self._copies is not None:
            self._copies.close()


def is_plain_name(name: str) -> bool:
    """Whether a name can be that of a run's folder, and of nothing outside the store."""
    return bool(name) and name[0] != "." and not any(c in name for c in "/\\\0") and len(name) <= 200


def _catch_up(story: Story) -> None:
    """Take in all that is new, however much that is."""
    before = -1
    while before < 0 or story.last_seq - before >= NEWS:
        before = story.last_seq
        story.update()
