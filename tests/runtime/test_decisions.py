"""What the supervisor answers: verdicts, limits, throttles, approvals, pauses, and how they go together."""

import threading

import msgspec
import pytest
from msgspec.structs import replace

from interlock.config import Config
from interlock.config.schema import Interventions, Runtime
from interlock.core import (
    Hold,
    Inject,
    InterlockError,
    Limits,
    ManualClock,
    Message,
    SetLimits,
    Spend,
    Stop,
    SystemClock,
    Tool,
    Usage,
)
from interlock.journal import JournalReader, Store
from interlock.runtime import Supervisor
from interlock.runtime.approvals import Approvals
from interlock.runtime.open_calls import MOST
from tests.runtime.scripted import START

DESTRUCTIVE = "rm -rf / --no-preserve-root"


@pytest.fixture
def clock():
    return ManualClock(START)


def supervise(tmp_path, clock, limits=None, **options):
    config = replace(Config(), limits=limits or Limits(), **options.pop("sections", {}))
    return Supervisor.open(task="t", store=Store(tmp_path), clock=clock, config=config, **options)


def kinds(supervisor, kind):
    supervisor.run.journal.flush()
    with JournalReader.open(supervisor.run.folder) as reader:
        return [msgspec.json.decode(record.body) for record in reader.read(kinds=frozenset((kind,)))]


def test_a_destructive_call_is_denied_with_its_rule_and_what_to_do_instead(tmp_path, clock):
    with supervise(tmp_path, clock) as supervisor:
        decision = supervisor.before(supervisor.call("bash", {"command": DESTRUCTIVE}))
        assert decision.action == "deny"
        assert "[fs." in decision.reason
        assert "Instead:" in decision.reason


def test_an_option_that_does_not_exist_is_refused_and_leaves_no_run(tmp_path, clock):
    with pytest.raises(TypeError, match="no option 'workspce'; did you mean 'workspace'"):
        Supervisor.open(task="t", workspce=tmp_path, store=Store(tmp_path), clock=clock)
    assert Store(tmp_path).runs() == []


def test_a_throttled_run_still_denies_what_is_destructive(tmp_path, clock):
    with supervise(tmp_path, clock) as supervisor:
        supervisor.pipeline.meter.throttle(SetLimits(Limits(max_tokens=10), windowed=("max_tokens",)), Spend())
        supervisor.after(supervisor.message("hello", usage=Usage(100, 100)))
        assert supervisor.before(supervisor.call("bash", {"command": "ls"})).delay_s > 0
        assert supervisor.before(supervisor.call("bash", {"command": DESTRUCTIVE})).action == "deny"


def test_observing_never_denies_delays_or_stops(tmp_path, clock):
    sections = {"interventions": Interventions(observe=True)}
    with supervise(
        tmp_path, clock, Limits(max_steps=1), sections=sections, approvals=Approvals(needed=True)
    ) as supervisor:
        for command in ("ls", DESTRUCTIVE, DESTRUCTIVE, DESTRUCTIVE):
            decision = supervisor.before(supervisor.call("bash", {"command": command}))
            assert (decision.action, decision.messages, decision.delay_s) == ("proceed", (), 0.0)
            assert supervisor.after(supervisor.result("ok")).action == "proceed"
        assert kinds(supervisor, "issue"), "it still sees"
        assert not kinds(supervisor, "applied"), "it never acts"


@pytest.mark.parametrize(
    ("limits", "word"),
    [
        (Limits(max_steps=2), "max_steps"),
        (Limits(max_tokens=500), "max_tokens"),
        (Limits(max_cost_usd=0.001), "max_cost_usd"),
        (Limits(max_execution_time=30), "max_execution_time"),
    ],
)
def test_a_limit_that_is_used_up_ends_the_run_and_says_which(tmp_path, clock, limits, word):
    with supervise(tmp_path, clock, limits) as supervisor:
        for _ in range(4):
            step = replace(supervisor.call("bash", {"command": "ls"}), usage=Usage(200, 50), model="claude-sonnet-4-5")
            decision = supervisor.before(step)
            if decision.action == "stop":
                break
            supervisor.after(supervisor.result("a"))
            clock.advance(20)
        assert decision.action == "stop"
        assert word in decision.reason
        assert kinds(supervisor, "limit")[-1]["limit"] == word
        assert supervisor.run.summary.status == "done"


