"""Every key that steers a run, on real runs over their real sockets."""

from __future__ import annotations

import threading

import msgspec
import pytest

from interlock.control import RequestOutcome
from interlock.journal import JournalReader
from interlock.runtime import Supervisor
from interlock.runtime.approvals import Approvals
from interlock.tui.run_reader import RunSource

from .looking import Seat, watch
from .stage import Stage, healthy, work

SIZES = ((80, 24), (150, 45))


def results(supervisor: Supervisor) -> list[dict[str, object]]:
    assert supervisor.run.folder is not None
    with JournalReader.open(supervisor.run.folder) as reader:
        return [msgspec.json.decode(record.body) for record in reader.read(kinds=frozenset(("result",)))]


@pytest.mark.parametrize("size", SIZES)
def test_p_pauses_and_r_resumes_the_run_under_the_cursor(stage: Stage, size: tuple[int, int]) -> None:
    run = stage.begin("fix-tests")
    healthy(run, stage.clock, 2)

    async def act(seat: Seat) -> None:
        await seat.sees("fix-tests", "● running")
        await seat.press("p")
        await seat.sees("‖ paused", "paused at iteration")
        assert run.run.gate.status == "paused"
        assert "p Pause" not in seat.text
        await seat.press("r")
        await seat.sees("● running")
        await seat.until(lambda: run.run.gate.status == "running")

    watch(stage.top(), act, size)
    assert [result["payload"]["status"] for result in results(run)] == ["success", "success"]


@pytest.mark.parametrize("page", ["fleet", "run"])
def test_p_lets_a_paused_run_go_on(stage: Stage, page: str) -> None:
    run = stage.begin("fix-tests")
    healthy(run, stage.clock, 2)
    stage.order(run, "pause")

    async def act(seat: Seat) -> None:
        await seat.sees("fix-tests", "‖ paused")
        if page == "run":
            await seat.press("enter")
            await seat.sees("1 Timeline")
        await seat.sees("r Resume")
        await seat.press("p")
        await seat.sees("● running", "✓ resume: resumed at iteration")
        assert run.run.gate.status == "running"

    watch(stage.top(), act)


def test_what_went_well_is_said_beside_the_keys_and_covers_no_row(stage: Stage) -> None:
    run = stage.begin("fix-tests")
    healthy(run, stage.clock, 20)

    async def act(seat: Seat) -> None:
        await seat.sees("● running")
        await seat.press("enter")
        await seat.sees("1 Timeline", "changed 19")
        await seat.press("p")
        await seat.sees("✓ pause: paused at iteration", "pause: success")
        *_, newest, keys = seat.text.split("\n")
        assert keys.startswith(" ✓ pause: paused at iteration") and "? Help" in keys
        assert newest.startswith("▌") and "● paused" in newest
        assert not seat.app._notifications

    watch(stage.top(), act)


def test_a_plain_process_is_not_offered_another_model_and_e_says_why(stage: Stage) -> None:
    stage.begin("plain", adapter="process")

    async def act(seat: Seat) -> None:
        await seat.sees("plain", "● running", "p Pause")
        assert "e Escalate" not in seat.text
        await seat.press("e")
        await seat.sees("Cannot escalate", "(process)")
        assert "Stronger" not in seat.text and not seat.app.query("#field-model")

    watch(stage.top(), act)


def test_a_run_is_called_paused_only_after_its_RESULT(stage: Stage) -> None:
    stage.begin("fix-tests")
    asked, go_on = threading.Event(), threading.Event()

    class Slow(RunSource):
        """A way to the run that takes its time."""

        def ask(self, request, timeout, notice):  # type: ignore[no-untyped-def]
            asked.set()
            go_on.wait(150)
            return super().ask(request, timeout, notice)

    async def act(seat: Seat) -> None:
        await seat.sees("● running")
        await seat.press("enter")
        await seat.sees("1 Timeline", "fix-tests")
        await seat.press("p", "4")
        await seat.until(asked.is_set)
        await seat.sees("pausing…", "… waiting", "● running")
        assert "‖ paused" not in seat.text
        go_on.set()
        await seat.sees("‖ paused", "✓ ", "paused at iteration")

    from interlock.tui import Top

    watch(Top(Slow(stage.store, stage.config), clock=stage.clock), act)


