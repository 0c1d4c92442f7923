"""RunPage: one run, live or long over."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import ContentSwitcher, Footer, Input

from ..core import CheckpointInfo, InterlockError, Issue
from ..report import Moment, RunRow, Series, Story
from .checkpoint_rows import checkpoint_heading, draw_checkpoint, plan_words
from .control_rows import Entry, control_heading, draw_control, gather
from .drawing import Drawing
from .errand import Desk, run_errand
from .going_back import go_back, preview, read_patch
from .incident_words import incident_lines
from .issue_rows import draw_issue, issue_heading, issue_lines
from .ladder import draw_ladder_row, empty_ladder
from .line import Line, Piece, clean, flat, spread
from .listing import Listing
from .moment_rows import moment_lines
from .pager import Pager, text_lines
from .palette import status_sign
from .place import Copy, Place
from .question import Question
from .run_rows import iteration, short_model
from .search import Search
from .side import draw_budget, draw_side
from .steered import LIVE, Steered
from .tabs import Tabs
from .timeline import Part, Timeline, Want
from .view import News, View, take_view
from .words import span

LOOK_S = 0.1
"""Time between two looks at the journal; a look at one that has not changed costs microseconds."""

FETCH_S = 1.0
"""The same for a run on another machine, whose records have to be fetched."""

CHART_S = 2.0
POINTS = 120

WIDE, HIGH = 118, 30
"""From this size on there is room for a side."""

TABS = ("Timeline", "Issues", "Checkpoints", "Control")


class RunPage(Steered):
    """The header, the ladder, four lists, and on a wide screen everything at once."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("slash", "search", "Search", key_display="/"),
        Binding("f", "filter", "Filter"),
        Binding("1", "tab(0)", show=False),
        Binding("2", "tab(1)", show=False),
        Binding("3", "tab(2)", show=False),
        Binding("4", "tab(3)", show=False),
        Binding("tab,right,l", "next_tab(1)", show=False, priority=False),
        Binding("shift+tab,left,h", "next_tab(-1)", show=False),
        Binding("d", "diff", "Diff"),
        Binding("D", "diff_before", "Diff to the one before", show=False),
        Binding("b", "go_back", "Roll back"),
        Binding("i", "incident", "Incident"),
        Binding("q", "app.quit", "Quit", show=False),
    ]

    class Looked(Message):
        """The run went on, or was looked at for the first time."""

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

    class Failed(Message):
        """The run cannot be read."""

        def __init__(self, error: InterlockError) -> None:
            super().__init__()
            self.error = error

    def __init__(self, place: Place, row: RunRow) -> None:
        super().__init__()
        self.run_id, self._place, self._host = row.run_id, place, row.host
        self._row = row
        self.view: View | None = None
        self._series: Series | None = None
        self._problem: str | None = None
        self._entries: list[Entry] = []
        self._owner_seen = row.owner_pid
        self._seen: tuple[object, ...] = ()
        pause = LOOK_S if place.is_local(row.run_id) else FETCH_S
        name = f"interlock-run-{row.run_id}"
        self._desk: Desk[Story] = Desk(name, self._open, self._look, self._fail, close=lambda s: s.close(), pause=pause)
        self._charts: Desk[Story] = Desk(
            f"{name}-charts", self._open, self._count, lambda _: None, close=lambda s: s.close(), pause=CHART_S
        )

    def compose(self) -> ComposeResult:
        yield Drawing(self._draw_head, id="head")
        yield Tabs(TABS, self._tab_counts, id="tabs")
        with Horizontal(id="middle"):
            with ContentSwitcher(initial="tab0", id="lists"):
                yield Timeline(self._fetch, id="tab0")
                yield Listing(draw_issue, lambda i: i.id, heading=issue_heading, empty="Reading …", id="tab1")
                yield Listing(draw_checkpoint, lambda c: c.id, heading=checkpoint_heading, empty="Reading …", id="tab2")
                yield Listing(draw_control, lambda e: e.request_id, heading=control_heading, empty="Reading …", id="tab3")
            yield Drawing(self._draw_side, id="side")
        yield Search(id="search")
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        self._fit(self.size.width, self.size.height)
        self.timeline.focus()
        self._desk.start()
        self.timeline.load()
        self._charts.start()
        self.set_interval(1.0, self._tick)

    def on_unmount(self) -> None:
        self._desk.stop()
        self._charts.stop()

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

    def redraw(self) -> None:
        """Something was asked of the run, or answered."""
        self._gather()
        self._redraw()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("diff", "diff_before", "go_back"):
            return self.tab == 2
        if action == "incident":
            return self.view is not None and bool(self.view.incidents)
        if action in ("search", "filter"):
            return self.tab == 0
        return super().check_action(action, parameters)

    def action_back(self) -> None:
        search, timeline = self.query_one(Search), self.timeline
        if search.has_class("asking") or timeline.text or timeline.filter:
            search.put_away()
            timeline.narrow(filter=0, text="")
            timeline.focus()
            self._redraw()
            return
        self.dismiss()

    def action_search(self) -> None:
        self.query_one(Search).ask(self.timeline.text)

    def action_filter(self) -> None:
        self.timeline.narrow(filter=self.timeline.filter + 1)
        self._redraw()

    def action_tab(self, number: int) -> None:
        self.query_one(Tabs).choose(number)
        self.query_one(ContentSwitcher).current = f"tab{number}"
        self.query_one(f"#tab{number}", Listing).focus()
        self.refresh_bindings()

    def action_next_tab(self, by: int) -> None:
        self.action_tab((self.tab + by) % len(TABS))

    def action_diff(self) -> None:
        info = self._checkpoint()
        if info is not None:
            self._page_patch(f"From {info.id} to the workspace now", info.id, None)

    def action_diff_before(self) -> None:
        info = self._checkpoint()
        listing = self.query_one("#tab2", Listing)
        earlier = listing.items[listing.cursor + 1 :]
        if info is not None and earlier:
            self._page_patch(f"From {earlier[0].id} to {info.id}", earlier[0].id, info.id)
        elif info is not None:
            self.top.notify("This is the first checkpoint: there is none before it.", markup=False)

    def action_go_back(self) -> None:
        info = self._checkpoint()
        if info is None:
            return
        self.top.notify(f"Looking at what going back to {info.id} would do …", markup=False)
        run_errand(
            "interlock-preview",
            lambda: preview(self._place, self.run_id, info.id),
            lambda plan: self.top.call_later(self._confirm_rollback, info, plan),
            lambda error: self.top.call_later(self.top.complain, str(error)),
        )

    def action_incident(self) -> None:
        if self.view is not None and self.view.incidents:
            newest = self.view.incidents[0]
            self.top.push_screen(Pager(f"Incident {newest.id}", incident_lines(newest, self._text_width)))

    @on(Tabs.Picked)
    def _picked(self, event: Tabs.Picked) -> None:
        self.action_tab(event.number)

    @on(Input.Submitted, "#search")
    def _searched(self, event: Input.Submitted) -> None:
        self.query_one(Search).put_away(keep=True)
        self.timeline.narrow(text=event.value.strip())
        self.timeline.focus()
        self._redraw()

    @on(Listing.Chosen)
    def _choose(self, event: Listing.Chosen) -> None:
        if isinstance(event, Listing.Moved):
            return
        item, width = event.item, self._text_width
        if isinstance(item, Moment):
            self.top.push_screen(Pager(f"Record {item.seq}", moment_lines(item, width)))
        elif isinstance(item, Issue):
            self.top.push_screen(Pager("Issue", issue_lines(item, width)))
        elif isinstance(item, CheckpointInfo):
            self.action_diff()
        elif isinstance(item, Entry):
            words = f"{item.command}\n\n{item.message or 'no answer yet'}\n\nreason: {item.reason or '–'}\nasked by: "
            self.top.push_screen(Pager(f"Request {item.request_id}", text_lines(words + (item.actor or "–"), width)))

    @on(Looked)
    def _take(self, event: Looked) -> None:
        news = event.news
        first = self.view is None
        self.view, self._problem = news.view, news.view.problem
        self._note_owner(news.view.row.owner_pid)
        if first or news.moments:
            self.timeline.hear(news.moments)
        self._fill(1, news.view.issues, "No issues so far.")
        self._fill(2, news.view.checkpoints, _no_checkpoints(news.view))
        self._gather()
        self._redraw()
        self.refresh_bindings()

    @on(Read)
    def _read(self, event: Read) -> None:
        self.timeline.take(event.want, event.part)

    @on(Counted)
    def _counted(self, event: Counted) -> None:
        self._series = event.series
        self.query_one("#side", Drawing).redraw()

    @on(Failed)
    def _failed(self, event: Failed) -> None:
        self._problem = str(event.error)
        self.timeline.say(clean(f"This run cannot be read.\n\n{event.error}\n\nTrying again …"))
        self._redraw()

    def _open(self) -> Story:
        return self._place.open(self.run_id)

    def _look(self, story: Story) -> None:
        """In the desk's thread: whatever is new goes to the screen."""
        if isinstance(story, Copy):
            story.fetch()
        moments = story.update()
        seen = (story.last_seq, story.summary, story.problem)
        if seen != self._seen:
            self._seen = seen
            self.post_message(self.Looked(News(take_view(story, self._host), moments)))

    def _count(self, story: Story) -> None:
        if isinstance(story, Copy):
            story.fetch()
        story.update()
        self.post_message(self.Counted(story.series(POINTS)))

    def _fetch(self, want: Want) -> None:
        def read(story: Story) -> None:
            self.post_message(self.Read(want, want.read(story)))

        self._desk.ask(read)

    def _fail(self, error: InterlockError) -> None:
        self.post_message(self.Failed(error))

    def _note_owner(self, pid: int | None) -> None:
        """An owner that came back is worth a word: what was asked meanwhile is carried out by it."""
        if pid is not None and self._owner_seen not in (None, pid):
            self.top.notify(f"The run's owner was started again (process {pid}).", markup=False)
        self._owner_seen = pid or self._owner_seen

    def _fill(self, tab: int, items: tuple[object, ...], empty: str) -> None:
        listing = self.query_one(f"#tab{tab}", Listing)
        listing.say(empty)
        if len(items) != len(listing.items) or (items and items[0] != listing.items[0]):
            listing.show(items)

    def _gather(self) -> None:
        """The control history from the journal and from what was asked here."""
        view = self.view
        wishes = self.top.steering.of(self.run_id)
        self._entries = gather(view.controls if view else (), wishes, owned=view.owned if view else True)
        listing = self.query_one("#tab3", Listing)
        listing.say("Nobody has asked this run for anything yet: p pauses it.")
        if self._entries != listing.items:
            listing.show(self._entries)

    def _checkpoint(self) -> CheckpointInfo | None:
        item: CheckpointInfo | None = self.query_one("#tab2", Listing).item
        return item

    def _page_patch(self, title: str, a: str, b: str | None) -> None:
        pager = Pager(title, waiting="Comparing …")
        self.top.push_screen(pager)
        run_errand(
            "interlock-diff",
            lambda: read_patch(self._place, self.run_id, a, b),
            lambda lines: self.top.call_later(partial(pager.fill, lines, none="No difference.")),
            lambda error: self.top.call_later(pager.fail, str(error)),
        )

    def _confirm_rollback(self, info: CheckpointInfo, plan: object) -> None:
        from ..checkpoint import Plan

        assert isinstance(plan, Plan)
        run = self.chosen()
        if run is None:
            return
        live = run.status in LIVE and run.owner_pid is not None
        if not plan.changes:
            text = plan_words(plan, live=live)
            self.top.push_screen(Question(f"Nothing to take back to {info.id}", text, yes="Good", no="Back"))
            return
        question = Question(
            f"Roll back to {info.id}?", plan_words(plan, live=live), yes="Roll back", no="Leave it", hurts=True
        )
        self.top.push_screen(question, lambda answers: self._roll_back(info, run, live, answers))

    def _roll_back(self, info: CheckpointInfo, run: RunRow, live: bool, answers: dict[str, str] | None) -> None:
        if answers is None:
            return
        if live:
            self.top.send("rollback", run, {"to": info.id})
            return
        run_errand(
            "interlock-rollback",
            lambda: go_back(self._place, self.run_id, info.id),
            lambda words: self.top.call_later(partial(self.top.notify, words, markup=False, timeout=10)),
            lambda error: self.top.call_later(self.top.complain, str(error)),
        )

    def _tick(self) -> None:
        self.query_one("#head", Drawing).redraw()

    def _redraw(self) -> None:
        for drawing in self.query(Drawing):
            drawing.redraw()
        self.query_one(Tabs).refresh()

    def _fit(self, width: int, height: int) -> None:
        self.query_one("#side", Drawing).display = width >= WIDE and height >= HIGH
        self.set_class(height < HIGH, "low")

    @property
    def _text_width(self) -> int:
        return max(20, self.size.width - 8)

    def _tab_counts(self) -> tuple[str, ...]:
        view = self.view
        if view is None:
            return ("", "", "", "")
        narrowed = " ".join(filter(None, (self.timeline.filter_name if self.timeline.filter else "", self.timeline.text)))
        waiting = sum(entry.outcome in ("sending", "pending") for entry in self._entries)
        return (
            clean(narrowed),
            str(view.row.issues),
            str(len(view.checkpoints)),
            f"{len(self._entries)}{'…' if waiting else ''}",
        )

    def _draw_head(self, width: int) -> list[Line]:
        run = self.chosen()
        if run is None:
            return [()]
        sign, style = status_sign(run.status)
        doing = self.top.steering.doing(self.run_id)
        left: list[Piece] = [(flat(run.name or run.run_id, 40), "strong"), (f"  {sign} {run.status}", style)]
        if doing:
            left.append((f"  {doing}", "warn"))
        left.append((f"  iter {iteration(run)}  {flat(short_model(run.model), 24)}", ""))
        lines = [
            spread(tuple(left), draw_budget(run.cost, run.max_cost, 10), width),
            spread(((flat(run.task or "no task was given", width), "dim"),), ((self._age(run), "dim"),), width),
            self._banner(run) or draw_ladder_row(self.view.ladder if self.view else empty_ladder()),
        ]
        return lines

    def _age(self, run: RunRow) -> str:
        now = self.top.clock.time()
        if run.ended:
            return f"took {span(run.ended - run.started)}, ended {span(now - run.ended)} ago"
        return f"started {span(now - run.started)} ago"

    def _banner(self, run: RunRow) -> Line | None:
        """What must be known before anything else."""
        view = self.view
        if self._problem:
            return ((f"! {flat(self._problem)}", "bad"),)
        if view is not None and view.incidents and view.incidents[0].status == "open":
            return (("‼ emergency stop: ", "bad"), (f"i shows the report and the four ways on  {view.incidents[0].id}", ""))
        if view is not None and view.waiting is not None and run.status in LIVE:
            keys = "a approve, x reject" if view.waiting.kind == "approval" else "r lets it go on"
            return ((f"? waits for you ({keys}): ", "warn!"), (flat(view.waiting.text), ""))
        if run.status == "lost":
            return (("? nobody owns this run now: what you ask waits 30 s for an owner to come back", "bad"),)
        return None

    def _draw_side(self, width: int) -> list[Line]:
        if self.view is None:
            return [(("Reading …", "dim"),)]
        return draw_side(self.view, self._series, self._entries, width, self.query_one("#side").size.height)


def _no_checkpoints(view: View) -> str:
    if view.row.workspace is None:
        return "This run has no workspace: no checkpoints are made of it."
    return "No checkpoints yet: one is made before and after every step that may change files."