def test_calls_per_minute_make_the_next_call_wait_until_there_is_room(tmp_path, clock):
    with supervise(tmp_path, clock, Limits(max_calls_per_minute=2)) as supervisor:
        for _ in range(2):
            assert supervisor.before(supervisor.call("bash", {"command": "ls"})).delay_s == 0
            supervisor.after(supervisor.result("a"))
            clock.advance(10)
        assert supervisor.before(supervisor.call("bash", {"command": "pwd"})).delay_s == pytest.approx(40, abs=1)


def test_a_run_that_may_make_no_calls_a_minute_makes_none(tmp_path, clock):
    with supervise(tmp_path, clock, Limits(max_calls_per_minute=0)) as supervisor:
        for command in ("ls", "touch a"):
            decision = supervisor.before(supervisor.call("bash", {"command": command}))
            assert (decision.action, decision.reason) == ("deny", "max_calls_per_minute is 0: no call is allowed")
            clock.advance(120)
        assert kinds(supervisor, "limit")[-1]["what"] == decision.reason


def test_a_paused_run_lets_no_step_through_until_it_is_resumed(tmp_path, clock):
    with supervise(tmp_path, clock) as supervisor:
        supervisor.executor.carry_out(Hold("look at this"))
        step = supervisor.call("bash", {"command": "ls"})
        assert supervisor.before(step).action == "hold"
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(supervisor.ask(step).action))
        waiting.start()
        assert answers == []
        assert supervisor.resume()
        waiting.join(150)
        assert answers == ["proceed"]


def test_under_approval_reads_pass_and_the_rest_waits_for_a_person(tmp_path, clock):
    with supervise(tmp_path, clock, approvals=Approvals(needed=True)) as supervisor:
        assert supervisor.before(supervisor.call("bash", {"command": "cat README.md"})).action == "proceed"
        supervisor.after(supervisor.result("text"))
        first = supervisor.call("bash", {"command": "touch a"})
        assert supervisor.before(first).action == "hold"
        assert "touch a" in supervisor.run.summary.waiting
        supervisor.answer(first.index, "approved")
        assert supervisor.before(first).action == "proceed"
        supervisor.after(supervisor.result(""))
        second = supervisor.call("bash", {"command": "touch b"})
        assert supervisor.before(second).action == "hold"
        supervisor.answer(None, "rejected", "not now")
        denied = supervisor.before(second)
        assert (denied.action, "not now" in denied.reason) == ("deny", True)


def test_waiting_for_a_person_uses_up_no_steps(tmp_path, clock):
    with supervise(tmp_path, clock, Limits(max_steps=4), approvals=Approvals(needed=True)) as supervisor:
        for _ in range(3):
            call = supervisor.call("bash", {"command": "touch file"})
            assert [supervisor.before(call).action for _ in range(5)] == ["hold"] * 5
            supervisor.answer(call.index, "approved")
            assert supervisor.before(call).action == "proceed"
            supervisor.after(supervisor.result(""))
        assert supervisor.run.steering.endpoint.state.stack[0].iter == 3
        assert supervisor.pipeline.ledger.spend.calls == 3


def test_whoever_is_told_that_a_step_waits_finds_it_written_down(tmp_path, clock):
    with supervise(tmp_path, clock, approvals=Approvals(needed=True)) as supervisor:
        found = []

        def look(step, what):
            with JournalReader.open(supervisor.run.folder) as reader:
                found.append((what, reader.summary().waiting))

        supervisor.run.on_waiting = look
        supervisor.executor.carry_out(Hold("look at this"))
        supervisor.resume()
        supervisor.before(supervisor.call("bash", {"command": "touch file"}))
        assert [what for what, _ in found] == [waiting for _, waiting in found]
        assert len(found) == 2


