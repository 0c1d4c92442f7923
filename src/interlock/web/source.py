"""Source: where the dashboard's runs are: this machine's store, and a hub where one is given."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from ..control import Answer, Request
from ..core import InvalidState, NotFound
from ..journal import RunFolder, Store
from ..link import ask_owner
from ..link.owner import Notice
from ..report import Fleet, RunRow, Story
from ..report.story import NEWS

if TYPE_CHECKING:
    from ..link.hub_client import HubClient

KEPT = 12
"""Runs whose reader stays open after somebody looked at them."""


class Source:
    """Reads runs and sends them requests. Thread-safe."""

    def __init__(self, store: Store, hub: HubClient | None = None) -> None:
        self.store, self.hub = store, hub
        self.fleet = Fleet(store, hub)
        self._stories: OrderedDict[str, Story] = OrderedDict()
        self._lock = threading.Lock()

    def rows(self) -> list[RunRow]:
        return self.fleet.rows()

    def story(self, run_id: str) -> Story:
        """A run's story as it is now, shared by all who ask once. Who follows a run opens one of its own."""
        folder = self.folder(run_id)
        with self._lock:
            story = self._stories.get(folder.run_id)
            if story is None:
                story = self._stories[folder.run_id] = Story.open(folder)
            self._stories.move_to_end(folder.run_id)
            while len(self._stories) > KEPT:
                # Whoever still holds it reads it again from the store.
                self._stories.popitem(last=False)
        catch_up(story)
        return story

    def folder(self, run_id: str) -> RunFolder:
        """The folder of a run of this machine, by its whole id."""
        folder = RunFolder(self.store.root / run_id) if is_plain_name(run_id) else None
        if folder is not None and folder.path.is_dir():
            return folder
        host = self.host_of(run_id)
        if host is not None:
            raise InvalidState(f"run {run_id} is on {host}", todo=f"Look at it there: interlock web on {host}.")
        raise NotFound(f"there is no run {run_id[:80]!r}", todo="It may have been removed. See the list of runs.")

    def host_of(self, run_id: str) -> str | None:
        """The other machine that a run is on; None if it is here or nowhere."""
        if self.hub is None:
            return None
        return next((run.host for run in self.hub.runs() if run.summary.run_id == run_id), None)

    def ask(self, request: Request, timeout: float, notice: Notice) -> Answer:
        """Send a request to a run, here or elsewhere, and wait for its one answer."""
        run_id = request.target.run_id
        if self.hub is not None and not (is_plain_name(run_id) and (self.store.root / run_id).is_dir()):
            return self.hub.ask(request, timeout=timeout, notice=notice)
        return ask_owner(self.folder(run_id), request, timeout=timeout, notice=notice)

    def close(self) -> None:
        with self._lock:
            for story in self._stories.values():
                story.close()
            self._stories.clear()
        if self.hub is not None:
            self.hub.close()


def catch_up(story: Story) -> None:
    """Take in all that is new, however much that is."""
    before = -1
    while story.last_seq - before >= NEWS or before < 0:
        before = story.last_seq
        story.update()


def is_plain_name(name: str) -> bool:
    """Whether a name can be that of a run's folder, and of nothing outside the store."""
    return bool(name) and name[0] != "." and not any(c in name for c in "/\\\0") and len(name) <= 200
