"""What the hooks of a client are answered over a real run."""

from __future__ import annotations

import json
import threading
from typing import Any

from interlock.adapters.hooks.clients import new_dialects
from interlock.adapters.hooks.exchange import HookExchange
from interlock.adapters.steps.step_numbering import StepNumbering
from interlock.core import Inject, SwitchModel

from .conftest import MakeSupervised, SupervisedRun, Waiting
from .test_claude_code import HINT

DESTROY = "rm -rf ~/precious"


def said(supervised: SupervisedRun, key: str, text: str, tokens: int, **more: Any) -> None:
    """The client writes an answer of the model down."""
    usage = {"input_tokens": 100, "output_tokens": tokens}
    message = {
        "id": key,
        "role": "assistant",
        "model": "opus",
        "content": [{"type": "text", "text": text}],
        "usage": usage,
    }
    with supervised.transcript.open("a") as file:
        file.write(json.dumps({"type": "assistant", "sessionId": "s", "message": message, **more}) + "\n")


def test_a_call_and_its_result_become_steps(supervised: SupervisedRun) -> None:
    assert supervised.call("c1", "ls") == {}
    assert supervised.result("c1", "ls", "a.txt") == {}
    call, result = supervised.steps()
    assert (call["kind"], call["tool"]["call_id"]) == ("tool_call", "c1")
    assert (result["kind"], result["content"]) == ("tool_result", "a.txt")


def test_a_destructive_call_is_denied(supervised: SupervisedRun) -> None:
    answer = supervised.call("c1", DESTROY)["hookSpecificOutput"]
    assert answer["permissionDecision"] == "deny"
    assert "fs.delete-outside" in answer["permissionDecisionReason"]


def test_what_is_told_twice_counts_once_and_is_answered_alike(supervised: SupervisedRun) -> None:
    assert supervised.call("c1", DESTROY)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert supervised.call("c1", DESTROY)["hookSpecificOutput"]["permissionDecision"] == "deny"
    supervised.call("c2", "ls")
    for _ in range(2):
        supervised.result("c2", "ls", "x")
    assert [step["kind"] for step in supervised.steps()] == ["tool_call", "tool_call", "tool_result"]


def test_the_batch_adds_only_what_no_other_hook_has_told(supervised: SupervisedRun) -> None:
    supervised.call("c1", "ls")
    supervised.result("c1", "ls", "x")
    supervised.call("c2", DESTROY)
    calls = [
        {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "c1", "tool_response": "x"},
        {"tool_name": "Bash", "tool_input": {"command": DESTROY}, "tool_use_id": "c2", "tool_response": "no"},
        {
            "tool_name": "Write",
            "tool_input": {"file_path": "a"},
            "tool_use_id": "c3",
            "tool_response": "<tool_use_error>File has not been read yet.</tool_use_error>",
        },
    ]
    supervised.hook("PostToolBatch", tool_calls=calls)
    told = [(step["kind"], step["tool"]["call_id"]) for step in supervised.steps()]
    assert told == [
        ("tool_call", "c1"), ("tool_result", "c1"), ("tool_call", "c2"), ("tool_call", "c3"), ("tool_result", "c3"),
    ]  # fmt: skip
    assert supervised.steps()[-1]["error"] is True


def test_a_loop_is_corrected_with_the_next_reply(supervised: SupervisedRun) -> None:
    replies = []
    for number in range(8):
        replies.append(supervised.call(f"c{number}", "cat missing.txt"))
        named = {"tool_name": "Bash", "tool_input": {"command": "cat missing.txt"}, "tool_use_id": f"c{number}"}
        error = "Exit code 1\ncat: missing.txt: No such file or directory"
        replies.append(supervised.hook("PostToolUseFailure", **named, error=error))
    told = [reply["hookSpecificOutput"]["additionalContext"] for reply in replies if "hookSpecificOutput" in reply]
    assert told
    assert len(supervised.records("intervention")) >= 1


def test_words_that_a_reply_cannot_carry_come_with_the_next_one_that_can(supervised: SupervisedRun) -> None:
    supervised.supervisor.executor.carry_out(Inject(HINT))
    said(supervised, "m1", "I am done.", 1)
    assert supervised.hook("Stop") == {}
    answer = supervised.hook("UserPromptSubmit", prompt="go on")
    assert answer["hookSpecificOutput"]["additionalContext"] == HINT.content


