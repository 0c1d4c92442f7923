"""An agent that keeps trying what is refused: what its incident says."""

import pytest

from interlock.config import Config
from interlock.core import ManualClock
from interlock.journal import Store
from interlock.runtime import Supervisor
from interlock.runtime.incidents import Incidents
from tests.runtime.scripted import START


@pytest.fixture
def report(tmp_path):
    clock, store = ManualClock(START), Store(tmp_path)
    with Supervisor.open(task="t", store=store, clock=clock, config=Config()) as supervisor:
        for _ in range(12):
            supervisor.before(supervisor.call("bash", {"command": "cat ~/.ssh/id_rsa"}))
            clock.advance(130)
            if supervisor.run.ended:
                break
    (incident,) = Incidents(store).all()
    return incident.report


def test_it_says_what_became_of_the_earlier_answers(report):
    said = [moment.text for moment in report.timeline]
    assert {"soft_correction did not work", "context_reinforcement did not work"} <= set(said)
    assert not any("not known" in text for text in said)
    assert any("earlier interventions did not work" in factor for factor in report.contributing_factors)


def test_it_says_that_secrets_were_to_be_read_and_how_bad_that_is(report):
    assert "A dangerous call was blocked before it ran. It reads private keys" in report.summary
    assert "tried to read private keys" in report.root_cause
    assert report.severity == "critical"
    assert "destroy" not in report.to_text()


def test_asking_again_for_a_refused_call_is_a_loop_of_its_own_and_no_failure_of_the_agent(tmp_path):
    with Supervisor.open(task="t", store=Store(tmp_path), clock=ManualClock(START), config=Config()) as supervisor:
        for _ in range(4):
            supervisor.before(supervisor.call("bash", {"command": "cat ~/.ssh/id_rsa"}))
        found = supervisor.pipeline.state(START).issues
        (history,) = (agent.history for agent in supervisor.pipeline.detectors._agents.values())
    assert {issue.type for issue in found} == {"destructive_action", "loop"}
    (again,) = (issue for issue in found if issue.type == "loop")
    assert again.description.startswith("It asked 3 times for a call of bash that Interlock refused.")
    assert [(turn.refused, turn.failed, turn.gain) for turn in history.turns] == [(True, False, False)] * 4
