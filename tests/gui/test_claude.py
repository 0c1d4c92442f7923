"""ClaudeAnalyzer with the real SDK over HTTP: it never raises, whatever comes back."""

from __future__ import annotations

import base64
import json
import os
import threading
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image
from structlog.testing import capture_logs

from interlock.config.rules import find_screen_model
from interlock.core import BadInput
from interlock.gui import AnalysisResult, ClaudeAnalyzer, ReplayStatus, Screenshot
from interlock.gui.analyzer.budget import QuestionBudget
from interlock.gui.analyzer.claude_question import system_prompt
from interlock.gui.analyzer.evidence import ScreenSituation
from interlock.gui.recovery_actions import VOCABULARY
from interlock.journal_records import GuiModelCallRecord

from .model_standin import VERDICT, Answer, StandIn, cut, drip, error, message, raw, serving, silence, text, verdict

KEY = "sk-ant-secret-0123456789"


def picture(colour: str = "white") -> Screenshot:
    return Screenshot.of_image(Image.new("RGB", (1280, 720), colour), 0.0)


def ask(
    monkeypatch: pytest.MonkeyPatch, *answers: Answer, context: object = None, **options: Any
) -> tuple[AnalysisResult, StandIn]:
    """Ask once and give the verdict and what the server saw; waits take no time."""
    with serving(*answers) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.address)
        options.setdefault("wait", lambda seconds: False)
        return ClaudeAnalyzer(KEY, **options).analyze(picture(), context), server


def test_a_good_answer_is_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    result, server = ask(monkeypatch, verdict(), context={"expected_file": "a.py"})
    assert result.status is ReplayStatus.NORMAL
    assert (result.confidence, result.description) == (0.97, "The file is open.")
    assert (result.expected_file, result.actual_file) == ("a.py", "a.py")
    assert json.loads(result.raw_response) == VERDICT
    request = server.requests[0]
    image, words = request["messages"][0]["content"]
    assert (image["type"], image["source"]["media_type"], words["type"]) == ("image", "image/jpeg", "text")
    assert base64.b64decode(image["source"]["data"])[:2] == b"\xff\xd8"
    assert "a.py" in words["text"]
    assert request["max_tokens"] == 1024
    assert request["output_config"]["format"]["type"] == "json_schema"
    assert request["model"] == "claude-opus-5-5"


@pytest.mark.parametrize(
    "content",
    [
        "```json\n" + json.dumps(VERDICT) + "\n```",
        "Here is what I see: " + json.dumps(VERDICT) + " I hope this helps.",
        '{"thought": 1} and then ' + json.dumps(VERDICT),
    ],
    ids=["fenced", "prefixed", "second object"],
)
def test_the_object_is_found_whatever_surrounds_it(monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    assert ask(monkeypatch, text(content))[0].status is ReplayStatus.NORMAL


def test_thinking_comes_first_and_is_not_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    thinking = {"type": "thinking", "thinking": '{"status": "error"}', "signature": "s"}
    result, _ = ask(monkeypatch, message(thinking, {"type": "text", "text": json.dumps(VERDICT)}))
    assert result.status is ReplayStatus.NORMAL


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (message({"type": "text", "text": "I cannot."}, stop_reason="refusal"), "refused"),
        (message(), "empty"),
        (text(""), "empty"),
        (text("   "), "empty"),
        (text("The screen looks fine to me."), "no JSON object"),
        (text("[1, 2, 3]"), "no JSON object"),
        (text('{"status": "normal"'), "no JSON object"),
        (raw(200, b"not json at all"), "the answer cannot be parsed"),
        (raw(200, b"[]"), ""),
        (raw(200, b"{}"), "empty"),
        (error(400, "invalid_request_error"), "400"),
        (error(401, "authentication_error"), "401"),
        (error(404, "not_found_error"), "404"),
        (error(413, "request_too_large"), "413"),
        (error(429, "rate_limit_error"), "429"),
        (error(500), "500"),
        (error(529, "overloaded_error"), "529"),
        (cut, ""),
    ],
)
def test_a_bad_answer_is_unknown_with_the_reason(monkeypatch: pytest.MonkeyPatch, answer: Answer, says: str) -> None:
    with capture_logs() as logs:
        result, _ = ask(monkeypatch, answer)
    assert (result.status, result.confidence, result.recovery_actions) == (ReplayStatus.UNKNOWN, 0.0, ())
    assert says in result.description
    assert any(entry["log_level"] == "warning" for entry in logs)