def test_a_wait_that_could_not_be_written_down_is_told_when_the_step_asks_again(tmp_path, clock, monkeypatch):
    with supervise(tmp_path, clock, approvals=Approvals(needed=True)) as supervisor:
        call = supervisor.call("bash", {"command": "touch file"})
        with monkeypatch.context() as broken:

            def refuse(*_, **__):
                raise InterlockError("the disk is full")

            broken.setattr(supervisor.run.journal, "append", refuse)
            broken.setattr(supervisor.run, "record", lambda *_, **__: 0)
            assert supervisor.before(call).action == "hold"
        assert supervisor.run.steering.endpoint.state.waiting == ()
        assert supervisor.before(call).action == "hold"
        assert [waiting.step for waiting in supervisor.run.steering.endpoint.state.waiting] == [call.index]


def test_the_newest_summary_is_the_one_that_is_stored(tmp_path, clock):
    with supervise(tmp_path, clock) as supervisor:
        run = supervisor.run

        def count():
            for tokens in range(300):
                run.update(tokens=tokens)

        counting = threading.Thread(target=count)
        counting.start()
        for step in range(30):
            run.wait_for_person(step, f"step {step}")
        counting.join()
        run.journal.flush()
        with JournalReader.open(run.folder) as reader:
            assert reader.summary() == run.summary


def test_a_run_continued_without_dangerous_tools_refuses_them(tmp_path, clock):
    with supervise(tmp_path, clock, approvals=Approvals(removed=frozenset(("delete", "network")))) as supervisor:
        assert supervisor.before(supervisor.call("bash", {"command": "rm notes.txt"})).action == "deny"
        assert supervisor.before(supervisor.call("bash", {"command": "cat notes.txt"})).action == "proceed"


def test_a_held_step_is_recorded_once_when_it_goes_on(tmp_path, clock):
    with supervise(tmp_path, clock) as supervisor:
        supervisor.executor.carry_out(Hold("wait"))
        step = supervisor.call("bash", {"command": "ls"})
        supervisor.before(step)
        supervisor.before(step)
        supervisor.resume()
        supervisor.before(step)
        supervisor.before(step)
        assert len(kinds(supervisor, "step")) == 1


def test_trying_again_what_was_refused_is_seen(tmp_path, clock):
    with supervise(tmp_path, clock) as supervisor:
        found = set()
        for _ in range(4):
            clock.advance(40)
            supervisor.before(supervisor.call("bash", {"command": DESTRUCTIVE}))
            found = {issue["type"] for issue in kinds(supervisor, "issue")}
        assert found & {"loop", "repetitive_errors"}


def test_a_reviewer_that_raises_fails_closed_where_that_is_configured(tmp_path, clock):
    sections = {"runtime": Runtime(fail="closed")}
    with supervise(tmp_path, clock, sections=sections) as supervisor:
        supervisor.pipeline.parts.reviewer = None
        decision = supervisor.before(supervisor.call("bash", {"command": DESTRUCTIVE}))
        assert decision.action == "deny"
        assert "fail closed" in decision.reason


def test_messages_survive_a_pause_and_reach_the_call_that_goes_on(tmp_path, clock):
    with supervise(tmp_path, clock) as supervisor:
        supervisor.executor.carry_out(Inject(Message("mind the gap")))
        supervisor.executor.carry_out(Hold("wait"))
        step = supervisor.call("bash", {"command": "ls"})
        assert supervisor.before(step).messages == ()
        supervisor.resume()
        assert [message.content for message in supervisor.before(step).messages] == ["mind the gap"]