def test_unknown_is_an_answer_of_its_own(stage: Stage) -> None:
    stage.begin("fix-tests")

    class Deaf(RunSource):
        def ask(self, request, timeout, notice):  # type: ignore[no-untyped-def]
            return RequestOutcome(outcome="unknown", message="no reply; the run is running")

    async def act(seat: Seat) -> None:
        await seat.sees("● running")
        await seat.press("enter", "p", "4")
        await seat.sees("Outcome unknown: neither done nor failed", "? unknown", "no reply; the run is running")
        assert "✓" not in seat.line("no answer") and "● running" in seat.text

    from interlock.tui import Top

    watch(Top(Deaf(stage.store, stage.config), clock=stage.clock), act)


def test_a_request_to_a_dead_owner_says_so_at_once_and_ends_as_unknown(stage: Stage) -> None:
    run = stage.begin("fix-tests")
    healthy(run, stage.clock, 1)
    stage.lose(run)

    async def act(seat: Seat) -> None:
        await seat.sees("? lost", "this run has no owner: it is not supervised")
        await seat.press("enter")
        await seat.sees("this run has no owner")
        await seat.press("p", "4")
        await seat.sees("the owner of run fix-tests")
        await seat.sees("? unknown")

    watch(stage.top(timeout=1.0), act)


def test_c_asks_first_and_enter_alone_cancels_nothing(stage: Stage) -> None:
    run = stage.begin("fix-tests")

    async def act(seat: Seat) -> None:
        await seat.sees("● running")
        await seat.press("c")
        await seat.sees("Cancel fix-tests?", "Keep it")
        await seat.press("enter")
        await seat.sees_not("Cancel fix-tests?")
        await seat.press("c")
        await seat.sees("Cancel fix-tests?")
        await seat.press("escape")
        await seat.sees_not("Cancel fix-tests?")
        assert not results(run) and not run.run.ended
        await seat.press("c")
        await seat.sees("Cancel fix-tests?")
        await seat.press("y")
        await seat.sees("✗ cancelled by you")

    watch(stage.top(), act)
    assert run.run.ended


def test_a_reason_goes_with_the_cancel(stage: Stage) -> None:
    run = stage.begin("fix-tests")

    async def act(seat: Seat) -> None:
        await seat.sees("● running")
        await seat.press("enter", "c")
        await seat.sees("Reason")
        await seat.press("up", "up")
        await seat.write("wrong branch")
        await seat.press("enter", "enter")
        await seat.sees("✗ cancelled by you")
        await seat.press("4")
        await seat.sees("cancel", "wrong branch")

    watch(stage.top(), act)
    assert run.run.ended


def test_e_asks_for_model_and_reason(stage: Stage) -> None:
    run = stage.begin("fix-tests", model="claude-haiku-4-5")

    async def act(seat: Seat) -> None:
        await seat.sees("● running")
        await seat.press("enter", "e")
        await seat.sees("Escalate fix-tests", "Now: haiku-4-5", "Stronger: ")
        await seat.press("tab", "tab", "enter")
        await seat.sees("Model is needed.")
        await seat.write("claude-opus-4-5")
        await seat.press("enter")
        await seat.write("it goes in circles")
        await seat.press("enter", "enter")
        await seat.sees("opus-4-5", "escalated from claude-haiku-4-5")

    watch(stage.top(), act)
    payload = results(run)[0]["payload"]
    assert payload["status"] == "success" and payload["new_model"] == "claude-opus-4-5"


