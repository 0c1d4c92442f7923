"""A stubborn agent climbs the whole ladder, over real processes; each of the four options works from what is stored."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.config import Config
from interlock.core import LADDER
from interlock.journal import RunFolder
from interlock.runtime import Incidents, StoredIncident
from interlock.runtime.pipeline_values import AFTER_STEP
from interlock.runtime.workspace import open_workspace

from .running import Place, finish, until

CONFIG = {
    "interventions": {
        "intervention_cooldown_seconds": 0,
        "resource_throttling": {"metrics_window_seconds": 1},
        "checkpoint_rollback": {"safe_checkpoint_criteria": {"no_errors_duration_seconds": 0}},
        "strategy": {"escalation_delay_seconds": 0},
    }
}
AGENT = (sys.executable, str(Path(__file__).with_name("stubborn.py")), "60")
FILES = {"src/main.py": "print(1)\n", "src/report.py": "print(2)\n", "src/data/rows.csv": "1,2\n"}


class Stopped:
    """A run that was stopped, which each test takes up anew."""

    def __init__(self, root: Path) -> None:
        self.place = Place(root, CONFIG)
        for name, text in FILES.items():
            path = self.place.workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.status, _, self.said = self.place.run(*AGENT, options=("--task", "make the tests pass", "--name", "fix"))
        self.folder = self.place.folder
        self.left = self.place.processes()
        self.files = read_files(self.place)
        self.answers = read_answers(self.place)
        (self._file,) = self.folder.incidents.glob("*/incident.json")
        self._stored = self._file.read_bytes()

    def reopen(self) -> StoredIncident:
        self._file.write_bytes(self._stored)
        (self.place.root / "answers.jsonl").unlink(missing_ok=True)
        return Incidents(self.place.store).all()[0]

    def words(self, option: str) -> list[str]:
        config = ("--config", str(self.place.config), "--summary", str(self.place.summary))
        incident = self.reopen().id
        return [sys.executable, "-m", "interlock", "incident", "continue", incident, "--option", option, *config]

    def successor(self) -> RunFolder:
        """The run that goes on, once it is there."""
        until("the run goes on", lambda: Incidents(self.place.store).all()[0].continued_by)
        run_id = str(Incidents(self.place.store).all()[0].continued_by)
        until("its folder is there", (self.place.store.root / run_id / "spec.json").exists)
        return RunFolder(self.place.store.root / run_id)


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stopped]:
    made = Stopped(tmp_path_factory.mktemp("ladder"))
    yield made
    made.place.close()


def read_answers(place: Place) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (place.root / "answers.jsonl").read_text().splitlines()]


def read_files(place: Place) -> dict[str, str]:
    return {str(p.relative_to(place.workspace)): p.read_text() for p in place.workspace.rglob("*") if p.is_file()}


def words_in(answers: list[dict[str, Any]]) -> list[str]:
    return [message["content"] for answer in answers for message in answer.get("messages", ())]


def test_every_rung_is_taken_in_order(stopped: Stopped) -> None:
    made = [r["intervention"] for r in stopped.place.records("intervention", folder=stopped.folder)]
    climbed = [i["type"] for i in made if i["issue_type"] == "repetitive_errors" and i.get("outcome") != "held_back"]
    assert list(dict.fromkeys(climbed)) == list(LADDER)
    assert stopped.status == 125


def test_hint_and_reminder_are_in_the_answers_that_the_agent_reads(stopped: Stopped) -> None:
    metas = [m["meta"]["intervention"] for a in stopped.answers for m in a.get("messages", ()) if "meta" in m]
    assert metas.index("soft_correction") < metas.index("context_reinforcement") < metas.index("resource_throttling")
    assert any("make the tests pass" in text for text in words_in(stopped.answers))


def test_throttled_calls_are_delayed(stopped: Stopped) -> None:
    waits = [r for r in stopped.place.records("limit", folder=stopped.folder) if r.get("seconds")]
    assert waits and "throttled" in waits[0]["what"]
    assert any(answer.get("delay_s", 0) > 0 for answer in stopped.answers)


def test_the_rollback_takes_back_what_the_shell_did_exactly(stopped: Stopped) -> None:
    first = stopped.place.records("restored", folder=stopped.folder)[0]
    assert {"src/data/rows.csv", "src/main.py", "src/report.py"} <= set(first["changed"])
    assert stopped.files == FILES


def test_nothing_is_left_running_and_the_incident_is_complete(stopped: Stopped) -> None:
    assert stopped.left == []
    stored = stopped.reopen()
    assert stored.status == "open"
    assert stored.incident.issue.type == "repetitive_errors"
    assert stored.incident.actions and stored.incident.patterns
    assert [option.name for option in stored.options] == [
        "resume_with_limits", "rollback_and_retry", "manual_intervention", "abort",
    ]  # fmt: skip
    status, out, _ = stopped.place.interlock("incident", "show", stored.id)
    assert status == 0
    assert b"rollback_and_retry" in out
    assert stored.id.encode() in stopped.said


def test_resume_with_limits_goes_on_without_dangerous_tools(stopped: Stopped) -> None:
    run = stopped.place.begin(stopped.words("resume_with_limits"))
    status, _, said = finish(run)
    assert status == 0, said
    answers = read_answers(stopped.place)
    assert [answer["action"] for answer in answers] == ["proceed", "proceed", "deny", "deny"]
    assert "without dangerous tools" in answers[-1]["reason"]
    folder = stopped.successor()
    assert folder.spec().continues == stopped.folder.run_id
    settled = Incidents(stopped.place.store).all()[0]
    assert (settled.status, settled.option) == ("continued", "resume_with_limits")
    status, _, said = stopped.place.interlock("incident", "continue", settled.id, "--option", "abort")
    assert status == 4 and b"settled" in said


def test_rollback_and_retry_takes_the_files_back_first(stopped: Stopped) -> None:
    place = stopped.place
    assert stopped.files == FILES, "rolled back before the stop"
    store = place.root / "state" / "interlock" / "checkpoints"
    held = open_workspace(place.workspace, Config(), stopped.folder.run_id, store)
    (place.workspace / "src/main.py").write_text("what the run did last\n")
    held.create("", 99, AFTER_STEP)
    held.close()
    (place.workspace / "mine.txt").write_text("somebody else's\n")
    status, _, said = finish(place.begin(stopped.words("rollback_and_retry")))
    assert status == 0, said
    first = place.records("checkpoint", folder=stopped.successor())[0]["id"]
    again = open_workspace(place.workspace, Config(), "look", store)
    kept = again.checkpoints.restore(first)
    again.close()
    assert kept.changed, "the agent has broken the files once more"
    assert read_files(place) == {**FILES, "mine.txt": "somebody else's\n"}


def test_manual_intervention_waits_for_approve_or_reject_and_reads_do_not(stopped: Stopped) -> None:
    run = stopped.place.begin(stopped.words("manual_intervention"))
    folder = stopped.successor()
    place = stopped.place

    def waiting() -> str | None:
        (summary,) = [known for known in place.store.runs() if known.run_id == folder.run_id]
        return summary.waiting

    until("a step waits", waiting)
    assert len(read_answers(place)) == 2, "the check has run without anybody's leave"
    assert "rm -rf src/data" in str(waiting())
    assert place.order("approve", {"step": 2}).outcome == "success"
    until("the next one waits", lambda: len(read_answers(place)) == 4 and waiting())
    assert place.order("reject", {"step": 4, "reason": "once is enough"}).outcome == "success"
    assert finish(run)[0] == 0
    last = read_answers(place)[-1]
    assert last["action"] == "deny" and "once is enough" in last["reason"]


def test_abort_cleans_up_and_settles(stopped: Stopped) -> None:
    status, out, _ = stopped.place.interlock("incident", "continue", stopped.reopen().id, "--option", "abort", "--json")
    assert status == 0
    assert json.loads(out)["status"] == "aborted"
    assert Incidents(stopped.place.store).all()[0].status == "aborted"
    assert not stopped.folder.gate.exists()
    assert list(stopped.folder.inbox.iterdir()) == []
