"""The inbox has everything that needs a person, once, and its answers do what they say."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from interlock.config import Config
from interlock.config.schema import Budget
from interlock.core import BadInput, Hold, InvalidState, Issue, Liveness, NotFound, RunSpec, Usage
from interlock.journal import Store
from interlock.journal_records import TamperRecord
from interlock.link.requests import Runs
from interlock.report.inbox import KINDS, InboxItem, answer_item, dismiss, find_item, read_dismissed, read_inbox
from interlock.runtime import Run, Supervisor
from tests.cli.calling import interlock
from tests.e2e.running import until
from tests.web.runs import stop_run, supervised, write_run


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "runs")


def only(store: Store, kind: str) -> InboxItem:
    (item,) = [item for item in read_inbox(store) if item.kind == kind]
    return item


def tampered(store: Store, run_id: str, *, end: bool = True) -> None:
    with Run.create(RunSpec(run_id=run_id, name=run_id, adapter="process"), store) as run:
        run.append([TamperRecord("it removed the hooks")], changes={"tampering": "it removed the hooks"})
        if end:
            run.end("done", "COMPLETE")


def test_every_kind_is_in_one_list_newest_first(store: Store, tmp_path: Path) -> None:
    write_run(store, "quiet")
    tampered(store, "tampered")
    stop_run(store, "stopped", ("agent",), tmp_path)
    with Run.create(RunSpec(run_id="unproven", name="unproven", adapter="process"), store) as run:
        run.end("done", "UNPROVEN")
    write_run(store, "lost", end=False)
    with supervised(store, "asks", approvals=True) as asks, supervised(store, "held") as held:
        asks.before(asks.call("bash", {"command": "touch a"}))
        held.executor.carry_out(Hold("spent too much", "limit"))
        items = read_inbox(store)
    assert {item.kind for item in items} == {"tampering", "incident", "unproven", "lost", "approval", "limit"}
    assert [item.time for item in items] == sorted((item.time for item in items), reverse=True)
    assert all(item.answers and all(answer.does for answer in item.answers) for item in items)
    assert len({item.id for item in items}) == len(items)
    assert "touch a" in next(item for item in items if item.kind == "approval").text
    assert set(KINDS) >= {"approval", "hold", "liveness", "incident", "tampering", "ended"}


def test_an_approval_given_in_the_inbox_lets_exactly_that_call_run(store: Store) -> None:
    with supervised(store, "asks", approvals=True) as run:
        step = run.call("bash", {"command": "touch a"})
        assert run.before(step).action == "hold"
        item = only(store, "approval")
        _, answered = answer_item(Runs(store), item.id[:5], "approve")
        assert answered.ok
        assert run.before(step).action == "proceed"
        assert read_inbox(store) == []
        with pytest.raises(NotFound, match="answered, has changed or has expired"):
            answer_item(Runs(store), item.id, "approve")


def test_an_item_whose_call_changed_can_no_longer_be_answered(store: Store) -> None:
    with supervised(store, "asks", approvals=True) as run:
        step = run.call("bash", {"command": "touch a"})
        run.before(step)
        before = only(store, "approval")
        changed = replace(step, tool=replace(step.tool, arguments={"command": "rm -r src"}))
        assert run.before(changed).action == "hold"
        with pytest.raises(NotFound):
            answer_item(Runs(store), before.id, "approve")
        assert run.before(changed).action == "hold"
        after = only(store, "approval")
        assert "rm -r src" in after.text
        answer_item(Runs(store), after.id, "reject", "not the sources")
        decision = run.before(changed)
        assert (decision.action, "not the sources" in decision.reason) == ("deny", True)


def test_an_expired_question_leaves_the_inbox(store: Store) -> None:
    with supervised(store, "asks", approvals=True) as run:
        run.approvals.hours = -1
        run.before(run.call("bash", {"command": "touch a"}))
        assert read_inbox(store) == []


def test_a_held_run_is_resumed_from_the_inbox(store: Store) -> None:
    with supervised(store, "held") as run:
        run.executor.carry_out(Hold("look at this"))
        item = only(store, "paused")
        assert item.text == "look at this"
        assert answer_item(Runs(store), item.id, "resume")[1].ok
        # The answer is durable before the gate opens.
        until("it continues", lambda: run.run.status == "running")


def test_what_was_seen_is_put_aside_and_new_trouble_is_not(store: Store) -> None:
    tampered(store, "one")
    tampered(store, "two")
    item = next(item for item in read_inbox(store) if item.run == "one")
    assert answer_item(Runs(store), item.id, "dismiss")[1].ok
    assert [left.run for left in read_inbox(store)] == ["two"]


def test_the_command_that_is_shown_for_an_answer_gives_it(store: Store, tmp_path: Path) -> None:
    tampered(store, "one")
    shown = interlock("inbox", home=tmp_path, INTERLOCK_STORE__DIR=str(store.root)).stdout
    program, *words = shown.split("dismiss: ")[1].splitlines()[1].split()
    assert program == "interlock"
    assert interlock(*words, home=tmp_path, INTERLOCK_STORE__DIR=str(store.root)).returncode == 0
    assert read_inbox(store) == []


def test_an_answer_that_does_not_exist_is_named_with_those_that_do(store: Store) -> None:
    tampered(store, "one")
    with pytest.raises(BadInput, match="dismiss"):
        answer_item(Runs(store), only(store, "tampering").id, "approve")
    with pytest.raises(NotFound):
        find_item(store, "zzzz")


def test_the_command_lists_and_answers(store: Store, tmp_path: Path) -> None:
    def call(*words: str) -> subprocess.CompletedProcess[str]:
        return interlock(*words, home=tmp_path, INTERLOCK_STORE__DIR=str(store.root))

    with supervised(store, "asks", approvals=True) as run:
        step = run.call("bash", {"command": "touch \x1b[31ma"})
        decided: list[str] = []
        waiting = threading.Thread(target=lambda: decided.append(run.ask(step).action))
        assert run.before(step).action == "hold"
        waiting.start()
        shown = call("inbox")
        assert shown.returncode == 0
        assert "approve: Exactly this call runs." in shown.stdout
        assert "\x1b" not in shown.stdout
        (item,) = msgspec.json.decode(call("inbox", "--json").stdout)["items"]
        answered = call("inbox", item["id"], "approve")
        assert answered.returncode == 0, answered
        waiting.join(150)
        assert decided == ["proceed"]
        assert call("inbox", item["id"], "approve").returncode == 3
    assert call("inbox").stdout.strip() == "Nothing needs you."


def alive(run: Supervisor, **liveness: object) -> None:
    """What the run's owner saw when it looked last."""
    run.run.update(liveness=Liveness(since=run.run.clock.time(), **liveness))  # type: ignore[arg-type]
    run.run.journal.flush()


