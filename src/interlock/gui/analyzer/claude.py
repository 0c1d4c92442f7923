"""ClaudeAnalyzer: asks Claude what a screenshot shows; never raises, whatever the reply."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from typing import Any

import structlog

from ...config import ModelInfo, find_screen_model
from ...core import BadInput, Clock, MissingExtra, SystemClock, from_plain
from ...journal_records import GuiModelCallRecord
from ...redact import redact_text
from ..screenshot.frame import Frame, is_unchanged
from ..screenshot.screenshot import Screenshot
from .budget import QuestionBudget, RequestSlot, estimate
from .claude_question import MAX_RAW, SCHEMA, question, read_answer, system_prompt
from .evidence import AnalysisResult, ReplayStatus, ScreenSituation, situation_of, unknown

MAX_TOKENS = 1024
TIMEOUT_S = 30.0
MAX_QUESTION = 2000
"""Characters of a question that are recorded, without the system prompt, which is always the same."""

ATTEMPTS = 4
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 60.0

MALFORMED_REPLY = (ValueError, TypeError, AttributeError, KeyError, IndexError, OSError, RuntimeError)
"""What the SDK and we raise for a malformed reply."""

log = structlog.get_logger("interlock.gui")


class ClaudeAnalyzer:
    """A model behind the `anthropic` SDK. The key comes from ANTHROPIC_API_KEY unless one is passed.

    `on_call` gets a record of every call: model, question, answer, tokens, cost, outcome; neither picture nor key.
    """

    def __init__(
        self,
        api_key: str | None = None,
        model: str | None = None,
        *,
        threshold: float = 0.85,
        budget: QuestionBudget | None = None,
        more_models: Iterable[ModelInfo] = (),
        family: str = "opus",
        timeout_s: float = TIMEOUT_S,
        wait: Callable[[float], bool] | None = None,
        clock: Clock | None = None,
        on_call: Callable[[GuiModelCallRecord], None] | None = None,
    ) -> None:
        key = api_key or os.environ.get("ANTHROPIC_API_KEY", "")
        if not key.strip():
            raise BadInput("there is no API key", todo="Set ANTHROPIC_API_KEY, or use the local analyzer.")
        self.model = find_screen_model(model, more_models, family)
        self.budget = budget or QuestionBudget()
        self._threshold, self._timeout_s = threshold, timeout_s
        self._clock = clock or SystemClock()
        self._on_call = on_call or (lambda record: None)
        self._turn = RequestSlot(wait)
        self._last_normal: tuple[Frame, ScreenSituation, AnalysisResult] | None = None
        self._client = _client(key, timeout_s)

    def analyze(self, screenshot: Screenshot, context: object = None, evidence: Sequence[str] = ()) -> AnalysisResult:
        """The verdict on a picture; UNKNOWN with the reason if there is none."""
        situation = situation_of(context)
        known = self._unchanged(screenshot, situation)
        if known is not None:
            return known
        refusal = self.budget.refuses(estimate(self.model, screenshot.width, screenshot.height, MAX_TOKENS))
        if refusal:
            return self._without(f"not asked: {refusal}")
        result = self._ask(screenshot, situation, evidence)
        if result.status is ReplayStatus.NORMAL and screenshot.frame is not None:
            self._last_normal = (screenshot.frame, situation, result)
        return result

    def stop(self) -> None:
        """Stop waiting; a call under way is abandoned."""
        self._turn.stop()

    def start(self) -> None:
        """Allow calls again after a stop."""
        self._turn.start()

    def _unchanged(self, screenshot: Screenshot, situation: ScreenSituation) -> AnalysisResult | None:
        """The last verdict, if it was NORMAL and nothing has changed since."""
        if self._last_normal is None:
            return None
        frame, expected, result = self._last_normal
        same = expected.expected_file == situation.expected_file and is_unchanged(frame, screenshot.frame)
        return result if same else None

    def _ask(self, screenshot: Screenshot, situation: ScreenSituation, evidence: Sequence[str]) -> AnalysisResult:
        """Ask, and retry where that can help: after a rate limit, a server error, a lost connection."""
        ticket = self._turn.acquire()
        wait_s = FIRST_WAIT_S
        for attempt in range(1, ATTEMPTS + 1):
            if not self._turn.wait(ticket):
                return self._without("not asked: a newer screenshot replaced it, or watching ended")
            outcome = self._once(screenshot, situation, evidence, attempt)
            if isinstance(outcome, AnalysisResult):
                return outcome
            failure, retry_after = outcome
            if attempt == ATTEMPTS:
                return self._without(f"asked {attempt} times: {failure}")
            self._turn.pause(min(retry_after if retry_after is not None else wait_s, LONGEST_WAIT_S))
            wait_s *= 2
        raise AssertionError("the last attempt returns")

    def _once(
        self, screenshot: Screenshot, situation: ScreenSituation, evidence: Sequence[str], attempt: int
    ) -> AnalysisResult | tuple[str, float | None]:
        """One request: a verdict, or why it failed and when to try again."""
        import anthropic

        started = self._clock.monotonic()
        words = question(situation, screenshot.width, screenshot.height, evidence)
        record: dict[str, object] = {
            "model": self.model.name,
            "attempt": attempt,
            "file": situation.expected_file,
            "question": redact_text(words)[:MAX_QUESTION],
        }
        try:
            message = _within(self._timeout_s + 1, lambda: self._request(screenshot, words))
            result = self._read(message, situation, record)
        except anthropic.APIStatusError as error:
            failure, after = f"the API answered {error.status_code}: {_short(error)}", _retry_after(error)
            retry = error.status_code in (408, 409, 429) or error.status_code >= 500
        except (anthropic.APITimeoutError, TimeoutError):
            failure, retry, after = f"no reply within {self._timeout_s:g} s", False, None
        except anthropic.APIConnectionError as error:
            failure, retry, after = f"the API cannot be reached: {_short(error)}", True, None
        except (anthropic.AnthropicError, *MALFORMED_REPLY) as error:
            failure, retry, after = f"the answer cannot be parsed: {_short(error)}", False, None
        else:
            self._note(record, started, result.status.value)
            return result
        self._note(record, started, failure)
        return (failure, after) if retry else self._without(failure)

    def _request(self, screenshot: Screenshot, words: str) -> Any:
        source = {"type": "base64", "media_type": screenshot.media_type, "data": screenshot.to_base64()}
        return self._client.messages.create(
            model=self.model.name,
            max_tokens=MAX_TOKENS,
            system=system_prompt(self._threshold),
            messages=[
                {"role": "user", "content": [{"type": "image", "source": source}, {"type": "text", "text": words}]}
            ],
            output_config={"format": {"type": "json_schema", "schema": SCHEMA}},
        )

    def _read(self, message: Any, situation: ScreenSituation, record: dict[str, object]) -> AnalysisResult:
        usage = getattr(message, "usage", None)
        tokens = (int(getattr(usage, "input_tokens", 0) or 0), int(getattr(usage, "output_tokens", 0) or 0))
        record["input_tokens"], record["output_tokens"] = tokens
        record["cost_usd"] = self.budget.spend(self.model, *tokens)
        # Newer models think first: only text blocks count, wherever they are.
        blocks = getattr(message, "content", None) or []
        text = "\n".join(str(block.text) for block in blocks if getattr(block, "type", "") == "text" and block.text)
        if getattr(message, "stop_reason", None) == "refusal":
            return self._without("the model refused to answer", text)
        if not text.strip():
            return self._without("the answer is empty")
        record["answer"] = text[:2000]
        result = read_answer(text, situation)
        return self._without(result.description, text) if result.status is ReplayStatus.UNKNOWN else result

    def _note(self, record: dict[str, object], started: float, outcome: str) -> None:
        record["seconds"] = round(self._clock.monotonic() - started, 3)
        record["outcome"] = outcome
        log.info("asked a model", **record)
        self._on_call(from_plain(record, GuiModelCallRecord))

    def _without(self, reason: str, raw: str = "") -> AnalysisResult:
        log.warning("no verdict from the model", model=self.model.name, reason=reason)
        return unknown(reason, raw[:MAX_RAW])


def _client(key: str, timeout_s: float) -> Any:
    try:
        import anthropic
    except ImportError:
        raise MissingExtra("the anthropic package is", "model") from None
    # Retries are ours: the newest picture waits, not the oldest.
    return anthropic.Anthropic(api_key=key, timeout=timeout_s, max_retries=0)


def _within(seconds: float, work: Callable[[], Any]) -> Any:
    """The result of the work, or TimeoutError: a server that trickles bytes never times out by itself."""
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            future.set_exception(error)

    threading.Thread(target=run, name="interlock-ask", daemon=True).start()
    return future.result(seconds)


def _retry_after(error: Any) -> float | None:
    try:
        return max(0.0, float(error.response.headers.get("retry-after")))
    except (TypeError, ValueError, AttributeError):
        return None


def _short(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text[:200] or type(error).__name__
