"""A broken part of supervision never stops the agent, unless it is told to fail closed."""

import sys
import threading

import msgspec
import pytest
from msgspec.structs import replace

from interlock.config import Config
from interlock.config.schema import Runtime
from interlock.core import (
    EVERY_CAPABILITY,
    Applied,
    Hold,
    InterlockError,
    Limits,
    ManualClock,
    Notify,
    Step,
    Stop,
    Tool,
)
from interlock.journal import JournalReader, Store
from interlock.runtime import Plugins, Supervisor
from interlock.runtime.alerts import Notifier
from tests.runtime.scripted import START


class Detector:
    """A plug-in that does what the test says."""

    type = "odd"

    def __init__(self, behaviour):
        self._behaviour = behaviour

    def observe(self, seen):
        return self._behaviour()

    def save(self):
        return b""

    def restore(self, state):
        pass


def raises():
    raise ValueError("a bug")


def gives_nonsense():
    return ["not an issue"]


def gives_none():
    return None


RELEASE = threading.Event()


def hangs():
    RELEASE.wait(150)
    return ()


@pytest.fixture(autouse=True)
def release():
    RELEASE.clear()
    yield
    RELEASE.set()


def supervise(tmp_path, behaviour=None, *, fail="open", timeout_ms=None, **options):
    """Only what hangs is to be late: a busy machine must not make anything else so."""
    timeout_ms = timeout_ms or (60_000.0 if behaviour in (raises, gives_nonsense, gives_none) else 200.0)
    config = replace(Config(), runtime=Runtime(fail=fail, step_timeout_ms=timeout_ms))
    plugins = Plugins(detectors=(lambda setting: Detector(behaviour),)) if behaviour else Plugins()
    return Supervisor.open(
        task="t", store=Store(tmp_path), config=config, plugins=plugins, clock=ManualClock(START), **options
    )


def faults(supervisor):
    supervisor.run.journal.flush()
    with JournalReader.open(supervisor.run.folder) as reader:
        return [msgspec.json.decode(record.body) for record in reader.read(kinds=frozenset(("fault",)))]


def faults_of(part, supervisor):
    """Of a part alone: on a busy machine everything else may be late once too."""
    return [fault for fault in faults(supervisor) if fault["part"] == part]


def steps(supervisor):
    supervisor.run.journal.flush()
    with JournalReader.open(supervisor.run.folder) as reader:
        return [msgspec.json.decode(record.body) for record in reader.read(kinds=frozenset(("step",)))]


@pytest.mark.parametrize("behaviour", [raises, gives_nonsense], ids=["raises", "nonsense"])
def test_a_detector_that_misbehaves_lets_the_step_go_on_and_is_counted(tmp_path, behaviour):
    with supervise(tmp_path, behaviour) as supervisor:
        decision = supervisor.before(supervisor.call("bash", {"command": "ls"}))
        assert decision.action == "proceed"
        assert supervisor.faults == 1
        assert faults(supervisor)[0]["part"] == "detector odd"


def test_a_detector_that_gives_nothing_is_fine(tmp_path):
    with supervise(tmp_path, gives_none) as supervisor:
        assert supervisor.before(supervisor.call("bash", {"command": "ls"})).action == "proceed"
        assert supervisor.faults == 0


def test_a_detector_that_keeps_failing_is_asked_no_more(tmp_path):
    with supervise(tmp_path, raises) as supervisor:
        for _ in range(6):
            supervisor.after(supervisor.message("hm"))
        assert [fault["dropped"] for fault in faults(supervisor)] == [False, False, True]


def test_a_detector_that_hangs_is_left_behind_and_the_others_go_on(tmp_path):
    with supervise(tmp_path, hangs, timeout_ms=20.0) as supervisor:
        while not any(fault.get("dropped") for fault in faults(supervisor)):
            assert supervisor.before(supervisor.call("bash", {"command": "ls"})).action == "proceed"
            assert not RELEASE.is_set(), "it waited for the detector"
        before = faults_of("detector odd", supervisor)
        for _ in range(4):
            supervisor.before(supervisor.call("bash", {"command": "pytest"}))
            decision = supervisor.after(supervisor.result("Error: cannot import x", error=True))
        assert decision.action == "proceed"
        assert faults_of("detector odd", supervisor) == before, "it is asked no more"


def test_what_supervision_is_late_for_is_taken_in_afterwards(tmp_path):
    with supervise(tmp_path, hangs, timeout_ms=100.0) as supervisor:
        supervisor.after(supervisor.message("hello"))
        assert not steps(supervisor)
        RELEASE.set()
        while not steps(supervisor):
            supervisor.after(supervisor.message("again"))
        assert "unobserved" not in steps(supervisor)[0]


@pytest.mark.parametrize("comes", [True, False], ids=["late", "never"])
def test_a_run_that_ends_loses_no_step_that_supervision_is_late_for(tmp_path, comes):
    with supervise(tmp_path, hangs, timeout_ms=20.0) as supervisor:
        supervisor.after(supervisor.message("hello"))
        assert not steps(supervisor)
        if comes:
            threading.Timer(0.2, RELEASE.set).start()
        supervisor.finish("done", "COMPLETE", "")
        [step] = steps(supervisor)
        assert step.get("unobserved", False) is not comes