def test_tokens_come_from_the_transcript_each_once(supervised: SupervisedRun) -> None:
    supervised.hook("SessionStart", source="startup")
    said(supervised, "m1", "I look.", 1)
    supervised.call("c1", "ls")
    said(supervised, "m1", "", 20)
    said(supervised, "m2", "Done.", 7)
    supervised.result("c1", "ls", "x")
    supervised.hook("Stop")
    assert supervised.supervisor.pipeline.ledger.spend.tokens == 100 + 20 + 100 + 7
    assert [step["content"] for step in supervised.steps() if step.get("kind", "message") == "message"] == [
        "I look.",
        "Done.",
    ]


def test_what_a_resumed_session_said_before_is_not_charged_again(supervised: SupervisedRun) -> None:
    said(supervised, "m0", "Long ago.", 500)
    supervised.hook("SessionStart", source="resume")
    said(supervised, "m1", "Now.", 7)
    supervised.hook("Stop")
    assert supervised.supervisor.pipeline.ledger.spend.tokens == 107


def test_a_successor_goes_on_where_its_predecessor_read(supervised: SupervisedRun) -> None:
    supervised.hook("SessionStart", source="startup")
    said(supervised, "m1", "One.", 5)
    supervised.call("c1", "ls")
    supervised.supervisor.run.journal.flush()
    book = StepNumbering(supervised.supervisor)
    successor = HookExchange(book, new_dialects())
    reader = supervised.supervisor.run.journal.reader()
    book.recall(reader)
    successor.recall(reader)
    supervised.exchange = successor
    supervised.call("c1", "ls")
    said(supervised, "m2", "Two.", 5)
    supervised.result("c1", "ls", "x")
    assert supervised.supervisor.pipeline.ledger.spend.tokens == 210
    assert len(supervised.steps()) == 4


def test_subagents_and_other_sessions_are_agents_of_their_own(supervised: SupervisedRun) -> None:
    supervised.call("c1", "ls")
    supervised.call("c2", "ls", agent_id="sub-1")
    supervised.call("c3", "ls", session_id="other")
    assert [step.get("agent") for step in supervised.steps()] == [None, "sub-1", "other"]


def test_a_pause_holds_a_call_and_says_that_somebody_is_there(supervised: SupervisedRun) -> None:
    supervised.supervisor.run.gate.set_status("paused", 5)
    client, answers = Waiting(), []
    held = threading.Thread(target=lambda: answers.append(supervised.call("c1", "ls", client=client)))
    held.start()
    while client.told == 0:
        assert held.is_alive()
        held.join(0.05)
    assert answers == []
    supervised.supervisor.run.gate.set_status("running", 6)
    held.join(150)
    assert answers == [{}]


def test_nobody_is_answered_who_has_gone(supervised: SupervisedRun) -> None:
    supervised.supervisor.run.gate.set_status("paused", 5)
    client = Waiting()
    client.gone = True
    assert supervised.call("c1", "ls", client=client) is None


def test_a_run_that_has_ended_stops_its_client_at_every_hook(supervised: SupervisedRun) -> None:
    supervised.call("c1", "ls")
    supervised.supervisor.run.end("aborted", "EMERGENCY_STOP", "enough")
    answer = supervised.call("c2", "ls")
    assert answer["continue"] is False
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert supervised.hook("PostToolBatch", tool_calls=[])["continue"] is False


def test_lines_that_are_no_hooks_are_refused(supervised: SupervisedRun) -> None:
    for line in (b"{", b'{"hook":{}}', b'{"hook":{"client":"emacs","payload":{}}}'):
        answer = supervised.exchange.answer(line, Waiting())
        assert answer is not None
        assert answer.startswith(b'{"error":')


def test_an_agent_whose_conversation_was_shortened_hears_again_what_it_is_for(supervised_with: MakeSupervised) -> None:
    supervised = supervised_with(task="Fix the parser.")
    assert supervised.hook("SessionStart", source="startup") == {}
    answer = supervised.hook("SessionStart", source="compact")
    assert "Fix the parser." in answer["hookSpecificOutput"]["additionalContext"]
    assert supervised.records("applied")[0]["directive"]["do"] == "inject"


def test_gemini_switches_to_the_model_that_was_asked_for(supervised_with: MakeSupervised) -> None:
    supervised = supervised_with(client="gemini")
    request = {"llm_request": {"model": "gemini-2.5-flash"}}
    assert supervised.hook("BeforeModel", **request) == {}
    assert supervised.supervisor.executor.carry_out(SwitchModel("gemini-2.5-pro")).ok
    answer = supervised.hook("BeforeModel", **request)
    assert answer["hookSpecificOutput"]["llm_request"] == {"model": "gemini-2.5-pro"}
