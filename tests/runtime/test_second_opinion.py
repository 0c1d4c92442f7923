"""A second opinion quiets what it does not share, waits for nobody and stays within its budget."""

import threading

import msgspec
import pytest

from interlock.config import Config
from interlock.config.model import Detect
from interlock.config.model import SecondOpinion as Settings
from interlock.core import Issue, Step, Usage
from interlock.demo.model import ScriptedModel, ScriptedTurn
from interlock.journal import JournalReader, Store
from interlock.runtime import Supervisor
from interlock.runtime.prices import Prices
from interlock.runtime.second_opinion import SecondOpinion, ask_anthropic, read_answer

DRIFT = Issue(id="d", type="goal_drift", step=3, description="It reads about fish.", details={"key": "drift:fish"})


def settle(opinion: SecondOpinion):
    opinion.close()
    if opinion._thread is not None:
        opinion._thread.join(10)
    return opinion.drain()


def answering(text, asked):
    def ask(model, question):
        asked.append((model, question))
        return text, Usage(1000, 10)

    return ask


def wait_for_answers(opinion, asked, count=1):
    for _ in range(1000):
        if len(opinion._opinions) >= count:
            return opinion.drain()
        threading.Event().wait(0.01)
    raise AssertionError(f"no answer: {asked}")


def test_the_model_gets_task_steps_and_finding_and_its_word_is_kept():
    asked = []
    opinion = SecondOpinion(
        Settings(enabled=True), Prices(), answering('{"agrees": false, "why": "fish is it"}', asked)
    )
    opinion.note(Step(run_id="r", index=2, role="assistant", kind="message", content="Fish swim."))
    opinion.consult(DRIFT, "write about fish")
    (said,) = wait_for_answers(opinion, asked)
    assert (said.agrees, said.why, said.key) == (False, "fish is it", "drift:fish")
    assert said.cost_usd > 0
    assert opinion.spent_usd == said.cost_usd
    ((model, question),) = asked
    assert model == "claude-haiku-4-5"
    for part in ("write about fish", "Fish swim.", "It reads about fish."):
        assert part in question


def test_a_finding_is_asked_about_once_and_other_types_never():
    asked = []
    opinion = SecondOpinion(Settings(enabled=True), Prices(), answering('{"agrees": true}', asked))
    opinion.consult(msgspec.structs.replace(DRIFT, type="loop", details={"key": "loop:x"}), "t")
    opinion.consult(DRIFT, "t")
    opinion.consult(DRIFT, "t")
    wait_for_answers(opinion, asked)
    assert len(asked) == 1


def test_nothing_is_asked_beyond_the_budget_or_of_a_model_without_a_price():
    for settings in (Settings(enabled=True, max_cost_usd=0.0), Settings(enabled=True, model="nobody-knows-it")):
        asked = []
        opinion = SecondOpinion(settings, Prices(), answering('{"agrees": false}', asked))
        opinion.consult(DRIFT, "t")
        (said,) = wait_for_answers(opinion, asked)
        assert asked == []
        assert said.agrees is None
        assert said.why.startswith("not asked")


@pytest.mark.parametrize("text", ["", "I agree", "[]", '{"agrees": "yes"}', '{"why": "x"}', "{" * 5000])
def test_an_answer_that_is_not_understood_changes_nothing(text):
    assert read_answer(text)[0] is None


def test_a_model_that_fails_is_no_answer():
    def ask(model, question):
        raise ConnectionError("gone")

    opinion = SecondOpinion(Settings(enabled=True), Prices(), ask)
    opinion.consult(DRIFT, "t")
    (said,) = wait_for_answers(opinion, [])
    assert said.agrees is None
    assert "ConnectionError" in said.why


def test_a_finding_that_the_model_does_not_share_is_quiet_for_the_run_and_for_its_successor(tmp_path):
    config = Config(detect=Detect(second_opinion=Settings(enabled=True)))
    asked = []
    supervisor = Supervisor.open(task="t", store=Store(tmp_path), config=config)
    folder = supervisor.run.folder
    own = SecondOpinion(Settings(enabled=True), Prices(), answering('{"agrees": false}', asked))
    supervisor.late_results._opinion = own
    own.consult(DRIFT, "t")
    while not own._opinions:
        threading.Event().wait(0.01)
    supervisor.after(supervisor.message("next"))
    assert "drift:fish" in supervisor.pipeline.detectors.muted
    supervisor.run.journal.flush()
    with JournalReader.open(folder) as reader:
        assert [record.kind for record in reader.read(kinds=frozenset(("opinion",)))] == ["opinion"]
    supervisor.run.close()
    successor = Supervisor.reopen(folder, config=config)
    assert "drift:fish" in successor.pipeline.detectors.muted
    successor.close()


def test_the_sdk_asks_a_real_server(monkeypatch):
    pytest.importorskip("anthropic")
    with ScriptedModel([ScriptedTurn(text='{"agrees": true, "why": "so it is"}')]) as model:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", model.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
        text, usage = ask_anthropic("claude-haiku-4-5", "Finding: x")
    assert read_answer(text) == (True, "so it is")
    assert usage.input_tokens > 0
