"""A run as one row of the list of runs; and a preview of the run under the cursor, if there is room."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from msgspec import Struct
from textual.message import Message

from ..core import InterlockError
from ..report import RunRow, Story, TimelineMoment
from .background_tasks import Worker
from .drawing import Drawing
from .line import Line, Piece, fit, flat, spread, status_sign
from .moment_rows import draw_moment
from .run_reader import RunSource, View, read_view
from .timeline import Want
from .words import count, draw_ladder_row, span, spark, spend


class Column(Struct, frozen=True):
    """A column: its heading, its width, how much it may grow, and its rank (0: always shown)."""

    name: str
    width: int
    draw: Callable[[RunRow, int, float], Piece]
    rank: int = 0
    right: bool = False
    grow: int = 0


class Layout(Struct, frozen=True):
    """What the widths depend on: whether hosts are shown, and how long the words for the runs' statuses are."""

    hosts: bool = False
    statuses: frozenset[int] = frozenset()


PLAIN = Layout()


def layout(rows: Iterable[RunRow], *, hosts: bool) -> Layout:
    """The layout for these runs."""
    return Layout(hosts, frozenset(len(row.outcome or row.status) for row in rows))


def heading(width: int, shown: Layout = PLAIN) -> Line:
    """The names of the columns."""
    return tuple((fit(column.name, room, right=column.right) + "  ", "") for column, room in _columns(width, shown))


def draw_run(row: RunRow, width: int, now: float, asked: str = "", shown: Layout = PLAIN) -> Line:
    """One run; `asked` is a command that it has not answered yet."""
    pieces: list[Piece] = []
    for column, room in _columns(width, shown):
        text, style = column.draw(row, room, now)
        if column.name == "STATUS" and asked:
            text, style = f"{text[:2]}{asked}", "warn"
        pieces += [(fit(text, room, right=column.right), style), ("  ", "")]
    return tuple(pieces)


def short_model(model: str | None) -> str:
    """A model's name without its maker and its date."""
    name = (model or "–").rpartition("/")[2].removeprefix("claude-")
    head, _, tail = name.rpartition("-")
    return head if head and len(tail) == 8 and tail.isdigit() else name


def calls(row: RunRow) -> str:
    return f"{count(row.iter)}/{count(row.max)}" if row.max else count(row.iter)


def _spend(row: RunRow, _room: int, _now: float) -> Piece:
    """What it cost; the colour says how near that is to the budget's end."""
    share = row.cost / row.max_cost if row.max_cost else 0.0
    style = "bad" if share >= 1 else "warn" if share >= 0.8 else ""
    return spend(row.cost, row.max_cost, row.unpriced_tokens), style


def _status(row: RunRow, room: int, _now: float) -> Piece:
    sign, style = status_sign(row.status, row.outcome)
    words = row.outcome or row.status
    if len(words) + 2 > room:
        words = words.partition(" by ")[0]
    return f"{sign} {words}", style


def _name(row: RunRow, room: int, _now: float) -> Piece:
    name = flat(row.name or row.run_id, room + 1)
    if row.waiting and row.live:
        return f"? {name}", "warn!"
    return name, "strong" if row.status in ("running", "pausing", "paused") else ""


_COLUMNS = (
    Column("STATUS", 12, _status),
    Column("NAME", 13, _name, grow=11),
    Column("HOST", 12, lambda row, _r, _n: (flat(row.host or "", 20), "link"), rank=3),
    Column("CALLS", 6, lambda row, _r, _n: (calls(row), ""), right=True),
    Column("MODEL", 12, lambda row, _r, _n: (flat(short_model(row.model), 20), ""), rank=5),
    Column(
        "STUCK ON", 18, lambda row, _r, _n: (flat(row.issue or "–", 80), "level2" if row.issue else "dim"), 1, grow=36
    ),
    Column("INT", 3, lambda row, _r, _n: (count(row.interventions), "" if row.interventions else "dim"), 2, right=True),
    Column("SPEND", 9, _spend, right=True),
    Column("TOKENS", 6, lambda row, _r, _n: (count(row.tokens), ""), rank=7, right=True),
    Column("USEFUL", 8, lambda row, room, _n: (spark(row.spark, room), "good"), rank=4, grow=8),
    Column("SEEN", 4, lambda row, _r, now: (span(now - row.updated), "dim"), rank=6, right=True),
    Column("AGENT", 10, lambda row, _r, _n: (flat(row.adapter, 12), ""), rank=8),
)
_TASK = Column("TASK", 16, lambda row, _r, _n: (flat(row.task, 240), "dim"), rank=9)
_GAP = 2


