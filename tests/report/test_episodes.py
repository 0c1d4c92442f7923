"""People read episodes: what was stuck, what was tried in which order, what it achieved and what it cost."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from interlock.config import Config
from interlock.config.schema import Interventions, Runtime, Strategy
from interlock.core import Intervention, ManualClock, Usage
from interlock.journal import JournalReader, RunFolder, Store, mark_viewed
from interlock.journal_records import EpisodeRecord, read_body
from interlock.report import Story
from interlock.report.document import gather
from interlock.report.episodes import EpisodeLog, read_problems, tried_line
from interlock.report.fleet import current_issue
from interlock.report.markdown import render
from interlock.runtime import Supervisor
from tests.report.runs import demo_run, folder_of
from tests.runtime.scripted import START

FAILURE = "FAILED tests/test_cart.py::test_total - AssertionError: assert 3 == 4\n1 failed"
PATIENT = Runtime(step_timeout_ms=60_000)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return demo_run(tmp_path_factory.mktemp("demo"))


def open_run(root: Path, clock: ManualClock, strategy: str = "progressive") -> Supervisor:
    config = Config(runtime=PATIENT, interventions=Interventions(strategy=Strategy(type=strategy)))
    return Supervisor.open(task="Fix the cart", store=Store(root), config=config, clock=clock)


def test_cart(supervisor: Supervisor, clock: ManualClock, output: str = FAILURE) -> str:
    """The agent edits, and runs the check; gives what was decided about the latter."""
    for command, text in ((f"sed -i s/a/{clock.time()}/ cart.py", "ok"), ("pytest tests/test_cart.py", output)):
        clock.advance(10)
        step = replace(supervisor.call("bash", {"command": command}), usage=Usage(900, 100, cost_usd=0.01))
        decision = supervisor.before(step)
        if decision.action not in ("proceed", "rewrite"):
            return decision.action
        failed = "FAILED" in text
        supervisor.after(supervisor.result(text, error=failed, exit_code=int(failed)))
    return decision.action


test_cart.__test__ = False  # type: ignore[attr-defined]


def test_a_report_has_every_episode_in_words_and_no_loose_issues(demo: RunFolder) -> None:
    with Story.open(demo) as story:
        document = gather(story)
        known = [each for each in story.interventions if each.outcome == "success"]
    assert len(document.episodes) == 4 and document.chains == ()
    stuck = next(each for each in document.episodes if each.what == "pytest tests/test_parser.py")
    assert [each.name for each in stuck.tried] == [
        "hint", "reminder", "throttle", "rollback", "throttle", "rollback", "emergency stop",
    ]  # fmt: skip
    assert (stuck.relapses, stuck.achieved) == (1, "not solved: the run was stopped")
    assert sum(each.outcome == "worked" for one in document.episodes for each in one.tried) == len(known)
    for form in ("html", "md"):
        text = render(document, form)
        assert "What it got stuck on" in text and stuck.achieved in text and stuck.cost in text
    told = msgspec.json.decode(render(document, "json"))["episodes"]
    assert [each["id"] for each in told] == [each.id for each in document.episodes]


def test_a_blocked_attempt_on_the_whole_disk_is_critical(demo: RunFolder) -> None:
    with JournalReader.open(demo) as reader:
        problems = read_problems(reader, ended=True)
    (attempt,) = (each for each in problems if each.type == "destructive_action")
    assert (attempt.severity, attempt.ending) == ("critical", "stopped_happening")


@pytest.mark.parametrize("strategy", ["severity", "pattern_specific"])
def test_issues_of_a_strategy_without_episodes_are_told_by_type(tmp_path: Path, strategy: str) -> None:
    clock = ManualClock(START)
    with open_run(tmp_path, clock, strategy) as supervisor:
        for _ in range(6):
            test_cart(supervisor, clock)
    with Story.open(folder_of(supervisor)) as story:
        document = gather(story)
        assert current_issue(story.summary) == (story.summary.last_issue or "").replace("_", " ") != ""
    assert document.episodes == () and document.chains
    assert "What it got stuck on" not in render(document, "html")


def test_a_list_of_runs_says_what_is_stuck_and_whether_the_answer_helped(tmp_path: Path) -> None:
    clock, said = ManualClock(START), list[str | None]()
    with open_run(tmp_path, clock) as supervisor:
        for _ in range(8):
            test_cart(supervisor, clock)
            said.append(supervisor.run.summary.stuck)
        test_cart(supervisor, clock, "4 passed")
        said.append(supervisor.run.summary.stuck)
        test_cart(supervisor, clock, "4 passed")
        assert current_issue(supervisor.run.summary) is None, "the last issue is over"
    assert said[0] is None
    assert "pytest tests/test_cart.py, hint pending" in said
    assert (
        "pytest tests/test_cart.py, hint did not work" in said or "pytest tests/test_cart.py, reminder pending" in said
    )
    assert said[-1] == ""


def test_an_episode_that_a_person_resumed_is_over_in_the_journal(tmp_path: Path) -> None:
    clock = ManualClock(START)
    with open_run(tmp_path, clock) as supervisor:
        for _ in range(60):
            mark_viewed(tmp_path)  # a page of the dashboard is open
            if test_cart(supervisor, clock) == "hold":
                break
        supervisor.run.journal.flush()
        with Story.open(folder_of(supervisor)) as story:
            (paused,) = story.episodes
        assert (paused.achieved, paused.tried[-1].name) == ("needs you", "pause for a person")
        supervisor.resume()
        test_cart(supervisor, clock, "4 passed")
    with Story.open(folder_of(supervisor)) as story:
        (over,) = story.episodes
    assert (over.ending, over.achieved) == ("resumed", "a person resumed the run")


def test_an_answer_that_was_never_applied_is_not_said_to_have_failed(tmp_path: Path) -> None:
    clock = ManualClock(START)
    config = Config(runtime=PATIENT, interventions=Interventions(observe=True))
    with Supervisor.open(task="Fix the cart", store=Store(tmp_path), config=config, clock=clock) as supervisor:
        for _ in range(10):
            test_cart(supervisor, clock)
            assert "did not work" not in (supervisor.run.summary.stuck or "")
    with Story.open(folder_of(supervisor)) as story:
        (problem,) = story.episodes
    assert {each.outcome for each in problem.tried} <= {"would have been applied", "postponed", "not applied"}


def test_the_newest_record_says_how_an_episode_stands_and_a_relapse_adds_to_its_cost() -> None:
    log = EpisodeLog()
    record = EpisodeRecord(
        id="e1", type="loop", what="make", opened_step=3, opened_at=10.0, issue_id="loop:3:5", calls=4
    )
    log.add(replace(record, severity="high"), 10.0)
    log.add(replace(record, ending="solved", calls=6, tokens=100), 40.0)
    log.add(replace(record, relapses=1, opened_step=50, opened_at=90.0, calls=0), 90.0)
    log.add(replace(record, relapses=1, opened_step=50, opened_at=90.0, calls=2, tokens=10), 95.0)
    made = Intervention(
        id="i1", type="soft_correction", level=0, issue_id="x", issue_type="loop", step=5, time=11.0, episode="e1"
    )
    waits = replace(made, id="i2", type="context_reinforcement", outcome="held_back", reason="postponed: less than 3 s")
    (problem,) = log.problems([replace(made, outcome="success"), waits], ended=False)
    assert (problem.opened_step, problem.severity, problem.relapses, problem.achieved) == (3, "high", 1, "still open")
    assert (problem.calls, problem.tokens) == (8, 110)
    assert tried_line(problem) == "hint worked, reminder postponed"
    (applied,) = log.problems([waits, replace(waits, id="i3", outcome="failure", reason="")], ended=True)
    assert tried_line(applied) == "reminder did not work", "what was postponed and then applied was tried once"
    assert applied.achieved == "still open when the run ended"


def test_every_record_of_an_episode_is_in_the_journal(demo: RunFolder) -> None:
    with JournalReader.open(demo) as reader:
        bodies = [read_body(record) for record in reader.read(kinds=frozenset(("episode",)))]
    assert bodies and all(isinstance(body, EpisodeRecord) for body in bodies)