def test_a_refusal_is_shown_with_its_reason(stage: Stage) -> None:
    stage.begin("fix-tests", model="claude-opus-4-5")

    async def act(seat: Seat) -> None:
        await seat.sees("● running")
        await seat.press("enter", "e")
        await seat.sees("Escalate")
        await seat.write("claude-haiku-4-5")
        await seat.press("enter", "enter", "enter", "4")
        await seat.sees("✗ ", "invalid_state: claude-haiku-4-5")
        await seat.press("enter")
        await seat.sees("✗ failure", "claude-haiku-4-5 is weaker than claude-opus-4-5")

    watch(stage.top(), act)


@pytest.mark.parametrize(("key", "verb", "decided"), [("a", "Approve", "proceed"), ("x", "Reject", "deny")])
def test_a_and_x_answer_the_step_that_waits(stage: Stage, key: str, verb: str, decided: str) -> None:
    run = stage.begin("docs", approvals=Approvals(needed=True))
    step = run.call("bash", {"command": "git commit -am wip"})
    assert run.before(step).action == "hold"
    run.run.journal.flush()

    async def act(seat: Seat) -> None:
        await seat.sees("1 needs you", "needs you: bash git commit -am wip")
        await seat.press(key)
        await seat.sees(f"{verb} step 0?", "git commit -am wip")
        await seat.press("enter")
        await seat.sees_not("needs you")

    watch(stage.top(), act)
    assert run.before(step).action == decided


def test_approve_says_when_nobody_waits_any_more(stage: Stage) -> None:
    run = stage.begin("docs", approvals=Approvals(needed=True))
    run.before(run.call("bash", {"command": "git commit -am wip"}))
    run.run.journal.flush()

    async def act(seat: Seat) -> None:
        await seat.sees("1 needs you")
        run.close()
        seat.app.screen.action_approve()  # type: ignore[attr-defined]
        await seat.sees("No step of this run needs approval any")

    watch(stage.top(), act)


def test_keys_that_a_run_does_not_allow_do_nothing(stage: Stage) -> None:
    run = stage.begin("over")
    run.close()

    async def act(seat: Seat) -> None:
        await seat.sees("✓ done")
        await seat.press("p", "r", "c", "e", "a", "x")
        await seat.sees("over")
        assert not seat.app.steering.of("over") and "Cancel" not in seat.text

    watch(stage.top(), act)


def test_an_owner_that_is_started_again_is_met_without_a_new_look(stage: Stage) -> None:
    run = stage.begin("fix-tests")
    healthy(run, stage.clock, 2)

    async def act(seat: Seat) -> None:
        await seat.sees("● running")
        await seat.press("enter")
        await seat.sees("changed 1")
        stage.lose(run)
        await seat.sees("? lost")
        again = stage.find_again(run)
        await seat.sees("● running")
        work(again, stage.clock, "make check", "all is well")
        await seat.sees("all is well")
        await seat.press("p")
        await seat.sees("‖ paused")

    watch(stage.top(), act)


def test_nothing_waits_for_an_answer_that_does_not_come(stage: Stage) -> None:
    """The screen goes on, and quitting does not wait either."""
    stage.begin("fix-tests")
    stage.begin("other")
    release, over = threading.Event(), threading.Event()

    class Stuck(RunSource):
        def ask(self, request, timeout, notice):  # type: ignore[no-untyped-def]
            release.wait(500)
            over.set()
            return super().ask(request, timeout, notice)

    async def act(seat: Seat) -> None:
        await seat.sees("fix-tests", "other")
        await seat.press("p", "down", "p", "enter")
        await seat.sees("1 Timeline")
        await seat.press("2", "3", "escape")
        await seat.sees("NAME")

    from interlock.tui import Top

    watch(Top(Stuck(stage.store, stage.config), clock=stage.clock), act)
    assert not over.is_set(), "it did not wait for the answer"
    release.set()
