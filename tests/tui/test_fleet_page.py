"""The list of runs: what it shows, how it is searched, and what it says when there is nothing or something is wrong."""

from __future__ import annotations

import pytest

from interlock.core import InterlockError
from interlock.journal import Journal, RunSummary
from interlock.report import RunRow
from interlock.runtime.approvals import Approvals
from interlock.tui import Top
from interlock.tui.line import Line, clip, line_width
from interlock.tui.run_head import draw_budget
from interlock.tui.run_reader import RunSource
from interlock.tui.run_rows import draw_run, heading, layout, short_model
from interlock.tui.words import spend, total

from .looking import Seat, watch
from .stage import Stage, healthy, work


def test_an_empty_store_says_how_to_begin(stage: Stage) -> None:
    async def act(seat: Seat) -> None:
        await seat.sees("No runs yet.", "interlock run -- COMMAND")

    watch(stage.top(), act)


def test_a_run_that_begins_shows_up_by_itself(stage: Stage) -> None:
    async def act(seat: Seat) -> None:
        await seat.sees("No runs yet.")
        healthy(stage.begin("newcomer"), stage.clock, 1)
        await seat.sees("newcomer", "1 run", "● running")

    watch(stage.top(), act)


def test_live_runs_come_first_and_the_words_below_are_of_the_chosen_one(stage: Stage) -> None:
    healthy(stage.begin("older", task="Write the manual"), stage.clock, 1)
    over = stage.begin("newest", task="Fix the build")
    over.close()

    async def act(seat: Seat) -> None:
        await seat.sees("2 runs", "1 running", "1 done", "Write the manual")
        assert seat.text.index("older") < seat.text.index("newest")
        await seat.press("down")
        await seat.sees("Fix the build")

    watch(stage.top(), act)


def test_search_and_filter_narrow_the_list_and_escape_clears(stage: Stage) -> None:
    stage.begin("alpha", task="Write the manual")
    stage.begin("beta", task="Fix the build")
    stage.begin("gamma").close()

    async def act(seat: Seat) -> None:
        await seat.sees("alpha", "beta", "gamma")
        await seat.press("slash")
        await seat.write("fix build")
        await seat.sees_not("alpha")
        await seat.sees("beta")
        await seat.press("enter", "p")
        await seat.sees("‖ paused")
        await seat.press("escape")
        await seat.sees("alpha", "gamma")
        await seat.press("f")
        await seat.sees_not("gamma")
        await seat.press("f")
        await seat.sees("gamma")
        await seat.sees_not("alpha")
        await seat.press("slash")
        await seat.write("nothing like it")
        await seat.sees("None of 3 runs match. Esc shows all.")
        await seat.press("escape")
        await seat.sees("alpha", "beta", "gamma")

    watch(stage.top(), act)


def test_a_damaged_journal_is_a_row_that_says_why(stage: Stage) -> None:
    stage.begin("fine")
    folder = stage.store.root / "broken"
    folder.mkdir()
    (folder / "journal.db").write_bytes(b"this is no database" * 100)

    async def act(seat: Seat) -> None:
        await seat.sees("fine", "! unreadable", "broken")
        await seat.press("end")
        await seat.sees("! the journal is damaged")
        await seat.press("enter")
        await seat.sees("Cannot read this run.", "Trying again")
        await seat.press("escape")
        await seat.sees("fine")

    watch(stage.top(), act)


def test_a_store_that_cannot_be_read_says_so_and_is_tried_again(stage: Stage) -> None:
    stage.begin("fine")
    broken = True

    class Faulty(RunSource):
        def rows(self, *, sparks: bool = True) -> list[RunRow]:
            if broken:
                raise InterlockError("the disk is gone", where="/nowhere", todo="Plug it in.")
            return super().rows(sparks=sparks)

    async def act(seat: Seat) -> None:
        nonlocal broken
        await seat.sees("Cannot read the runs.", "/nowhere: the disk is gone. Plug it in.")
        broken = False
        await seat.sees("fine", "● running")

    watch(Top(Faulty(stage.store, stage.config), clock=stage.clock), act)


def test_a_run_that_is_removed_goes_from_the_list(stage: Stage) -> None:
    import shutil

    stage.begin("stays")
    stage.begin("goes").close()

    async def act(seat: Seat) -> None:
        await seat.sees("stays", "goes")
        shutil.rmtree(stage.store.root / "goes")
        await seat.sees_not("goes")

    watch(stage.top(), act)


def test_what_an_agent_writes_cannot_steer_the_terminal(stage: Stage) -> None:
    stage.begin("plain", task="hello \x1b[2J\x1b]0;owned\x07 \u202eevil \u2066x")

    async def act(seat: Seat) -> None:
        await seat.sees("hello")
        raw = seat.text
        assert not any(bad in raw for bad in "\x1b\x07\u202e\u2066")

    watch(stage.top(), act)