def test_ten_megabytes_of_answer_are_survived(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = ask(monkeypatch, text("x" * 10_000_000))
    assert result.status is ReplayStatus.UNKNOWN
    assert len(result.raw_response) <= 100_000


@pytest.mark.parametrize("slow", [silence, drip])
def test_a_server_that_does_not_finish_is_given_up(
    monkeypatch: pytest.MonkeyPatch, slow: Callable[[threading.Event], Answer]
) -> None:
    release = threading.Event()
    try:
        result, server = ask(monkeypatch, slow(release), timeout_s=3)
    finally:
        release.set()
    assert result.status is ReplayStatus.UNKNOWN
    assert "no reply within 3 s" in result.description
    assert len(server.requests) == 1


def test_an_api_that_is_down_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    result = ClaudeAnalyzer(KEY, wait=lambda seconds: False).analyze(picture())
    assert result.status is ReplayStatus.UNKNOWN
    assert "cannot be reached" in result.description


def test_a_rate_limit_is_waited_out_as_long_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        return False

    limited = error(429, "rate_limit_error", retry_after="7")
    result, server = ask(monkeypatch, limited, error(429, "rate_limit_error"), verdict(), wait=wait)
    assert result.status is ReplayStatus.NORMAL
    assert waits == [7.0, 2.0]
    assert len(server.requests) == 3


def test_waits_grow_and_then_it_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        return False

    result, _ = ask(monkeypatch, error(503), wait=wait)
    assert waits == [1.0, 2.0, 4.0]
    assert "asked 4 times" in result.description


def test_while_it_waits_only_the_newest_picture_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(error(429, "rate_limit_error", retry_after="5"), verdict(description="newest")) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.address)
        analyzer = ClaudeAnalyzer(KEY)
        results: list[AnalysisResult] = []
        older = threading.Thread(target=lambda: results.append(analyzer.analyze(picture("red"))))
        older.start()
        while not server.requests:
            older.join(0.01)
        newest = analyzer.analyze(picture("blue"))
        older.join(150)
    assert newest.description == "newest"
    assert "newer screenshot" in results[0].description
    assert len(server.requests) == 2


def test_a_stop_ends_the_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(error(429, "rate_limit_error", retry_after="60")) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.address)
        analyzer = ClaudeAnalyzer(KEY)
        results: list[AnalysisResult] = []
        waiting = threading.Thread(target=lambda: results.append(analyzer.analyze(picture())))
        waiting.start()
        while not server.requests:
            waiting.join(0.01)
        analyzer.stop()
        waiting.join(150)
    assert not waiting.is_alive()
    assert results[0].status is ReplayStatus.UNKNOWN


@pytest.mark.parametrize(
    ("given", "confidence"),
    [(1.7, 1.0), (-3, 0.0), (None, 0.5), ("0.9", 0.9), ("high", 0.0), (float("nan"), 0.0), ([], 0.0), (True, 1.0)],
)
def test_confidence_is_clamped(monkeypatch: pytest.MonkeyPatch, given: object, confidence: float) -> None:
    assert ask(monkeypatch, verdict(confidence=given))[0].confidence == confidence


def test_a_missing_confidence_is_a_half(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(monkeypatch, text('{"status": "normal"}'))[0].confidence == 0.5


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ("dialog", ReplayStatus.DIALOG_BLOCKING),
        ("DIALOG_BLOCKING", ReplayStatus.DIALOG_BLOCKING),
        (" Terminal_Focus ", ReplayStatus.TERMINAL_FOCUS),
        ("ERROR", ReplayStatus.ERROR_STATE),
        ("meltdown", ReplayStatus.UNKNOWN),
        (None, ReplayStatus.UNKNOWN),
        (3, ReplayStatus.UNKNOWN),
    ],
)
def test_names_and_values_are_accepted_as_status(
    monkeypatch: pytest.MonkeyPatch, given: object, status: ReplayStatus
) -> None:
    result, _ = ask(monkeypatch, verdict(status=given, recovery_actions=["press Escape"]))
    assert result.status is status
    if status is ReplayStatus.UNKNOWN:
        assert result.recovery_actions == ()


