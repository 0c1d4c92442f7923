"""FleetPage: all runs at a glance."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from ..core import InterlockError
from ..report import RunRow, plural
from .background_tasks import Worker
from .control_keys import KeyBar, Steered
from .drawing import Drawing, Search
from .line import STATUS, Line, Piece, clean, flat, spread
from .row_list import RowList
from .run_reader import RunSource
from .run_rows import Preview, draw_run, heading, layout
from .words import reason_first, span, total

POLL_S = 0.2
"""Polling interval of all runs; each poll costs two stats per run."""

COUNT_S = 2.0
"""Polling interval of the inbox, which costs more."""

ORDER = {status: rank for rank, status in enumerate(STATUS)}

HIGH = 36
"""Rows from which there is room for the preview."""

EMPTY = """No runs yet.

Start one in another terminal:
    interlock run -- COMMAND

It appears here automatically."""

FILTERS: tuple[tuple[str, frozenset[str] | None], ...] = (
    ("all", None),
    ("live", frozenset(("running", "pausing", "paused", "lost", "unknown"))),
    ("ended", frozenset(("done", "limit", "aborted", "unreadable"))),
)


class FleetPage(Steered):
    """The list of runs, errors, and a few words on the run under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open", priority=False),
        Binding("slash", "search", "Search", key_display="/"),
        Binding("f", "filter", "Filter"),
        Binding("escape", "clear", "Clear", show=False),
        Binding("q", "app.quit", "Quit"),
    ]

    @dataclass
    class RunsRead(Message):
        """The runs, as they are now; `needs` is how much in the inbox needs a person."""

        rows: list[RunRow]
        problem: str | None
        needs: int

    @dataclass
    class Failed(Message):
        """Cannot read the runs."""

        error: InterlockError

    def __init__(self, source: RunSource) -> None:
        super().__init__()
        self.rows: list[RunRow] = []
        self.problem: str | None = None
        self.needs, self._counted_at = 0, float("-inf")
        self._loaded = False
        self._text, self._filter = "", 0
        self._source = source
        self._layout = layout((), hosts=self._hosts)
        self._reader: Worker[RunSource] = Worker("interlock-runs", lambda: source, self._poll, self._fail, pause=POLL_S)

    def compose(self) -> ComposeResult:
        yield Drawing(self._draw_title, id="title")
        yield RowList(
            self._draw_row, lambda row: row.run_id, heading=self._draw_heading, empty="Reading the runs …", id="runs"
        )
        yield Preview(self._source, id="preview")
        yield Drawing(self._draw_words, id="words")
        yield Search(id="search")
        yield KeyBar(id="keys")

    def on_mount(self) -> None:
        # The reading thread cannot access the app.
        self._clock = self.top.clock
        self._fit(self.size.height)
        self.query_one("#runs", RowList).focus()
        self._reader.start()
        self.set_interval(1.0, self._tick)

    def on_unmount(self) -> None:
        self._reader.stop()

    def on_resize(self, event: events.Resize) -> None:
        self._fit(event.size.height)

    def chosen(self) -> RunRow | None:
        item: RunRow | None = self.query_one("#runs", RowList).item if self.is_mounted else None
        return item

    def redraw(self) -> None:
        """A request was sent or answered."""
        self.query_one("#runs", RowList).refresh()
        self.query_one(KeyBar).redraw()

    def action_open(self) -> None:
        run = self.chosen()
        if run is not None:
            self.top.open_run(run)

    def action_search(self) -> None:
        self.query_one(Search).ask(self._text)

    def action_clear(self) -> None:
        self.query_one(Search).hide()
        self._text, self._filter = "", 0
        self._show()

    def action_filter(self) -> None:
        self._filter = (self._filter + 1) % len(FILTERS)
        self._show()

    @on(Input.Changed, "#search")
    def _searched(self, event: Input.Changed) -> None:
        self._text = event.value
        self._show()

    @on(Input.Submitted, "#search")
    def _search_done(self) -> None:
        self.query_one(Search).hide(keep=True)
        self.query_one("#runs", RowList).focus()

    @on(RowList.Chosen)
    def _choose(self, event: RowList.Chosen) -> None:
        if not isinstance(event, RowList.Moved):
            self.action_open()

    @on(RowList.Moved)
    def _moved(self) -> None:
        self._preview()
        self.query_one("#words", Drawing).redraw()
        self.query_one(KeyBar).redraw()

    @on(RunsRead)
    def _apply(self, event: RunsRead) -> None:
        if self._loaded and (event.rows, event.problem, event.needs) == (self.rows, self.problem, self.needs):
            return
        self.rows, self.problem, self.needs, self._loaded = event.rows, event.problem, event.needs, True
        self._layout = layout(self.rows, hosts=self._hosts)
        self._show()

    @on(Failed)
    def _failed(self, event: Failed) -> None:
        self.problem = str(event.error)
        self.query_one("#runs", RowList).say(clean(f"Cannot read the runs.\n\n{event.error}\n\nTrying again …"))
        self.query_one("#title", Drawing).redraw()

    def _poll(self, source: RunSource) -> None:
        # The first read is quick; sparklines follow with the next.
        rows, needs, now = source.rows(sparks=self._loaded), self.needs, time.monotonic()
        if self._loaded and now - self._counted_at >= COUNT_S:
            needs, self._counted_at = len(source.inbox(self._clock.time())), now
        self.post_message(self.RunsRead(rows, source.problem, needs))

    def _fail(self, error: InterlockError) -> None:
        self.post_message(self.Failed(error))

    def _tick(self) -> None:
        """Update the ages in the rows."""
        self.query_one("#runs", RowList).refresh()
        self.query_one("#words", Drawing).redraw()

    def _show(self) -> None:
        row_list = self.query_one("#runs", RowList)
        shown = [row for row in self.rows if self._fits(row)]
        # Live runs first, newest first within both groups.
        shown.sort(key=lambda row: not row.live)
        if self.rows and not shown:
            row_list.say(f"None of {plural(len(self.rows), 'run')} match. Esc shows all.")
        elif self._loaded:
            row_list.say(EMPTY)
        row_list.show(shown)
        self._preview()
        for drawing in self.query(Drawing):
            drawing.redraw()

    def _fit(self, height: int) -> None:
        self.query_one(Preview).display = height >= HIGH
        self._preview()

    def _preview(self) -> None:
        run = self.chosen()
        self.query_one(Preview).show_run(run.run_id if run is not None else None)

    def _fits(self, row: RunRow) -> bool:
        statuses = FILTERS[self._filter][1]
        if statuses is not None and row.status not in statuses:
            return False
        words = (row.run_id, row.name, row.status, row.outcome, row.adapter, row.model, row.issue, row.host, row.task)
        about = " ".join(filter(None, words)).lower()
        return all(word in about for word in self._text.lower().split())

    @property
    def _hosts(self) -> bool:
        return bool(self._source.hub_name)

    def _draw_row(self, row: RunRow, width: int) -> Line:
        return draw_run(row, width, self.top.clock.time(), self.top.steering.doing(row.run_id), self._layout)

    def _draw_heading(self, width: int) -> Line:
        return heading(width, self._layout)

    def _draw_title(self, width: int) -> list[Line]:
        left: list[Piece] = [("interlock", "link!"), ("  ", "")]
        if self._loaded:
            left.append((plural(len(self.rows), "run"), "strong"))
            if self.needs:
                left.append((f"  {self.needs} need{'' if self.needs > 1 else 's'} you", "warn!"))
            by_status = sorted(self.rows, key=lambda row: ORDER.get(row.status, len(ORDER)))
            counted = Counter((row.outcome or row.status).partition(" (")[0] for row in by_status)
            left += [(f"  {number} {outcome}", "") for outcome, number in counted.items()]
        right: list[Piece] = []
        if self._filter or self._text:
            right.append((f"{FILTERS[self._filter][0]} {clean(self._text)}".strip() + "  ", "warn"))
        if self._hosts:
            right.append((f"{clean(self._source.hub_name)}  ", "dim"))
        unpriced = sum(row.unpriced_tokens for row in self.rows)
        right.append((f"{total(sum(row.cost for row in self.rows), unpriced)} spent", "dim"))
        return [spread(tuple(left), tuple(right), width)]

    def _draw_words(self, width: int) -> list[Line]:
        """The task and the state of the run under the cursor."""
        if self.problem:
            return [((f"! {flat(reason_first(self.problem), width)}", "bad"),), ()]
        run = self.chosen()
        if run is None:
            return [(), ()]
        return [run_words(run, self.top.clock.time()), ((flat(run.task or "no task given"), "dim"),)]


