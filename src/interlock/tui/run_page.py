"""RunPage: one run, live or ended."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import ContentSwitcher, Input

from ..core import CheckpointInfo, Issue
from ..report import Problem, RunRow, Series, ShownRequest, TimelineMoment, merge_controls
from . import problem_rows
from .checkpoint_keys import CheckpointKeys, checkpoint_heading, draw_checkpoint
from .control_keys import KeyBar
from .drawing import Drawing, Search, Tabs
from .line import Line, clean
from .moment_rows import moment_lines
from .pager import Pager
from .row_list import RowList
from .run_head import draw_head, draw_side
from .run_reader import Counted, Read, RunRead, RunReader, RunSource, RunUnreadable, View
from .timeline import Timeline

WIDE, HIGH = 118, 30
"""From this size there is room for a side panel."""

TIMELINE, PROBLEMS, CHECKPOINTS, CONTROL = range(4)
TABS = ("Timeline", "Problems", "Checkpoints", "Control")

READING = "Reading the journal …"
NOBODY = "No requests to this run yet: p pauses it."


class RunPage(CheckpointKeys):
    """The head, the ladder and four lists; on a wide screen a side panel too."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("slash", "search", "Search", key_display="/"),
        Binding("f", "filter", "Filter"),
        Binding("i", "incident", "Incident"),
        Binding("1", "tab(0)", show=False),
        Binding("2", "tab(1)", show=False),
        Binding("3", "tab(2)", show=False),
        Binding("4", "tab(3)", show=False),
        Binding("tab,right,l", "next_tab(1)", show=False),
        Binding("shift+tab,left,h", "next_tab(-1)", show=False),
        Binding("q", "app.quit", "Quit", show=False),
    ]

    def __init__(self, source: RunSource, row: RunRow) -> None:
        super().__init__()
        self.run_id, self._row = row.run_id, row
        self.view: View | None = None
        self._series: Series | None = None
        self._problem: str | None = None
        self._entries: list[ShownRequest] = []
        self._owner_seen = row.owner_pid
        self._reader = RunReader(source, row, self)

    def compose(self) -> ComposeResult:
        yield Drawing(self._draw_head, id="head")
        yield Tabs(TABS, self._tab_counts, id="tabs")
        with Horizontal(id="middle"):
            with ContentSwitcher(initial="tab0", id="lists"):
                yield Timeline(self._reader.fetch, id="tab0")
                yield RowList(
                    problem_rows.draw_problem,
                    lambda each: each.id,
                    heading=problem_rows.problem_heading,
                    empty=READING,
                    id="tab1",
                )
                yield RowList(
                    draw_checkpoint, lambda info: info.id, heading=checkpoint_heading, empty=READING, id="tab2"
                )
                yield RowList(
                    problem_rows.draw_control,
                    lambda entry: entry.request_id,
                    heading=problem_rows.control_heading,
                    empty=NOBODY,
                    id="tab3",
                )
            yield Drawing(self._draw_side, id="side")
        yield Search(id="search")
        yield KeyBar(id="keys")

    def on_mount(self) -> None:
        self._fit(self.size.width, self.size.height)
        self.timeline.focus()
        self.timeline.load()
        self._reader.start()
        self.set_interval(1.0, self.query_one("#head", Drawing).redraw)

    def on_unmount(self) -> None:
        self._reader.stop()

    def on_resize(self, event: events.Resize) -> None:
        self._fit(event.size.width, event.size.height)

    @property
    def timeline(self) -> Timeline:
        return self.query_one("#tab0", Timeline)

    @property
    def tab(self) -> int:
        return self.query_one(Tabs).chosen

    def chosen(self) -> RunRow | None:
        return self.view.row if self.view is not None else self._row

    def checkpoints(self) -> RowList[CheckpointInfo]:
        return self.query_one("#tab2", RowList)

    def redraw(self) -> None:
        """A request was sent or answered."""
        sent, view = self.top.steering.of(self.run_id), self.view
        controls, owned = (view.controls, view.owned) if view else ((), True)
        self._entries = merge_controls(controls, sent, owned=owned, actor="you")[::-1]
        row_list = self.query_one("#tab3", RowList)
        if self._entries != row_list.items:
            row_list.show(self._entries)
        for drawing in self.query(Drawing):
            drawing.redraw()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("diff", "diff_before", "go_back"):
            return self.tab == CHECKPOINTS and bool(self.checkpoints().items)
        if action == "incident":
            return self.view is not None and bool(self.view.incidents)
        if action in ("search", "filter"):
            return self.tab == TIMELINE
        return super().check_action(action, parameters)

    def action_back(self) -> None:
        search, timeline = self.query_one(Search), self.timeline
        if not (search.has_class("asking") or timeline.text or timeline.chosen):
            self.dismiss()
            return
        search.hide()
        timeline.narrow(chosen=0, text="")
        timeline.focus()
        self.redraw()

    def action_search(self) -> None:
        self.query_one(Search).ask(self.timeline.text)

    def action_filter(self) -> None:
        self.timeline.narrow(chosen=self.timeline.chosen + 1)
        self.redraw()

    def action_tab(self, number: int) -> None:
        self.query_one(Tabs).choose(number)
        self.query_one(ContentSwitcher).current = f"tab{number}"
        self.query_one(f"#tab{number}", RowList).focus()
        self.redraw()

    def action_next_tab(self, by: int) -> None:
        self.action_tab((self.tab + by) % len(TABS))

    def action_incident(self) -> None:
        if self.view is not None and self.view.incidents:
            newest = self.view.incidents[0]
            self.top.push_screen(Pager(f"Incident {newest.id}", partial(problem_rows.incident_lines, newest)))

    @on(Tabs.Picked)
    def _picked(self, event: Tabs.Picked) -> None:
        self.action_tab(event.number)

    @on(Input.Submitted, "#search")
    def _searched(self, event: Input.Submitted) -> None:
        self.query_one(Search).hide(keep=True)
        self.timeline.narrow(text=event.value.strip())
        self.timeline.focus()
        self.redraw()

    @on(RowList.Chosen)
    def _choose(self, event: RowList.Chosen) -> None:
        item = event.item
        if isinstance(event, RowList.Moved):
            return
        if isinstance(item, TimelineMoment):
            self.top.push_screen(Pager(f"Record {item.seq}", partial(moment_lines, item)))
        elif isinstance(item, Problem | Issue):
            self.top.push_screen(Pager("Problem", partial(problem_rows.problem_lines, item)))
        elif isinstance(item, ShownRequest):
            self.top.push_screen(Pager(f"Request {item.request_id}", partial(problem_rows.control_lines, item)))
        elif isinstance(item, CheckpointInfo):
            self.action_diff()

    @on(RunRead)
    def _apply(self, event: RunRead) -> None:
        view = self.view = event.view
        self._problem = view.problem
        self._note_owner(view.row.owner_pid)
        self.timeline.add_new(event.moments)
        self._fill(PROBLEMS, view.problems, "Nothing so far.")
        self._fill(CHECKPOINTS, view.checkpoints, _no_checkpoints(view))
        self.redraw()

    @on(Read)
    def _read(self, event: Read) -> None:
        self.timeline.add_part(event.want, event.part)

    @on(Counted)
    def _counted(self, event: Counted) -> None:
        self._series = event.series
        self.query_one("#side", Drawing).redraw()

    @on(RunUnreadable)
    def _failed(self, event: RunUnreadable) -> None:
        self._problem = str(event.error)
        self.timeline.say(clean(f"Cannot read this run.\n\n{event.error}\n\nTrying again …"))
        self.redraw()

    def _note_owner(self, pid: int | None) -> None:
        """Notify of a restarted owner: it carries out what was requested meanwhile."""
        if pid is not None and self._owner_seen not in (None, pid):
            self.top.notify(f"The run's owner was restarted (process {pid}).", markup=False)
        self._owner_seen = pid or self._owner_seen

    def _fill(self, tab: int, items: tuple[object, ...], empty: str) -> None:
        row_list = self.query_one(f"#tab{tab}", RowList)
        row_list.say(empty)
        if tuple(row_list.items) != items:
            row_list.show(items)

    def _fit(self, width: int, height: int) -> None:
        self.query_one("#side", Drawing).display = width >= WIDE and height >= HIGH

    def _tab_counts(self) -> tuple[str, ...]:
        view, timeline = self.view, self.timeline
        if view is None:
            return ("", "", "", "")
        narrowed = " ".join(filter(None, (timeline.filter_name if timeline.chosen else "", timeline.text)))
        under_way = any(entry.outcome == "pending" for entry in self._entries)
        asked = f"{len(self._entries)}{'…' if under_way else ''}"
        return clean(narrowed), str(len(view.problems)), str(len(view.checkpoints)), asked

    def _draw_head(self, width: int) -> list[Line]:
        doing, now = self.top.steering.doing(self.run_id), self.top.clock.time()
        run = self.chosen() or self._row
        beside = self.query_one("#side", Drawing).display
        return draw_head(run, self.view, doing, self._problem, now, width, ladder=not beside)

    def _draw_side(self, width: int) -> list[Line]:
        if self.view is None:
            return [(("Reading …", "dim"),)]
        return draw_side(self.view, self._series, self._entries, width, self.query_one("#side").size.height)


def _no_checkpoints(view: View) -> str:
    if view.row.workspace is None:
        return "This run has no workspace, so it has no checkpoints."
    return "No checkpoints yet: one is made before and after every step that may change files."