def test_steps_are_recorded_in_their_order_where_one_was_late(tmp_path):
    with supervise(tmp_path, hangs, timeout_ms=100.0) as supervisor:
        supervisor.after(supervisor.message("first"))
        threading.Timer(0.1, RELEASE.set).start()
        supervisor.after(supervisor.message("second"))
        supervisor.finish("done", "COMPLETE", "")
        assert [one["step"]["content"] for one in steps(supervisor)] == ["first", "second"]


def test_fail_closed_denies_the_call_and_says_why(tmp_path):
    with supervise(tmp_path, hangs, fail="closed") as supervisor:
        decision = supervisor.before(supervisor.call("bash", {"command": "ls"}))
        assert decision.action == "deny"
        assert "detector odd" in decision.reason


class OddAdapter:
    """An adapter that does what the test says when it is asked to act."""

    name = "odd"
    capabilities = EVERY_CAPABILITY

    def __init__(self, behaviour):
        self._behaviour = behaviour

    def apply(self, directive):
        return self._behaviour()


@pytest.mark.parametrize("behaviour", [raises, gives_nonsense, hangs], ids=["raises", "nonsense", "hangs"])
def test_an_adapter_that_misbehaves_does_not_keep_an_emergency_stop_from_stopping(tmp_path, behaviour):
    with supervise(tmp_path, adapter=OddAdapter(behaviour)) as supervisor:
        stop_now(supervisor)
        assert supervisor.run.status == "aborted"
        assert supervisor.before(supervisor.call("bash", {"command": "ls"})).action == "stop"


def test_a_notifier_that_hangs_or_raises_harms_nothing(tmp_path):
    failures = []
    notifier = Notifier({"slow": lambda n: hangs(), "bad": lambda n: raises()}, on_failure=failures.append)
    with supervise(tmp_path, notifier=notifier) as supervisor:
        stop_now(supervisor)
        assert supervisor.run.status == "aborted"
        RELEASE.set()
    assert [failure.channel for failure in failures] == ["bad"]


def test_an_adapter_without_a_capability_gets_the_nearest_thing(tmp_path):
    class Mute(OddAdapter):
        capabilities = frozenset(("deny",))

    with supervise(tmp_path, adapter=Mute(lambda: Applied(True))) as supervisor:
        supervisor.executor.carry_out(Hold("a test"))
        assert supervisor.before(supervisor.call("bash", {"command": "ls"})).action == "deny"


def stop_now(supervisor):
    from interlock.core import Stop

    supervisor.executor.carry_out(Notify("t", "t"))
    supervisor.executor.carry_out(Stop("emergency_stop"))


def test_a_limit_stops_the_agent_also_when_the_journal_cannot_be_written(tmp_path, monkeypatch):
    config = replace(Config(), limits=Limits(max_steps=2, max_memory_mb=100))
    with Supervisor.open(task="t", store=Store(tmp_path), clock=ManualClock(START), config=config) as supervisor:
        append = supervisor.run.journal.append

        def refuse(entries, *, durable=False, summary=None):
            if durable:
                raise InterlockError("the disk is full")
            return append(entries, durable=durable, summary=summary)

        monkeypatch.setattr(supervisor.run.journal, "append", refuse)
        told = []
        monkeypatch.setattr(
            supervisor.executor, "carry_out", lambda order: told.append(type(order)) or Applied(True, "")
        )
        supervisor.check_usage(200.0, 1.0)
        assert told == [Stop]
        assert supervisor.before(supervisor.call("bash", {"command": "ls"})).action == "stop"
        monkeypatch.undo()


def test_nothing_is_let_through_where_what_judges_calls_cannot_be_loaded(tmp_path, monkeypatch):
    with supervise(tmp_path) as supervisor:
        monkeypatch.setitem(sys.modules, "interlock.review", None)
        monkeypatch.setattr(supervisor.pipeline, "_parts", None)

        def fail():
            raise ImportError("No module named 're2'")

        monkeypatch.setattr(supervisor.pipeline, "_make", fail)
        call = Tool("bash", {"command": "ls"}, "c1")
        decision = supervisor.before(Step(run_id="r", index=0, role="assistant", kind="tool_call", tool=call))
        assert decision.action == "deny"
        assert "cannot be loaded" in decision.reason
        monkeypatch.undo()


CYCLE: dict[str, object] = {}
CYCLE["itself"] = CYCLE


@pytest.mark.parametrize(
    "arguments",
    [{"path": "caf\udce9.txt"}, {"path": object()}, {1: "one"}, {"path": b"\xff"}, {"size": 10**40}, CYCLE],
    ids=["not UTF-8", "object", "number as key", "bytes", "huge number", "cycle"],
)
def test_arguments_that_json_does_not_have_are_judged_like_others(arguments, tmp_path):
    with Supervisor.open(task="read", config=Config(), store=Store(tmp_path)) as supervisor:
        step = supervisor.call("read", arguments)
        assert supervisor.ask(step).action == supervisor.before(step).action == "proceed"
        assert supervisor.after(supervisor.result("text")).action == "proceed"
        assert (supervisor.run.summary.steps, supervisor.faults) == (2, 0)