def run_words(run: RunRow, now: float) -> Line:
    """One sentence on the state of a run."""
    if run.problem:
        return ((f"! {flat(reason_first(run.problem))}", "bad"),)
    if run.liveness is not None and run.liveness.word == "parked" and run.waiting:
        return ((f"‖ {run.liveness.words}: {flat(run.waiting)}", "warn"),)
    if run.waiting and run.live:
        return ((f"? needs you: {flat(run.waiting)}", "warn"),)
    if run.liveness is not None and run.liveness.question and run.live:
        return ((f"? needs you: {flat(run.liveness.question)}", "warn"),)
    if run.liveness is not None and run.liveness.wedged and run.live:
        return ((f"! {run.liveness.words}: {flat(run.liveness.evidence)}", "bad"),)
    if run.status == "lost":
        return (("? this run has no owner: it is not supervised", "bad"),)
    if run.status == "unknown":
        return ((f"? no contact with {flat(run.host)} for {span(now - run.updated)}", "bad"),)
    doing = f"{run.liveness.words}  " if run.liveness is not None else ""
    words = f"{doing}{run.run_id}  started {span(now - run.started)} ago, {plural(run.steps, 'step')}"
    issues = f", {plural(run.issues, 'issue')}, {plural(run.interventions, 'intervention')}"
    return ((words + issues, ""),)