@cache
def _columns(width: int, layout: Layout) -> tuple[tuple[Column, int], ...]:
    """The columns that fit, with their widths: the most important first, then they grow, then the task."""
    shown: list[Column] = []
    left = width + _GAP - 1
    for column in sorted((*_COLUMNS, _TASK), key=lambda column: column.rank):
        if column.name == "HOST" and not layout.hosts:
            continue
        if column.rank and left < column.width + _GAP:
            break
        shown.append(column)
        left -= column.width + _GAP
    rooms = {}
    for column in shown:
        more = max(0, min(column.grow, left))
        if column.name == "STATUS":
            # No wider than its words, where they fit: the name needs the room.
            wanted = (length + 2 - column.width for length in layout.statuses)
            more = max((extra for extra in wanted if 0 < extra <= left), default=0)
        rooms[column.name] = column.width + more
        left -= more
    last = _TASK.name if _TASK in shown else "NAME"
    rooms[last] += max(0, left)
    return tuple((column, rooms[column.name]) for column in (*_COLUMNS, _TASK) if column in shown)


ROWS = 12
POLL_S = 0.25


class RunPreview(Struct, frozen=True):
    """A run's newest timeline entries, and where it is on the ladder of interventions."""

    run_id: str
    view: View
    moments: tuple[TimelineMoment, ...]


class Preview(Drawing):
    """The ladder and the newest moments of one run; empty for a run on another machine, which must be fetched."""

    @dataclass
    class Updated(Message):
        """The preview was read again."""

        preview: RunPreview

    def __init__(self, source: RunSource, *, id: str | None = None) -> None:
        super().__init__(self._draw_preview, id=id)
        self._wanted: str | None = None
        self._preview: RunPreview | None = None
        self._story: Story | None = None
        self._reader: Worker[RunSource] = Worker(
            "interlock-preview", lambda: source, self._poll, lambda _: None, pause=POLL_S
        )

    def on_mount(self) -> None:
        self._reader.start()

    def on_unmount(self) -> None:
        self._reader.stop()

    def show_run(self, run_id: str | None) -> None:
        """Show this run, if there is room."""
        wanted = run_id if self.display else None
        if wanted != self._wanted:
            self._wanted = wanted
            self._reader.ask(self._poll)
            self.redraw()

    def on_preview_updated(self, event: Updated) -> None:
        self._preview = event.preview
        self.redraw()

    def _poll(self, source: RunSource) -> None:
        """In the reader's thread: the story stays open while the same run is shown."""
        wanted, story = self._wanted, self._story
        if story is not None and story.folder.run_id != wanted:
            story.close()
            story = self._story = None
        if wanted is None or not source.is_here(wanted):
            return
        try:
            fresh = story is None
            if story is None:
                story = self._story = source.open(wanted)
            if story.update() or fresh:
                part = Want(turn=0).read(story)
                self.post_message(self.Updated(RunPreview(wanted, read_view(story), tuple(part.moments[-ROWS:]))))
        except InterlockError:
            # The list shows what is wrong with the run.
            return

    def _draw_preview(self, width: int) -> list[Line]:
        preview = self._preview
        if preview is None or preview.run_id != self._wanted:
            return [()] * (ROWS + 1)
        name = preview.view.row.name or preview.run_id
        head = spread(((f"{name} lately", "link!"),), draw_ladder_row(preview.view.ladder), width)
        rows = [draw_moment(moment, width) for moment in preview.moments]
        return [head, *rows, *[()] * (ROWS - len(rows))]
