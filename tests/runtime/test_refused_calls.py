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