def test_a_dialog_has_steps_even_if_the_model_names_none(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = ask(monkeypatch, verdict(status="dialog"))
    assert result.recovery_actions == ("close_dialog",)


def test_a_wrong_file_has_steps_and_the_actual_file(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = verdict(status="wrong_file", actual_file=None, expected_file=None)
    result, _ = ask(monkeypatch, answer, context={"expected_file": "src/a.py"})
    assert result.recovery_actions == ("open_file src/a.py",)
    assert (result.expected_file, result.actual_file) == ("src/a.py", "unknown")


def test_an_unchanged_picture_after_a_normal_verdict_costs_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(verdict()) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.address)
        analyzer = ClaudeAnalyzer(KEY)
        expected = ScreenSituation("a.py")
        assert analyzer.analyze(picture(), expected).status is ReplayStatus.NORMAL
        assert analyzer.analyze(picture(), expected).status is ReplayStatus.NORMAL
        assert len(server.requests) == 1
        analyzer.analyze(picture("black"), expected)
        analyzer.analyze(picture("black"), ScreenSituation("b.py"))
        assert len(server.requests) == 3


def test_an_unchanged_picture_after_a_problem_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(verdict(status="error")) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.address)
        analyzer = ClaudeAnalyzer(KEY)
        analyzer.analyze(picture())
        analyzer.analyze(picture())
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    "budget", [QuestionBudget(max_checks=1), QuestionBudget(max_cost_usd=0.05)], ids=["checks", "dollars"]
)
def test_a_used_up_budget_ends_the_asking(monkeypatch: pytest.MonkeyPatch, budget: QuestionBudget) -> None:
    with serving(verdict(status="error")) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.address)
        analyzer = ClaudeAnalyzer(KEY, budget=budget)
        results = [analyzer.analyze(picture()) for _ in range(6)]
    assert results[0].status is ReplayStatus.ERROR_STATE
    assert results[-1].status is ReplayStatus.UNKNOWN
    assert "used up" in results[-1].description
    assert len(server.requests) < 6
    assert budget.cost_usd <= budget.max_cost_usd


def test_every_question_is_logged_without_picture_and_key(monkeypatch: pytest.MonkeyPatch) -> None:
    records: list[GuiModelCallRecord] = []
    with capture_logs() as logs:
        ask(monkeypatch, error(500), verdict(), on_call=records.append)
    assert [record.outcome for record in records][1] == "normal"
    assert records[1].input_tokens == 2000
    assert records[1].cost_usd == pytest.approx(2000 * 4e-6 + 100 * 20e-6)
    written = repr(logs) + repr(records)
    assert KEY not in written
    assert "base64" not in written
    assert len(written) < 20_000


def test_a_missing_key_is_an_error_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(BadInput, match="Set ANTHROPIC_API_KEY"):
        ClaudeAnalyzer()


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with serving(verdict()) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.address)
        ClaudeAnalyzer().analyze(picture())
    sent = server.headers[0]
    assert KEY in sent.get("authorization", "") + sent.get("x-api-key", "")


@pytest.mark.parametrize("model", ["claude-opus-4-5-20251101", "claude-haiku-5-5"])
def test_a_known_model_can_be_chosen(monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    assert ask(monkeypatch, verdict(), model=model)[1].requests[0]["model"] == model


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("claude-opus-4-5-20250514", "no model"),
        ("gpt-4", "no model"),
        ("claude-opus-4-20250514", "retired"),
    ],
)
def test_an_unknown_or_retired_model_is_an_error_at_the_start(model: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        ClaudeAnalyzer(KEY, model)


def test_the_question_is_recorded_redacted_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[GuiModelCallRecord] = []
    secret = "ghp_" + "a1B2" * 9
    with serving(verdict()) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.address)
        analyzer = ClaudeAnalyzer(KEY, on_call=calls.append)
        note = f"token {secret} " + "x" * 5000
        analyzer.analyze(picture(), ScreenSituation("src/a.py", note), ["window: problem, b.py is open"])
    [record] = calls
    words = record.question
    assert words.startswith("The picture is 1280 by 720")
    assert "The file that should be open: src/a.py" in words
    assert len(words) == 2000
    assert secret not in repr(record)
    assert KEY not in repr(record)


def test_the_default_is_the_newest_opus() -> None:
    assert find_screen_model(None).name == "claude-opus-5-5"
    assert find_screen_model(None, family="haiku").name == "claude-haiku-5-5"


def test_the_prompt_lists_exactly_the_actions_and_the_threshold() -> None:
    prompt = system_prompt(0.85)
    for action in VOCABULARY:
        assert f"- {action}:" in prompt
    assert "at least 0.85" in prompt
    assert prompt.count("\n- ") == len(VOCABULARY) + len(ReplayStatus)


def test_evidence_goes_along_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(verdict()) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.address)
        ClaudeAnalyzer(KEY).analyze(picture(), None, evidence=["window system: ok", "pixels: dimmed"])
    assert "- pixels: dimmed" in server.requests[0]["messages"][0]["content"][1]["text"]


@pytest.mark.skipif("ANTHROPIC_API_KEY" not in os.environ, reason="no key")
def test_the_real_api_answers() -> None:
    records: list[GuiModelCallRecord] = []
    analyzer = ClaudeAnalyzer(family="haiku", on_call=records.append)
    result = analyzer.analyze(picture(), {"expected_file": "a.py"})
    assert result.raw_response, records
