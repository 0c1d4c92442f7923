"""A run's page: its four lists, live; details, search, checkpoints and going back."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.journal import Journal, JournalEntry
from interlock.journal_records import StepRecord
from interlock.tui.timeline import MOST, PAGE

from .looking import Seat, watch
from .stage import Stage, healthy, work

LARGE = (150, 45)


async def enter(seat: Seat, *words: str) -> None:
    """Open the run under the cursor."""
    await seat.until(lambda: seat.app.screen.chosen() is not None)  # type: ignore[attr-defined]
    await seat.press("enter")
    await seat.sees("1 Timeline", *words)


@pytest.mark.parametrize("size", [(80, 24), LARGE])
def test_steps_arrive_while_one_looks(stage: Stage, size: tuple[int, int]) -> None:
    run = stage.begin("fix-tests")
    healthy(run, stage.clock, 3)

    async def act(seat: Seat) -> None:
        await enter(seat, "changed 2", "3/40 calls")
        work(run, stage.clock, "make check", "all is well")
        run.run.journal.flush()
        await seat.sees("make check", "all is well", "4/40 calls")

    watch(stage.top(), act, size)


def test_issues_and_interventions_are_shown_with_the_ladder(stage: Stage) -> None:
    run = stage.begin("fix-tests")
    for _ in range(4):
        work(run, stage.clock, "pytest -q", "FAILED test_a - AssertionError", failed=True)
    run.run.journal.flush()

    async def act(seat: Seat) -> None:
        await enter(seat, "! repetitive errors (medium)", "→ L1 hint", "1 hint ×1")
        await seat.press("2")
        await seat.sees("2 Problems 1", "pytest", "still open", "hint")
        await seat.press("enter")
        await seat.sees("since", "still open", "interlock mute", "tried", "hint: not judged yet")
        await seat.press("escape", "1", "f")
        await seat.sees("problems")
        assert "· bash pytest" not in seat.text and "→ L1" in seat.text
        await seat.press("escape")
        await seat.sees("bash pytest")

    watch(stage.top(), act)


def test_a_wide_screen_shows_ladder_charts_and_issues_beside_the_timeline(stage: Stage) -> None:
    run = stage.begin("fix-tests")
    for _ in range(4):
        work(run, stage.clock, "pytest -q", "FAILED test_a - AssertionError", failed=True)
    run.run.journal.flush()

    async def act(seat: Seat) -> None:
        await enter(seat, "LADDER", "5 ask/stop", "useful", "tokens", "CONTROL", "STUCK ON", "! pytest")
        await seat.pilot.resize_terminal(80, 24)
        await seat.sees_not("LADDER")

    watch(stage.top(), act, LARGE)


def test_a_moment_opens_in_full(stage: Stage) -> None:
    run = stage.begin("fix-tests")
    work(run, stage.clock, "printf 'one\\ntwo'", "one\ntwo\nthree")
    run.run.journal.flush()

    async def act(seat: Seat) -> None:
        await enter(seat, "ok: one two three")
        await seat.press("enter")
        await seat.sees("Record", "arguments of bash", "command: printf")
        await seat.press("escape")
        await seat.sees("1 Timeline")

    watch(stage.top(), act)


def test_search_finds_in_the_whole_journal_and_escape_goes_back_to_all(stage: Stage) -> None:
    run = stage.begin("fix-tests")
    work(run, stage.clock, "cat needle.txt", "found it")
    healthy(run, stage.clock, 25)

    async def act(seat: Seat) -> None:
        await enter(seat, "changed 24")
        await seat.press("slash")
        await seat.write("NEEDLE")
        await seat.press("enter")
        await seat.sees("bash cat needle.txt", "Timeline NEEDLE")
        await seat.sees_not("changed 24")
        work(run, stage.clock, "rm needle.txt", "gone")
        run.run.journal.flush()
        await seat.sees("rm needle.txt")
        await seat.press("escape")
        await seat.sees("changed 24")
        await seat.press("slash")
        await seat.write("no such thing")
        await seat.press("enter")
        await seat.sees("No moment with “no such thing”. Esc shows all.")

    watch(stage.top(), act)


def test_tabs_go_round_by_key_and_by_click(stage: Stage) -> None:
    stage.begin("fix-tests")

    async def act(seat: Seat) -> None:
        await enter(seat)
        for name in ("▸2 Problems", "▸3 Checkpoints", "▸4 Control", "▸1 Timeline"):
            await seat.press("tab")
            await seat.sees(name)
        await seat.press("left")
        await seat.sees("▸4 Control", "No requests to this run yet")
        await seat.pilot.click("#tabs", offset=(20, 0))
        await seat.sees("▸2 Problems", "Nothing so far.")

    watch(stage.top(), act)


def test_a_long_run_is_read_in_parts_from_both_ends(stage: Stage) -> None:
    folder = stage.store.create(stage.spec("long"))
    count = 3 * MOST
    with Journal.open(folder) as journal:
        for at in range(count):
            from interlock.core import Step

            step = Step(run_id="long", index=at, role="assistant", content=f"word-{at}-")
            journal.append([JournalEntry("step", StepRecord(step))])

    async def act(seat: Seat) -> None:
        await enter(seat, f"word-{count - 1}-")
        timeline = seat.app.screen.timeline  # type: ignore[attr-defined]
        assert len(timeline.items) == PAGE
        await seat.press("home")
        await seat.sees("word-0-")
        assert len(timeline.items) == PAGE
        timeline.action_last()
        await seat.sees(f"word-{count - 1}-")
        for _ in range(MOST // PAGE + 3):
            before = timeline.items[0].seq
            timeline.action_move(-len(timeline.items))
            await seat.until(lambda before=before: timeline.items[0].seq < before)
        assert len(timeline.items) <= MOST
        await seat.press("end")
        await seat.sees(f"word-{count - 1}-")

    watch(stage.top(), act)


def test_checkpoints_show_what_changed_and_a_live_run_rolls_itself_back(stage: Stage, tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    (workspace / "a.txt").write_text("first\n")
    run = stage.begin("fix-tests", workspace=workspace)
    step = run.call("bash", {"command": "echo second > a.txt"})
    run.before(step)
    (workspace / "a.txt").write_text("second\n")
    run.after(run.result("", exit_code=0))
    run.run.journal.flush()

    async def act(seat: Seat) -> None:
        await enter(seat)
        await seat.press("3")
        await seat.sees("start", "after step", "before step")
        await seat.press("D")
        await seat.sees("-first", "+second")
        await seat.press("escape", "end", "d")
        await seat.sees("to the workspace now", "-first", "+second")
        await seat.press("escape", "b")
        await seat.sees("Roll back to", "1 path would be restored", "~ a.txt", "The run does this itself")
        await seat.press("enter")
        await seat.sees_not("Roll back to")
        assert (workspace / "a.txt").read_text() == "second\n"
        await seat.press("b")
        await seat.sees("1 path would be restored")
        await seat.press("y")
        await seat.until(lambda: (workspace / "a.txt").read_text() == "first\n", "the file goes back")
        await seat.press("4")
        await seat.sees("rollback", "✓ ")

    watch(stage.top(), act)


def test_a_run_that_is_over_is_rolled_back_from_here_and_spares_what_others_changed(
    stage: Stage, tmp_path: Path
) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    (workspace / "a.txt").write_text("first\n")
    run = stage.begin("fix-tests", workspace=workspace)
    run.before(run.call("bash", {"command": "echo second > a.txt"}))
    (workspace / "a.txt").write_text("second\n")
    run.after(run.result("", exit_code=0))
    run.close()
    (workspace / "mine.txt").write_text("a person's\n")

    async def act(seat: Seat) -> None:
        await enter(seat, "✓ done")
        await seat.press("3")
        await seat.sees("start")
        await seat.press("end", "b")
        await seat.sees("1 path would be restored", "~ a.txt", "mine.txt: possibly not this run's work")
        await seat.press("y")
        await seat.until(lambda: (workspace / "a.txt").read_text() == "first\n", "the file goes back")
        await seat.sees("verified")

    watch(stage.top(), act)
    assert (workspace / "mine.txt").read_text() == "a person's\n"


def test_a_run_without_a_workspace_says_why_there_are_no_checkpoints(stage: Stage) -> None:
    stage.begin("fix-tests")

    async def act(seat: Seat) -> None:
        await enter(seat)
        await seat.press("3")
        await seat.sees("This run has no workspace")
        await seat.press("d", "b")
        assert "Roll back to" not in seat.text

    watch(stage.top(), act)


def test_help_names_every_key_that_is_bound(stage: Stage) -> None:
    stage.begin("fix-tests")

    async def act(seat: Seat) -> None:
        await enter(seat)
        await seat.press("question_mark")
        await seat.sees("Steer a run", "pause:", "Esc to go back")
        from interlock.tui.pager import KEYS

        named = " ".join(key for keys in KEYS.values() for key, _ in keys)
        for key in ("p", "r", "c", "e", "a", "x", "d", "D", "b", "i", "f", "/", "t", "?", "q", "Esc", "Tab"):
            assert key in named.replace(",", "").split(), key
        await seat.press("escape")
        await seat.sees("1 Timeline")

    watch(stage.top(), act)


def test_a_run_that_is_removed_while_one_looks_says_so(stage: Stage) -> None:
    import shutil

    run = stage.begin("fix-tests")
    healthy(run, stage.clock, 2)
    run.close()

    async def act(seat: Seat) -> None:
        await enter(seat, "changed 1")
        shutil.rmtree(stage.store.root / "fix-tests")
        await seat.sees("the run's journal is gone")
        assert "changed 1" in seat.text

    watch(stage.top(), act)


def test_t_turns_light_and_dark_and_the_terminals_own_background_is_heeded(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.begin("fix-tests")
    monkeypatch.setenv("COLORFGBG", "0;15")

    async def act(seat: Seat) -> None:
        await seat.sees("fix-tests")
        assert not seat.app.current_theme.dark
        await seat.press("t")
        assert seat.app.current_theme.dark
        await seat.sees("fix-tests")

    watch(stage.top(), act)