def test_a_stop_during_a_delay_is_not_followed_by_the_call(tmp_path):
    with supervise(tmp_path, SystemClock(), Limits(max_calls_per_minute=1)) as supervisor:
        supervisor.before(supervisor.call("bash", {"command": "ls"}))
        supervisor.after(supervisor.result("a"))
        answers = []
        step = supervisor.call("bash", {"command": "pwd"})
        waiting = threading.Thread(target=lambda: answers.append(supervisor.ask(step).action))
        waiting.start()
        supervisor.executor.carry_out(Stop("enough"))
        supervisor.run.end("aborted", "ERROR", "enough")
        waiting.join(150)
        assert answers == ["stop"]


def test_two_calls_at_once_are_told_apart_by_their_ids(tmp_path, clock):
    with supervise(tmp_path, clock) as supervisor:
        write = supervisor.call("bash", {"command": "touch a"}, call_id="w")
        read = supervisor.call("bash", {"command": "cat a"}, call_id="r")
        assert supervisor.before(write).action == supervisor.before(read).action == "proceed"
        assert supervisor.run.gate.inside == 2
        supervisor.after(replace(supervisor.result(""), tool=Tool("bash", {}, "w")))
        assert supervisor.run.gate.inside == 1
        supervisor.after(replace(supervisor.result(""), tool=Tool("bash", {}, "r")))
        assert supervisor.run.gate.inside == 0


def test_calls_whose_results_never_come_are_forgotten_and_counted_no_more(tmp_path, clock):
    with supervise(tmp_path, clock) as supervisor:
        left = []
        supervisor.run.gate.through(Passages(left))
        for number in range(MOST + 3):
            supervisor.before(supervisor.call("bash", {"command": f"cat {number}"}, call_id=f"c{number}"))
        assert supervisor.run.gate.inside == MOST
        assert left == ["/c0", "/c1", "/c2"]


class Passages:
    """Counts who has left."""

    def __init__(self, left):
        self._left = left

    def enter(self, key):
        return True

    def leave(self, key):
        self._left.append(key)


def test_a_secret_in_the_task_stays_out_of_the_journal(tmp_path, clock):
    secret = "sk-ant-api03-" + "A1b2C3d4" * 8
    config = Config()
    with Supervisor.open(task=f"use {secret}", store=Store(tmp_path), clock=clock, config=config) as supervisor:
        supervisor.run.journal.flush()
        folder = supervisor.run.folder
    for file in folder.path.rglob("*"):
        assert not file.is_file() or secret.encode() not in file.read_bytes(), file


def test_results_of_parallel_calls_end_their_own_calls_in_any_order(tmp_path, clock):
    with supervise(tmp_path, clock) as supervisor:
        first = supervisor.call("bash", {"command": "touch a"}, call_id="a")
        second = supervisor.call("bash", {"command": "touch b"}, call_id="b", agent="helper")
        third = supervisor.call("bash", {"command": "touch c"}, call_id="c")
        for call in (first, second, third):
            assert supervisor.before(call).action == "proceed"
        gate = supervisor.run.gate
        supervisor.after(supervisor.result("", call_id="a"))
        assert gate._inside.get(first) is None
        assert gate._inside.get(second) is not None and gate._inside.get(third) is not None
        supervisor.after(supervisor.result("", call_id="a"))
        assert gate.inside == 2, "a result that comes twice ends no other call"
        supervisor.after(supervisor.result("", call_id="b", agent="helper"))
        supervisor.after(supervisor.result("", call_id="c"))
        assert gate.inside == 0
        steps = [record["step"] for record in kinds(supervisor, "step")]
        assert [step.get("agent") for step in steps] == [None, "helper", None, None, None, "helper", None]
        assert [step["tool"]["call_id"] for step in steps] == ["a", "b", "c", "a", "a", "b", "c"]


def test_a_call_that_is_refused_while_another_runs_ends_no_other(tmp_path, clock):
    with supervise(tmp_path, clock) as supervisor:
        running = supervisor.call("bash", {"command": "ls"}, call_id="a")
        assert supervisor.before(running).action == "proceed"
        refused = supervisor.call("bash", {"command": DESTRUCTIVE}, call_id="b")
        assert supervisor.before(refused).action == "deny"
        supervisor.abandon(refused)
        assert supervisor.run.gate.inside == 1
