"""A run that goes back to a checkpoint: the model is shown the conversation as it was then, now and later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from interlock.adapters.proxy import Proxied, ProxyAdapter
from interlock.adapters.proxy.proxy import Proxy
from interlock.adapters.steps.step_numbering import StepNumbering
from interlock.core import Applied, Message, Restore
from interlock.demo.model import run, turns
from interlock.runtime import PERSON
from interlock.runtime.pipeline_values import AFTER_STEP

from .agent import Agent
from .conftest import TOKEN, SupervisedRun
from .test_formats import both_ways, every_format

Make = Callable[..., SupervisedRun]
WORK = ("echo one > a", "echo two > a", "echo three > a", "Finished.")


class Back:
    """Runs the agent's calls; during the first "two" the run goes back to a checkpoint of its own choice."""

    def __init__(
        self, supervised: SupervisedRun, *, before: int = 0, cause: str = "before step", paths: tuple[str, ...] = ()
    ) -> None:
        self.supervised, self.ran, self._before, self._cause, self._paths = (
            supervised,
            list[str](),
            before,
            cause,
            paths,
        )
        self.applied: Applied | None = None

    def __call__(self, name: str, arguments: dict[str, Any]) -> str:
        command = str(arguments["command"])
        self.ran.append(command)
        if "two" in command and self.applied is None:
            supervisor = self.supervised.supervisor
            made = supervisor.checkpoint(cause=self._cause, step=supervisor.next_index - 1 - self._before)
            assert made is not None
            self.applied = supervisor.restore(Restore(made.id, self._paths, PERSON))
        return f"ran {command}\nexit code 0"


def work(supervised: SupervisedRun, api: str, runner: Back, **more: Any) -> list[int]:
    """How many answers of the model each request had in it."""
    agent = Agent(api, supervised.url(api), runner, **more)
    assert agent.run("Please do it.") == "Finished."
    assert supervised.records("fault") == []
    return [request.turn for request in supervised.model.asked]


def script() -> Any:
    return turns(*(run(one) if one.startswith("echo") else one for one in WORK))


@every_format
@both_ways
def test_the_model_is_asked_again_as_before_the_step(supervised_with: Make, api: str, stream: bool) -> None:
    supervised = supervised_with(script(), checkpoints=True)
    runner = Back(supervised)
    assert work(supervised, api, runner, stream=stream) == [0, 1, 1, 2, 3]
    assert [command.split()[1] for command in runner.ran] == ["one", "two", "two", "three"]
    asked = supervised.model.asked
    assert asked[2].history == asked[1].history, "the very same conversation"
    assert asked[-1].text.count("ran echo two") == 1, "and it stays left out"


@every_format
def test_what_the_agent_is_to_know_of_it_follows_on_what_is_left(supervised_with: Make, api: str) -> None:
    supervised = supervised_with(script(), checkpoints=True)

    class Telling(Back):
        def __call__(self, name: str, arguments: dict[str, Any]) -> str:
            if self.applied is None and "two" in str(arguments["command"]):
                supervised.proxy.memory.keep((Message("You were taken back."),))
            return super().__call__(name, arguments)

    assert work(supervised, api, Telling(supervised)) == [0, 1, 1, 2, 3]
    told = ["You were taken back." in request.text for request in supervised.model.asked]
    assert told == [False, False, True, True, True]


def test_a_checkpoint_from_the_beginning_leaves_the_task(supervised_with: Make) -> None:
    supervised = supervised_with(script(), checkpoints=True)
    assert work(supervised, "anthropic", Back(supervised, before=100)) == [0, 1, 0, 1, 2, 3]


def test_a_checkpoint_after_a_result_keeps_the_result(supervised_with: Make) -> None:
    supervised = supervised_with(script(), checkpoints=True)
    # The step before the call of "two" is what the model said; before that, the result of "one".
    assert work(supervised, "anthropic", Back(supervised, cause=AFTER_STEP, before=1)) == [0, 1, 1, 2, 3]
    assert "ran echo one" in supervised.model.asked[2].text


def test_where_only_some_files_go_back_the_conversation_stays(supervised_with: Make) -> None:
    supervised = supervised_with(script(), checkpoints=True)
    (supervised.workspace / "a").touch()
    runner = Back(supervised, paths=("a",))
    assert work(supervised, "anthropic", runner) == [0, 1, 2, 3]
    assert runner.applied is not None and "the conversation stays (only some paths" in runner.applied.how


def test_what_a_person_says_after_it_is_not_left_out(supervised_with: Make) -> None:
    supervised = supervised_with(script(), checkpoints=True)
    runner = Back(supervised)
    agent = Agent("anthropic", supervised.url("anthropic"), runner)
    agent.run("Please do it.", turns=2)
    agent.history[-1]["content"].append({"type": "text", "text": "And mind the gap."})
    agent.ask()
    assert supervised.model.asked[-1].turn == 1
    assert "And mind the gap." in supervised.model.asked[-1].text


def test_a_successor_leaves_out_the_same(supervised_with: Make) -> None:
    supervised = supervised_with(script(), checkpoints=True)
    agent = Agent("anthropic", supervised.url("anthropic"), Back(supervised))
    agent.run("Please do it.", turns=3)
    supervised.supervisor.run.journal.flush()
    supervised.proxy.close()
    supervised.proxy = Proxy(
        supervised.listener, StepNumbering(supervised.supervisor), Proxied({"anthropic": supervised.model.url}, TOKEN)
    )
    supervised.proxy.recall(supervised.supervisor.run.journal.reader())
    supervised.proxy.start()
    agent.ask()
    assert supervised.model.asked[-1].turn == 2
    assert supervised.model.asked[-1].text.count("ran echo two") == 1


@pytest.mark.parametrize("paths", ((), ("a",)), ids=("all", "some"))
def test_the_adapter_says_whether_the_conversation_goes_back(paths: tuple[str, ...]) -> None:
    adapter = ProxyAdapter()
    assert "conversation" in adapter.capabilities
    assert adapter.apply(Restore("c1")) == Applied(False, "no conversation has come through the proxy")
    adapter.rewind.carries = True
    assert adapter.apply(Restore("c1", paths, PERSON)).ok is not bool(paths)
    assert adapter.rewind.pop(None) == (None if paths else "c1")
    assert adapter.rewind.pop(None) is None, "once for each agent"
    assert adapter.rewind.pop("other") == (None if paths else "c1")


def test_a_rollback_by_the_ladder_takes_the_conversation_back_though_it_names_files() -> None:
    adapter = ProxyAdapter()
    adapter.rewind.carries = True
    assert adapter.apply(Restore("c1", ("a",), "it is stuck")).ok
    assert adapter.rewind.pop(None) == "c1"
