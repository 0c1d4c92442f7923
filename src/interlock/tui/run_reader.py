"""RunDesk: reads one run in threads of its own, and tells the page what is new."""

from __future__ import annotations

from textual.message import Message
from textual.message_pump import MessagePump

from ..core import InterlockError
from ..report import Copy, RunRow, Series, Story
from .background_tasks import Worker
from .run_source import RunSource
from .timeline import Part, Want
from .view import News, take_view

LOOK_S = 0.1
"""Time between two looks at the journal; a check of one that has not changed costs microseconds."""

FETCH_S = 1.0
"""The same for a run on another machine, whose records have to be fetched."""

CHART_S = 2.0
POINTS = 120


class RunRead(Message):
    """The run continued, or was looked at for the first time."""

    def __init__(self, news: News) -> None:
        super().__init__()
        self.news = news


class Read(Message):
    """A part of the timeline was read."""

    def __init__(self, want: Want, part: Part) -> None:
        super().__init__()
        self.want, self.part = want, part


class Counted(Message):
    """The series of the charts."""

    def __init__(self, series: Series) -> None:
        super().__init__()
        self.series = series


class RunUnreadable(Message):
    """The run cannot be read."""

    def __init__(self, error: InterlockError) -> None:
        super().__init__()
        self.error = error


class RunDesk:
    """Two readers: one that is quick to say what is new, and one that adds everything up, which takes longer."""

    def __init__(self, place: RunSource, row: RunRow, page: MessagePump) -> None:
        self._place, self._run_id, self._host, self._page = place, row.run_id, row.host, page
        self._seen: tuple[object, ...] = ()
        self._local = place.is_here(row.run_id)
        pause = LOOK_S if self._local else FETCH_S
        name = f"interlock-run-{row.run_id}"
        self._reader = Worker(name, self._open, self._look, self._fail, close=_close, pause=pause)
        self._counter = Worker(f"{name}-charts", self._open, self._count, _ignore, close=_close, pause=CHART_S)

    def start(self) -> None:
        self._reader.start()
        if self._local:
            self._counter.start()

    def stop(self) -> None:
        self._reader.stop()
        self._counter.stop()

    def fetch(self, want: Want) -> None:
        """Read a part of the timeline."""

        def read(story: Story) -> None:
            self._page.post_message(Read(want, want.read(story)))

        self._reader.ask(read)

    def _open(self) -> Story:
        # Results of an earlier story no longer count.
        self._seen = ()
        return self._place.open(self._run_id)

    def _look(self, story: Story) -> None:
        if isinstance(story, Copy):
            story.fetch()
        moments = story.update()
        away = isinstance(story, Copy) and story.is_unknown
        seen = (story.last_seq, story.summary, story.problem, away)
        if seen == self._seen:
            return
        self._seen = seen
        self._page.post_message(RunRead(News(take_view(story, self._host, away=away), moments)))
        if not self._local:
            # One copy of what is fetched over the network is enough.
            self._count(story)

    def _count(self, story: Story) -> None:
        self._page.post_message(Counted(story.series(POINTS)))

    def _fail(self, error: InterlockError) -> None:
        self._page.post_message(RunUnreadable(error))


def _close(story: Story) -> None:
    story.close()


def _ignore(_error: InterlockError) -> None:
    """The other reader says why a run cannot be read."""
