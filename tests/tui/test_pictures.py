"""What the pages look like, at three sizes, in the dark, in the light and without colour."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from interlock.report import RunRow
from interlock.runtime.approvals import Approvals
from interlock.tui import RunSource, Top
from interlock.tui.fleet_page import FleetPage
from interlock.tui.row_list import RowList

from .looking import Seat, watch
from .stage import Stage, healthy, staged, work

SIZES = ((80, 24), (120, 40), (180, 50))


def select_run(seat: Seat, run_id: str) -> None:
    """Put the cursor of the list of runs on a run."""
    rows = seat.app.screen.query_one("#runs", RowList)
    rows.cursor = [row.run_id for row in rows.items].index(run_id)


class Picture(SingleFileSnapshotExtension):
    """One SVG file a picture."""

    file_extension = "svg"
    _write_mode = WriteMode.TEXT


@pytest.fixture
def picture(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(Picture)


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Runs of every kind, made once."""
    with staged(tmp_path_factory.mktemp("gallery")) as stage:
        furnish(stage)
        yield stage


class Still(RunSource):
    """When a live run was heard last depends on how fast this machine is."""

    def rows(self, *, sparks: bool = True) -> list[RunRow]:
        return [replace(row, updated=row.started) for row in super().rows(sparks=sparks)]


def still(stage: Stage) -> Top:
    source = Still(stage.store, stage.config, checkpoint_store=stage.checkpoints)
    return Top(source, clock=stage.clock)


def furnish(stage: Stage) -> None:
    """A run that works, one that is stuck, one that waits, one that is paused, one that was stopped, one that is done."""
    stage.demo()
    done = stage.begin("changelog", task="Write the changelog for 2.4")
    healthy(done, stage.clock, 3)
    done.close()
    stuck = stage.begin("migrate-db", task="Move the tables to the new schema", model="claude-sonnet-4-5")
    healthy(stuck, stage.clock, 4)
    for _ in range(5):
        work(stuck, stage.clock, "pytest -q", "FAILED tests/test_db.py - AssertionError", failed=True)
    work(stuck, stage.clock, "rm -rf / --no-preserve-root")
    stuck.run.journal.flush()
    paused = stage.begin("upgrade-deps", task="Bring all dependencies up to date")
    healthy(paused, stage.clock, 5)
    stage.order(paused, "pause")
    waiting = stage.begin("docs", task="Rewrite the documentation", approvals=Approvals(needed=True))
    waiting.before(waiting.call("bash", {"command": "git push --force origin main"}))
    waiting.run.journal.flush()
    working = stage.begin("add-login", task="Add a login page with sessions", model="claude-opus-4-5")
    healthy(working, stage.clock, 9)


def drawn(seat: Seat) -> str:
    """The screen as SVG, without fonts from elsewhere and without numbers that differ from run to run."""
    svg = seat.app.export_screenshot(title="interlock top", simplify=True)
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    svg = re.sub(r"incident-[0-9a-f]{10}", "incident-··········", svg)
    return re.sub(r"\bc(\d+)-([0-9a-f]{1,6})(?=\W)", lambda found: f"c{found[1]}-{'·' * len(found[2])}", svg)


async def settled(seat: Seat) -> None:
    """Wait until everything has been read, and nothing changes on the screen any more."""
    fleet = seat.app.screen_stack[1]
    assert isinstance(fleet, FleetPage)
    await seat.until(lambda: all(row.spark for row in fleet.rows if row.steps), "how well each run goes")
    for row_list in seat.app.screen.query(RowList):
        # How long the bar is depends on records that nobody sees.
        row_list.styles.scrollbar_size_vertical = 0
    before, same = "", 0
    while same < 8:
        await seat.pilot.pause(0.03)
        now = seat.text
        same = same + 1 if now == before else 0
        before = now


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_all_runs(gallery: Stage, picture: SnapshotAssertion, size: tuple[int, int]) -> None:
    async def act(seat: Seat) -> None:
        await seat.sees("6 runs", "2 need you")
        if size[1] > 30:
            select_run(seat, "migrate-db")
            await seat.sees("migrate-db lately", "block: bash rm")
        await settled(seat)
        assert drawn(seat) == picture

    watch(still(gallery), act, size)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_run_in_trouble(gallery: Stage, picture: SnapshotAssertion, size: tuple[int, int]) -> None:
    async def act(seat: Seat) -> None:
        await seat.sees("migrate-db")
        select_run(seat, "migrate-db")
        await seat.press("enter")
        await seat.sees("block: bash rm -rf /")
        if size[0] > 110:
            await seat.sees("useful")
        await settled(seat)
        assert drawn(seat) == picture

    watch(still(gallery), act, size)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_run_that_was_stopped(gallery: Stage, picture: SnapshotAssertion, size: tuple[int, int]) -> None:
    async def act(seat: Seat) -> None:
        await seat.sees("fix-parser")
        await seat.press("end", "enter")
        await seat.sees("emergency stop", "exit 1: FAILED")
        if size[0] > 110:
            await seat.sees("useful")
        await settled(seat)
        assert drawn(seat) == picture

    watch(still(gallery), act, size)


def test_a_question_that_hurts(gallery: Stage, picture: SnapshotAssertion) -> None:
    async def act(seat: Seat) -> None:
        await seat.sees("migrate-db")
        select_run(seat, "migrate-db")
        await seat.press("c")
        await seat.sees("Cancel migrate-db?")
        await settled(seat)
        assert drawn(seat) == picture

    watch(still(gallery), act)


def test_the_light_theme(gallery: Stage, picture: SnapshotAssertion) -> None:
    async def act(seat: Seat) -> None:
        await seat.sees("6 runs")
        await seat.press("t")
        await settled(seat)
        assert drawn(seat) == picture

    watch(still(gallery), act)


def test_without_colour_signs_tell_what_colours_told(
    gallery: Stage, picture: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def act(seat: Seat) -> None:
        await seat.sees("6 runs", "● running", "‖ paused", "✗ stopped", "✓ done", "▌")
        await settled(seat)
        svg = drawn(seat)
        assert all(red == green == blue for red, green, blue in _colours(svg))
        assert svg == picture

    watch(still(gallery), act)


def test_help_at_80_by_24(gallery: Stage, picture: SnapshotAssertion) -> None:
    async def act(seat: Seat) -> None:
        await seat.sees("6 runs")
        await seat.press("question_mark")
        await seat.sees("Steer a run")
        await settled(seat)
        assert drawn(seat) == picture

    watch(still(gallery), act)


def test_pictures_name_no_path_of_this_machine() -> None:
    kept = Path(__file__).parent / "__snapshots__" / "test_pictures"
    for path in kept.glob("*.svg"):
        assert not re.search(r"/tmp/|pytest-\w+", path.read_text())


def _colours(svg: str) -> list[tuple[str, str, str]]:
    inside = svg.partition('class="terminal-matrix"')[2] or svg
    found = re.findall(r"fill: #([0-9a-f]{6})|fill=\"#([0-9a-f]{6})\"", inside)
    return [(c[0:2], c[2:4], c[4:6]) for pair in found for c in pair if c]
