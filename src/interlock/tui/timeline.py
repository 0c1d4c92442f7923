"""Timeline: a list of a run's moments that loads more on scrolling; never reads the whole run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from ..report import Story, TimelineMoment
from .line import clean
from .moment_rows import FILTERS, draw_moment, fold, moment_heading
from .row_list import RowList

PAGE = 300
"""Moments that are read at a time."""

MOST = 6_000
"""Moments in memory at most; beyond, those at the far end are dropped."""


NEAR = 60
"""Rows that are searched for the call of a new result and for the same finding."""


class Want(Struct, frozen=True, kw_only=True):
    """A part of the timeline to read: the newest, the first, or what is before or after a number."""

    turn: int
    before: int | None = None
    after: int | None = None
    kinds: frozenset[str] | None = None
    quiet: bool = False
    text: str = ""

    def read(self, story: Story) -> Part:
        """Read until there is something to show, or nothing more to read."""
        before, after, shown = self.before, self.after, list[TimelineMoment]()
        first = last = 0
        while True:
            page = story.page(before=before, after=after, limit=PAGE, kinds=self.kinds, text=self.text or None)
            if page:
                first, last = page[0].seq if after is None else first or page[0].seq, max(last, page[-1].seq)
            fitting = [moment for moment in page if self.fits(moment)]
            shown = fitting + shown if after is None else shown + fitting
            if len(page) < PAGE or len(shown) >= PAGE // 4:
                return Part(shown, first, last, len(page) < PAGE)
            if after is None:
                before = first
            else:
                after = last

    def fits(self, moment: TimelineMoment) -> bool:
        """Whether it is shown: what matters little is left out unless selected by kind or text."""
        if self.kinds is not None:
            return moment.kind in self.kinds
        return self.quiet or bool(self.text) or moment.level != "quiet"


class Part(Struct, frozen=True):
    """What was read: the moments to show, the range of records, and whether nothing is beyond."""

    moments: list[TimelineMoment]
    first: int
    last: int
    ended: bool


class Timeline(RowList[TimelineMoment]):
    """Moments, newest last. `fetch` reads a part in another thread, which then goes to `add_part`."""

    def __init__(self, fetch: Callable[[Want], None], *, id: str | None = None) -> None:
        super().__init__(
            draw_moment,
            lambda moment: moment.seq,
            heading=moment_heading,
            empty="Reading the journal …",
            follow=True,
            id=id,
        )
        self._fetch = fetch
        self._turn = 0
        self._busy = False
        self._at_start = self._at_newest = False
        self._first = self._last = 0
        self.chosen = 0
        self.text = ""

    @property
    def kinds(self) -> frozenset[str] | None:
        return FILTERS[self.chosen][1]

    @property
    def filter_name(self) -> str:
        return FILTERS[self.chosen][0]

    def load(self) -> None:
        """Read the newest moments that fit."""
        self._turn += 1
        self._busy = True
        self._fetch(self._want())

    def narrow(self, *, chosen: int | None = None, text: str | None = None) -> None:
        """Show only some moments: those of one of the filters, those with a text."""
        self.chosen = self.chosen if chosen is None else chosen % len(FILTERS)
        self.text = self.text if text is None else text
        self.load()

    def add_part(self, want: Want, part: Part) -> None:
        """A part has been read."""
        if want.turn != self._turn:
            return
        self._busy = False
        if want.before is not None:
            self._at_start, self._first = part.ended, part.first or self._first
            self.add_before(fold(part.moments))
            self._trim(front=False)
        elif want.after:
            self._at_newest, self._last = part.ended, max(self._last, part.last)
            self._append(part.moments)
        else:
            first = want.after == 0
            self._at_start, self._at_newest = first or part.ended, not first or part.ended
            self._first, self._last = part.first, part.last
            self.say(self._nothing())
            self.show(fold(part.moments), to_end=not first)
            if first:
                self._go(0)

    def add_new(self, moments: Sequence[TimelineMoment]) -> None:
        """The run continued."""
        fresh = [moment for moment in moments if moment.seq > self._last]
        if not self._at_newest or not fresh:
            return
        if self.text:
            # Only the journal can search text in records.
            if not self._busy:
                self._ask(after=self._last)
            return
        want = self._want()
        self._last = fresh[-1].seq
        self._append([moment for moment in fresh if want.fits(moment)])

    def _append(self, moments: Sequence[TimelineMoment]) -> None:
        """Append moments; a result joins its call, which is near."""
        self.show([*self.items[:-NEAR], *fold([*self.items[-NEAR:], *moments])])
        self._trim(front=True)

    def on_row_list_edge(self, event: RowList.Edge) -> None:
        event.stop()
        if self._busy or not self.items:
            return
        if event.direction < 0 and not self._at_start:
            if event.far:
                self._ask(after=0)
            else:
                self._ask(before=self._first)
        elif event.direction > 0 and not self._at_newest:
            if event.far:
                self.load()
            else:
                self._ask(after=self._last)

    def _ask(self, *, before: int | None = None, after: int | None = None) -> None:
        self._busy = True
        self._fetch(self._want(before, after))

    def _want(self, before: int | None = None, after: int | None = None) -> Want:
        quiet = self.filter_name == "everything"
        return Want(turn=self._turn, before=before, after=after, kinds=self.kinds, quiet=quiet, text=self.text)

    def _trim(self, *, front: bool) -> None:
        extra = len(self.items) - MOST
        if extra <= 0:
            return
        if front and self.cursor >= extra:
            self._at_start = False
            del self.items[:extra]
            self._first = self.items[0].seq
            self.set_reactive(RowList.cursor, self.cursor - extra)
            self.scroll_to(y=self.scroll_offset.y - extra, animate=False, force=True, immediate=True)
        elif not front:
            self._at_newest = False
            del self.items[MOST:]
            self._last = self.items[-1].seq
        self._resized()

    def _nothing(self) -> str:
        if self.text:
            return (
                f"No {'moment' if self.kinds is None else self.filter_name} with “{clean(self.text)}”. Esc shows all."
            )
        if self.kinds is not None:
            return f"No {self.filter_name} so far. Esc shows everything."
        return "Nothing has happened yet: the first step appears here."
