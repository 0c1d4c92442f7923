"""Two sessions of Claude Code behind one proxy: each one's steps and tokens are its own, and hooks tell nothing twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from interlock.adapters.hooks.clients import new_dialects
from interlock.adapters.hooks.exchange import HookExchange
from interlock.demo.model import ScriptedTurn, Tokens, run

from .agent import Agent
from .conftest import SupervisedRun

Make = Callable[..., SupervisedRun]

SCRIPT = [
    ScriptedTurn(text="I look.", calls=(run("cat a"),), tokens=Tokens(input=100, output=10)),
    ScriptedTurn(text="Done.", tokens=Tokens(input=150, output=20)),
]


class Patient:
    def waits(self) -> bool:
        return True

    def say_wait(self) -> None:
        pass


def session(supervised: SupervisedRun, name: str) -> Agent:
    agent = supervised.agent("anthropic", stream=True)
    agent.headers["x-claude-code-session-id"] = name
    return agent


def tokens_by_agent(supervised: SupervisedRun) -> dict[str | None, int]:
    spent: dict[str | None, int] = {}
    for step in supervised.steps():
        usage = step.get("usage") or {}
        spent[step.get("agent")] = spent.get(step.get("agent"), 0) + sum(
            usage.get(key, 0) for key in ("input_tokens", "output_tokens")
        )
    return spent


def test_tokens_go_to_the_session_that_used_them(supervised_with: Make) -> None:
    supervised = supervised_with({"one": SCRIPT, "two": SCRIPT})
    first, second = session(supervised, "s-1"), session(supervised, "s-2")
    assert first.run("one") == second.run("two") == "Done."
    assert tokens_by_agent(supervised) == {None: 280, "s-2": 280}


def test_a_session_whose_hooks_speak_is_counted_once_and_under_the_same_name(
    supervised_with: Make, tmp_path: Path
) -> None:
    supervised = supervised_with({"one": SCRIPT, "two": SCRIPT})
    hooks = HookExchange(supervised.proxy.numbering, new_dialects())
    transcript = tmp_path / "transcript.jsonl"
    transcript.touch()

    def hook(event: str, **more: Any) -> Any:
        payload = {"hook_event_name": event, "session_id": "s-2", "transcript_path": str(transcript), **more}
        line = msgspec.json.encode({"hook": {"client": "claude-code", "payload": payload}})
        answer = hooks.answer(line, Patient())
        assert answer is not None
        return msgspec.json.decode(answer)

    first, second = session(supervised, "s-1"), session(supervised, "s-2")
    first.run("one")
    hook("UserPromptSubmit", prompt="two")

    def runs(name: str, arguments: dict[str, Any]) -> str:
        # As the client does: its hook fires for the call that the proxy has handed on.
        call = second.history[-1]["content"][-1]
        assert hook("PreToolUse", tool_name=name, tool_input=arguments, tool_use_id=call["id"]) == {}
        return "done"

    second.runner = runs
    second.run("two")
    calls = [step for step in supervised.steps() if step.get("kind") == "tool_call"]
    assert [step.get("agent") for step in calls] == [None, "s-2"], "the hook's call is the proxy's"
    assert tokens_by_agent(supervised) == {None: 280, "s-2": 0}, "the transcript counts them"
