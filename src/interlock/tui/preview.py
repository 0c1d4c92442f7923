"""Preview: what the run under the cursor did last, where the screen has room for it."""

from __future__ import annotations

from msgspec import Struct
from textual.message import Message

from ..core import InterlockError
from ..report import Story, TimelineMoment
from .background_tasks import Worker
from .drawing import Drawing
from .ladder import draw_ladder_row
from .line import Line, spread
from .moment_rows import draw_moment
from .run_source import RunSource
from .timeline import Want
from .view import View, take_view

ROWS = 12
LOOK_S = 0.25


class RunPreview(Struct, frozen=True):
    """A run's newest moments and its ladder."""

    run_id: str
    view: View
    moments: tuple[TimelineMoment, ...]


class Preview(Drawing):
    """The ladder and the newest moments of one run; nothing for a run of another machine, which has to be fetched."""

    class Glanced(Message):
        """A look was taken."""

        def __init__(self, glance: RunPreview) -> None:
            super().__init__()
            self.glance = glance

    def __init__(self, place: RunSource, *, id: str | None = None) -> None:
        super().__init__(self._draw_glance, id=id)
        self._wanted: str | None = None
        self._glance: RunPreview | None = None
        self._story: Story | None = None
        self._desk: Worker[RunSource] = Worker(
            "interlock-preview", lambda: place, self._look, lambda _: None, pause=LOOK_S
        )

    def on_mount(self) -> None:
        self._desk.start()

    def on_unmount(self) -> None:
        self._desk.stop()

    def look_at(self, run_id: str | None) -> None:
        """Show this run, if there is room."""
        wanted = run_id if self.display else None
        if wanted != self._wanted:
            self._wanted = wanted
            self._desk.ask(self._look)
            self.redraw()

    def on_preview_glanced(self, event: Glanced) -> None:
        self._glance = event.glance
        self.redraw()

    def _look(self, place: RunSource) -> None:
        """In the desk's thread: the story stays open while the same run is looked at."""
        wanted, story = self._wanted, self._story
        if story is not None and story.folder.run_id != wanted:
            story.close()
            story = self._story = None
        if wanted is None or not place.is_here(wanted):
            return
        try:
            fresh = story is None
            if story is None:
                story = self._story = place.open(wanted)
            if story.update() or fresh:
                part = Want(turn=0).read(story)
                self.post_message(self.Glanced(RunPreview(wanted, take_view(story), tuple(part.moments[-ROWS:]))))
        except InterlockError:
            # The list says what is wrong with the run.
            return

    def _draw_glance(self, width: int) -> list[Line]:
        glance = self._glance
        if glance is None or glance.run_id != self._wanted:
            return [()] * (ROWS + 1)
        name = glance.view.row.name or glance.run_id
        head = spread(((f"{name} lately", "link!"),), draw_ladder_row(glance.view.ladder), width)
        rows = [draw_moment(moment, width) for moment in glance.moments]
        return [head, *rows, *[()] * (ROWS - len(rows))]
