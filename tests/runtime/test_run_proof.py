"""A run's claims are judged on its files as they are, and what changed about its tests is recorded with them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from interlock.core import Step, Tool
from interlock.journal import JournalReader, Store
from interlock.journal_records import ProofRecord, read_body
from interlock.report.proof import read_proof
from interlock.runtime import Supervisor
from tests.cli.calling import interlock

TESTS = """import unittest
from a import f


class Tests(unittest.TestCase):
    def test_f(self):
        self.assertEqual(f(1), 2)
        self.assertEqual(f(2), 3)
"""
CHECK = f"{sys.executable} -m unittest discover -s tests -t ."


class Agent:
    """Runs commands for real, in a supervised workspace."""

    def __init__(self, home: Path) -> None:
        self.workspace = home / "work"
        (self.workspace / "tests").mkdir(parents=True)
        (self.workspace / "tests" / "__init__.py").touch()
        (self.workspace / "tests" / "test_a.py").write_text(TESTS)
        (self.workspace / "a.py").write_text("def f(x):\n    return x + 1\n")
        store = Store(home / "state" / "interlock" / "runs")
        self.supervisor = Supervisor.open(task="fix f", workspace=str(self.workspace), name="fix", store=store)

    def _step(self, **fields: object) -> Step:
        return Step(run_id=self.supervisor.run.spec.run_id, index=self.supervisor.next_index, **fields)  # type: ignore[arg-type]

    def run(self, command: str) -> None:
        tool = Tool("Bash", {"command": command}, f"c{self.supervisor.next_index}")
        assert self.supervisor.before(self._step(role="assistant", kind="tool_call", tool=tool)).action == "proceed"
        done = subprocess.run(command, shell=True, cwd=self.workspace, capture_output=True, text=True, check=False)
        output = done.stdout + done.stderr
        self.supervisor.after(
            self._step(role="tool", kind="tool_result", tool=tool, content=output, exit_code=done.returncode)
        )

    def say(self, text: str) -> None:
        self.supervisor.after(self._step(role="assistant", kind="message", content=text))

    def proof(self) -> ProofRecord:
        self.supervisor.close()
        assert self.supervisor.run.folder is not None
        with JournalReader.open(self.supervisor.run.folder) as reader:
            return read_proof(reader)


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path)


def _verdicts(found: ProofRecord) -> dict[str, str]:
    return {each.claim.kind: each.verdict for each in found.claims}


def test_a_true_claim_is_proven_on_the_tree_that_is_left(agent: Agent) -> None:
    agent.run(CHECK)
    agent.say("All tests pass.")
    found = agent.proof()
    assert (_verdicts(found), found.tests) == ({"tests": "proven"}, ())
    assert found.tree


def test_what_changes_behind_the_agents_back_makes_it_stale(agent: Agent) -> None:
    agent.run(CHECK)
    agent.say("All tests pass.")
    (agent.workspace / "a.py").write_text("def f(x):\n    return x\n")
    (found,) = agent.proof().claims
    assert (found.verdict, found.changed) == ("stale", ("a.py",))


def test_what_was_put_back_is_proven_again(agent: Agent) -> None:
    agent.run(CHECK)
    agent.run("cp a.py /tmp/a.kept.$$; echo 'x = 1' >> a.py; mv /tmp/a.kept.$$ a.py")
    agent.say("All tests pass.")
    assert _verdicts(agent.proof()) == {"tests": "proven"}


def test_a_weakened_test_is_a_fact_of_the_run(agent: Agent, tmp_path: Path) -> None:
    agent.run("sed -i 's/(2), 3/(2), f(2)/' tests/test_a.py")
    agent.run(CHECK)
    agent.say("All tests pass. I've created `b.py`.")
    found = agent.proof()
    assert _verdicts(found) == {"tests": "own_check", "file": "contradicted"}
    assert [(fact.kind, fact.path, fact.line) for fact in found.tests] == [("trivial", "tests/test_a.py", 8)]
    shown = interlock("proof", "fix", home=tmp_path)
    assert shown.returncode == 1
    assert "an assertion of Tests.test_f compares a value with itself: tests/test_a.py:8" in shown.stdout
    report = interlock("report", "fix", "--format", "md", home=tmp_path).stdout
    assert report.index("Is it really done?") < report.index("## The ladder")


def test_a_run_without_claims_records_nothing(agent: Agent) -> None:
    agent.run(CHECK)
    agent.say("I will look at the code next.")
    agent.supervisor.close()
    assert agent.supervisor.run.folder is not None
    with JournalReader.open(agent.supervisor.run.folder) as reader:
        assert reader.last("proof") is None


def test_a_run_that_breaks_off_after_a_call_says_so(agent: Agent, tmp_path: Path) -> None:
    agent.say("I will look at the code first.")
    agent.run(CHECK)
    assert agent.proof().ending == "no final message: the last thing that the agent did was to call Bash"
    assert "No final message" in interlock("proof", "fix", home=tmp_path).stdout


def test_a_claim_is_judged_when_it_is_made_and_once(agent: Agent) -> None:
    agent.run(CHECK)
    agent.say("All tests pass.")
    agent.supervisor.run.journal.flush()
    assert agent.supervisor.run.folder is not None
    with JournalReader.open(agent.supervisor.run.folder) as reader:
        newest = reader.last("proof")
        assert newest is not None
        assert isinstance(read_body(newest), ProofRecord)
    agent.supervisor.close()
    with JournalReader.open(agent.supervisor.run.folder) as reader:
        assert reader.count("proof") == 1