def test_the_command_says_how_to_dismiss_and_where_to_read_more(store: Store, tmp_path: Path) -> None:
    tampered(store, "loud")
    shown = interlock("inbox", home=tmp_path, INTERLOCK_STORE__DIR=str(store.root)).stdout
    item = only(store, "tampering")
    assert f"interlock inbox {item.id} dismiss\n" in shown and f"more: interlock show {item.run_id}\n" in shown


def test_a_question_on_the_terminal_is_in_the_inbox_with_its_text(store: Store) -> None:
    with supervised(store, "asks") as run:
        alive(run, word="waiting for a person", question="Overwrite config.toml? [y/N]", wedged="client prompt")
        item = only(store, "question")
        assert item.text == "Overwrite config.toml? [y/N]"
        with pytest.raises(InvalidState, match="terminal"):
            answer_item(Runs(store), item.id, "answer")
        alive(run, word="working")
        assert read_inbox(store) == []


def test_a_wedged_run_is_in_the_inbox_and_is_cancelled_from_there(store: Store) -> None:
    with supervised(store, "hangs") as run:
        alive(run, word="wedged", wedged="half-open stream", evidence="no byte for 9 min")
        item = only(store, "wedged")
        assert (item.title, item.text) == ("Hangs: half-open stream", "no byte for 9 min")
        assert answer_item(Runs(store), item.id, "cancel")[1].ok
        until("it has ended", lambda: run.run.status == "aborted")
        assert read_inbox(store) == []
        assert run.run.summary.outcome == "cancelled by you"


def test_a_wedged_run_that_was_paused_for_a_person_is_one_item(store: Store) -> None:
    with supervised(store, "hangs") as run:
        alive(run, word="wedged", wedged="client spins", evidence="99% of a processor")
        run.executor.carry_out(Hold("the run hangs (client spins) and nothing helped", "recovery"))
        assert [item.kind for item in read_inbox(store)] == ["paused"]


@pytest.mark.parametrize("by_itself", [True, False])
def test_a_parked_run_needs_a_person_only_where_it_may_not_resume_by_itself(store: Store, by_itself: bool) -> None:
    with supervised(store, "parked") as run:
        wake = run.run.clock.time() + 600 if by_itself else None
        alive(run, word="parked", evidence="the window ended at 08:00", wake=wake)
        run.executor.carry_out(Hold("usage limit reached", "parked"))
        if by_itself:
            assert read_inbox(store) == []
            return
        item = only(store, "parked")
        assert item.text == "the window ended at 08:00"
        assert item.answers[0].does == "The run continues."
        assert answer_item(Runs(store), item.id, "resume")[1].ok
        until("it continues", lambda: run.run.status == "running")


def test_a_run_that_a_budget_paused_says_so_and_is_resumed_from_the_inbox(store: Store) -> None:
    budget = Budget(name="shared", per="day", max_cost_usd=0.2)
    with Supervisor.open(task="spend", store=store, config=Config(budgets=(budget,))) as run:
        for _ in range(4):
            call = replace(run.call("bash", {"command": "ls"}), usage=Usage(100, 10, 0.15))
            if run.before(call).action != "proceed":
                break
            run.after(run.result("ok"))
        item = only(store, "budget")
        assert item.title == "Paused by a budget"
        assert item.text.startswith("budget shared is reached: $0.")
        assert item.answers[0].does == "The run continues, with another tenth of the budget."
        assert answer_item(Runs(store), item.id, "resume")[1].ok
        until("it continues", lambda: run.run.status == "running")
        assert read_inbox(store) == []


def test_two_people_who_dismiss_at_once_dismiss_both(store: Store) -> None:
    names = [f"run-{number}" for number in range(12)]
    for name in names:
        tampered(store, name)
    items = read_inbox(store)
    threads = [threading.Thread(target=dismiss, args=(store, item)) for item in items]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(read_dismissed(store)) == sorted(item.id for item in items)


def test_a_run_that_waits_for_long_is_one_item_until_what_it_waits_for_moves(store: Store) -> None:
    said = Issue(id="long_wait:9:1", type="long_wait", step=9, description="Nothing has moved for 30 minutes.")
    with Run.create(RunSpec(run_id="waits", name="waits", adapter="process"), store) as run:
        run.append([said], durable=True, changes={"last_issue": "long_wait", "stuck": "kubectl get pods"})
        item = only(store, "waits")
        assert item.text == said.description and [answer.name for answer in item.answers] == ["cancel", "dismiss"]
        run.append([], durable=True, changes={"stuck": ""})
        run.journal.flush()
        assert not [item for item in read_inbox(store) if item.kind == "waits"]