def test_many_runs_are_shown_and_walked_through(stage: Stage) -> None:
    for number in range(40):
        folder = stage.store.create(stage.spec(f"run-{number:03}"))
        with Journal.open(folder) as journal:
            journal.append(
                (), summary=RunSummary(run_id=folder.run_id, name=folder.run_id, status="done", started=number)
            )

    async def act(seat: Seat) -> None:
        await seat.sees("40 runs", "run-039")
        await seat.press("end")
        await seat.sees("run-000")
        await seat.press("pageup", "home")
        await seat.sees("run-039")

    watch(stage.top(), act)


@pytest.mark.parametrize("width", [20, 40, 79, 96, 120, 150, 240])
@pytest.mark.parametrize("hosts", [False, True])
def test_rows_and_heading_fit_every_width(width: int, hosts: bool) -> None:
    row = RunRow(
        run_id="a" * 40,
        name="名前" * 20,
        task="x" * 500,
        cost=12345.678,
        max_cost=99999,
        iter=123456,
        max=999999,
        issue="repetitive_errors",
        interventions=123,
        tokens=123_456_789,
        spark=(0.1, 0.9) * 50,
        host="a-host-with-a-long-name",
    )
    shown = layout([row], hosts=hosts)
    for line in (heading(width, shown), draw_run(row, width, 10.0, shown=shown)):
        assert line_width(line) <= max(width, 48) + 2


def test_a_status_takes_room_from_the_names_only_for_its_words() -> None:
    plain = RunRow(run_id="a", status="done", outcome="done")
    cancelled = RunRow(run_id="a", status="aborted", outcome="cancelled by you")
    words = "".join(text for text, _ in heading(80, layout([plain], hosts=False)))
    assert words.startswith("STATUS        NAME                    CALLS")
    words = "".join(text for text, _ in draw_run(cancelled, 80, 0.0, shown=layout([plain, cancelled], hosts=False)))
    assert words.startswith("✗ cancelled by you  a ")


def test_a_run_that_waits_for_a_person_is_marked_in_its_row(stage: Stage) -> None:
    stage.begin("busy")
    waiting = stage.begin("careful", approvals=Approvals(needed=True))
    waiting.before(waiting.call("bash", {"command": "make deploy"}))
    waiting.run.journal.flush()

    async def act(seat: Seat) -> None:
        await seat.sees("1 needs you", "? careful")
        assert "?" not in seat.line("busy")

    watch(stage.top(), act)


def test_who_ended_a_run_is_said_in_the_words_of_ps(stage: Stage) -> None:
    failed = stage.begin("broken")
    failed.finish("aborted", "ERROR", "the command ended with status 3")

    async def act(seat: Seat) -> None:
        await seat.sees("1 failed", "✗ failed")
        await seat.press("enter")
        await seat.sees("✗ failed")

    watch(stage.top(), act)


@pytest.mark.parametrize(
    ("line", "width", "shown"),
    [
        ((("a word", ""),), 6, "a word"),
        ((("a word", ""), ("  ", "")), 6, "a word  "),
        ((("a word  ", ""),), 6, "a word  "),
        ((("a word", ""),), 5, "a wo…"),
        ((("a ", ""), ("word", "dim")), 2, "a…"),
        ((("日本語", ""), ("x", "")), 5, "日本…"),
        ((), 0, ""),
    ],
)
def test_a_line_that_is_cut_says_so(line: Line, width: int, shown: str) -> None:
    assert "".join(text for text, _ in clip(line, width)) == shown


def test_a_spend_that_is_not_known_is_not_called_nothing() -> None:
    assert spend(0.0, None) == "$0.00"
    assert spend(0.0, 5.0, 700) == "unknown/5"
    assert spend(1.5, None, 700) == "$1.50+"
    assert draw_budget(0.0, 5.0, 10, 700) == (("unknown/5", "warn"),)
    assert total(0.0, 700) == "$0.00+" and total(1.5, 700) == "$1.50+" and total(1.5, 0) == "$1.50"


def test_models_are_shown_without_maker_and_date() -> None:
    assert short_model("anthropic/claude-sonnet-4-5-20250929") == "sonnet-4-5"
    assert short_model("gpt-5.2") == "gpt-5.2"
    assert short_model(None) == "–"


def test_a_high_screen_shows_what_the_chosen_run_did_last(stage: Stage) -> None:
    first, second = stage.begin("alpha"), stage.begin("beta")
    work(first, stage.clock, "make alpha", "alpha is made")
    work(second, stage.clock, "make beta", "beta is made")
    for run in (first, second):
        run.run.journal.flush()

    async def act(seat: Seat) -> None:
        await seat.sees("beta lately", "beta is made", "1 hint")
        await seat.press("down")
        await seat.sees("alpha lately", "alpha is made")
        work(first, stage.clock, "make more", "more is made")
        first.run.journal.flush()
        await seat.sees("more is made")
        await seat.pilot.resize_terminal(100, 24)
        await seat.sees_not("lately")

    watch(stage.top(), act, (100, 40))
