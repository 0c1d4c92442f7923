"""pause, resume, cancel, escalate, approve and reject, as a person types them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from interlock.config.schema import Hub
from interlock.control import Execute, Executed, RunEnded, Waiting, WaitingForPerson
from interlock.link.hub_endpoint import HubLink
from tests.cli.calling import interlock, lines_of
from tests.link.broker import Broker
from tests.link.owned import Owned


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="il-") as short:
        monkeypatch.setenv("XDG_RUNTIME_DIR", short)
        yield tmp_path


def own(home: Path, run_id: str = "r1") -> Owned:
    return Owned(home / "state" / "interlock" / "runs", run_id=run_id)


def test_a_run_is_paused_resumed_and_cancelled_by_its_beginning(home: Path) -> None:
    with own(home, "abc123") as owned:
        done = interlock("pause", "abc", "--reason", "lunch", home=home)
        assert (done.returncode, done.stdout) == (0, "abc123: steps held\n"), done.stderr
        assert owned.endpoint.state.status == "paused"
        again = interlock("pause", "abc", home=home)
        assert again.returncode == 4 and "already paused" in again.stderr and again.stdout == ""
        (result,) = lines_of(interlock("resume", "abc", "--json", home=home).stdout)
        assert result["type"] == "RESULT" and result["payload"]["status"] == "success"
        assert interlock("cancel", "abc", home=home).returncode == 0
        ended = interlock("pause", "abc", home=home)
        assert (ended.returncode, ended.stderr) == (3, "interlock: abc123: the run has ended (aborted)\n")


def test_one_bad_byte_in_another_runs_journal_stops_no_command(home: Path) -> None:
    with own(home, "bad") as bad:
        bad.journal.flush()
    connection = apsw.Connection(str(bad.folder.journal))
    connection.execute("UPDATE summary SET body = cast(x'ff' || body AS TEXT)").fetchall()
    connection.close()
    with own(home, "good") as owned:
        for command in ("pause", "resume", "cancel"):
            assert interlock(command, "good", home=home).returncode == 0, command
        assert owned.endpoint.state.status == "aborted"
        listed = interlock("ps", "--all", home=home)
        assert listed.returncode == 0 and "unreadable" in listed.stdout and "good" in listed.stdout
        assert interlock("prune", "--keep", "5", "--dry-run", home=home).returncode == 0


def test_the_answer_calls_a_run_by_its_name_and_with_v_by_its_id_and_the_protocols_words(home: Path) -> None:
    with Owned(home / "state" / "interlock" / "runs", run_id="abc123", name="nap"):
        assert interlock("pause", "abc", home=home).stdout == "nap: steps held\n"
        again = interlock("pause", "nap", "-v", home=home)
        assert again.stderr == "interlock: abc123: the run is already paused (invalid_state)\n"
        assert interlock("resume", "nap", "-v", home=home).stdout == "abc123: resumed at iteration 1\n"
        assert interlock("resume", "nap", home=home).stderr == "interlock: nap: the run is already running\n"
        assert interlock("cancel", "nap", home=home).stdout == "nap is cancelled\n"


def test_escalate_says_both_models_and_refuses_unknown_ones(home: Path) -> None:
    with own(home) as owned:
        done = interlock("escalate", "r1", "--model", "opus", "--reason", "stuck", "--json", home=home)
        (result,) = lines_of(done.stdout)
        assert result["payload"]["previous_model"] == "claude-haiku-4-5" and result["payload"]["new_model"] == "opus"
        frame = owned.endpoint.state.frame
        assert frame is not None and frame.escalation_reason == "stuck"
        unknown = interlock("escalate", "r1", "--model", "nonesuch", home=home)
        assert unknown.returncode == 2 and "is unknown" in unknown.stderr


def test_the_step_that_waits_is_answered_without_naming_it(home: Path) -> None:
    with own(home) as owned:
        assert interlock("approve", "r1", home=home).returncode == 4
        owned.endpoint.post(WaitingForPerson(Waiting("approval", 7, "rm -rf build")))

        def execute(order: Execute) -> Executed:
            return Executed(order.request_id, True, f"{order.command}d step {order.payload['step']}")

        owned.actuator.execute = execute  # type: ignore[method-assign]
        done = interlock("approve", "r1", home=home)
        assert (done.returncode, done.stdout) == (0, "r1: approved step 7\n")
        wrong = interlock("reject", "r1", "--step", "9", "--json", home=home)
        assert wrong.returncode == 4 and lines_of(wrong.stdout)[0]["payload"]["code"] == "invalid_state"


def test_many_runs_get_one_request_each_under_one_batch(home: Path) -> None:
    with own(home, "one") as one, own(home, "two") as two, own(home, "three") as three:
        two.endpoint.post(RunEnded("COMPLETE"))
        two.journal.append((), summary=_with_status(two, "done"))
        done = interlock("pause", "--all", "--json", home=home)
        (answer,) = lines_of(done.stdout)
        assert done.returncode == 0 and len(answer["results"]) == 2
        assert {result["batch_id"] for result in answer["results"]} == {answer["batch_id"]}
        assert one.endpoint.state.status == three.endpoint.state.status == "paused"
        assert "No live run matches" in interlock("resume", "--where", "status=paused", home=home).stdout
        assert interlock("resume", "--where", "status=running", home=home).returncode == 0
        assert one.endpoint.state.status == "running"


def _with_status(owned: Owned, status: str) -> object:
    from msgspec.structs import replace

    return replace(owned.journal.reader().summary(), status=status)


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["pause"], 2, "no run specified"),
        (["pause", "r1", "--all"], 2, "RUN cannot be combined with --all"),
        (["pause", "--where", "colour=red"], 2, "is not a condition"),
        (["pause", "--where", "status=done"], 2, "Known: running, pausing, paused."),
        (["pause", "nobody"], 3, "there is no run"),
        (["run", "--hub", "http://a:secret@hub", "--", "true"], 2, "'hub' is not a hub address"),
        (["run", "--hub", "nats://hub:99999", "--", "true"], 2, "'nats://hub:99999' is not a hub address"),
        (["pause", "x", "--hub", "nats://a:b@c"], 2, "credentials"),
    ],
)
def test_wrong_usage_is_one_line(home: Path, arguments: list[str], status: int, says: str) -> None:
    done = interlock(*arguments, home=home)
    assert done.returncode == status and says in done.stderr and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("limits: {max_stepss: 5}", "interlock.yaml:1: limits.max_stepss: unknown key. Did you mean max_steps?"),
        ("limits: {max_steps: 5", "interlock.yaml:2: is not YAML"),
        ("store: {retention_days: -1}\nnonsense: 1", "and 1 more"),
    ],
)
def test_a_slip_in_the_configuration_keeps_nobody_from_steering(home: Path, written: str, says: str) -> None:
    (home / "interlock.yaml").write_text(f"{written}\n")
    with own(home) as owned:
        assert "r1" in interlock("ps", home=home).stdout
        done = interlock("pause", "r1", home=home)
        assert (done.returncode, done.stdout) == (0, "r1: steps held\n")
        assert owned.endpoint.state.status == "paused"
    (line,) = done.stderr.splitlines()
    assert says in line and "Continuing without this" in line and line.endswith("see interlock config check.")
    assert interlock("run", "--", "true", home=home).returncode == 2


def test_what_is_right_about_a_configuration_holds_beside_a_slip(home: Path) -> None:
    (home / "interlock.yaml").write_text(f"store: {{dir: {home}/elsewhere}}\nlimits: {{max_stepss: 5}}\n")
    with own(home):
        assert interlock("ps", home=home).stdout.startswith("No live runs")


def test_a_dead_owner_is_named_and_the_outcome_unknown(home: Path) -> None:
    own(home).close()
    done = interlock("pause", "r1", "--timeout", "0.3", home=home)
    assert done.returncode == 5 and "is dead" in done.stderr and "unknown" in done.stderr


def test_runs_of_another_machine_are_listed_and_steered_through_the_hub(home: Path) -> None:
    elsewhere = home / "elsewhere"
    with Broker(home / "js") as broker, Owned(elsewhere, run_id="far") as owned:
        # Another machine of the same person: it has the same key.
        settings = Hub(url=broker.url, key_file=str(home / "config" / "interlock" / "key"))
        link = HubLink(settings, owned.endpoint, owned.journal)
        link.start()
        assert interlock("ps", home=home).stdout.startswith("No live runs")
        for _ in range(100):
            (answer,) = lines_of(interlock("ps", "--hub", broker.url, "--json", home=home).stdout)
            if answer["runs"]:
                break
        (run,) = answer["runs"]
        assert (run["run_id"], run["status"]) == ("far", "running") and run["host"]
        assert "far" in interlock("ps", "--hub", broker.url, home=home).stdout
        assert interlock("pause", "fa", "--hub", broker.url, home=home).stdout == "far is paused\n"
        assert interlock("resume", "far", "--hub", broker.url, home=home).returncode == 0
        assert interlock("cancel", "--all", "--hub", broker.url, home=home).returncode == 0
        assert owned.endpoint.state.status == "aborted"
        link.close()
