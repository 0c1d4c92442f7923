"""What clients and APIs say at a usage limit is recognised, with the time when it resets."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta

import pytest

from interlock.adapters.usage_limits import find_in_answer, find_in_words, patterns

NOW = datetime(2026, 11, 17, 2, 0, tzinfo=UTC)
SAID = [(one.client, one.passes, example) for one in patterns() for example in one.says]


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    os.environ.pop("TZ", None)
    time.tzset()


def seconds(resets: str) -> float:
    """What the file says an example means."""
    if resets.startswith("+"):
        return float(resets[1:])
    if resets.startswith("@"):
        return int(resets[1:]) - NOW.timestamp()
    resets = resets.removesuffix(" UTC")
    if len(resets) > 5:
        return (datetime.fromisoformat(resets).replace(tzinfo=UTC) - NOW).total_seconds()
    hour, minute = map(int, resets.split(":"))
    then = NOW.replace(hour=hour, minute=minute)
    return (then if then >= NOW else then + timedelta(days=1)).timestamp() - NOW.timestamp()


@pytest.mark.parametrize(("client", "passes", "example"), SAID, ids=[each[2]["text"][:40] for each in SAID])
def test_a_limit_in_a_clients_words_is_recognised(client, passes, example):
    found = find_in_words(f"working on it\n  {example['text']}\n", NOW, "last words")
    assert found is not None and found.passes is passes and found.reason in example["text"]
    expected = seconds(example["resets"]) if "resets" in example else None
    assert found.resets_in == (pytest.approx(expected) if expected is not None else None)


@pytest.mark.parametrize("words", [
    "3 tests passed, 429 lines changed", "limits.yaml written", "rate = limit(3)", "The API has a limit of ten items",
    "", "I will try again at 3pm to run the tests", "throttling the reader to 5 requests",
])  # fmt: skip
def test_other_words_are_not_a_limit(words):
    assert find_in_words(words, NOW, "last words") is None


@pytest.mark.parametrize(("status", "headers", "body", "resets_in", "passes"), [
    (429, {"retry-after": "3600"}, b"{}", 3600, True),
    (429, {"retry-after-ms": "1500"}, b"{}", 1.5, True),
    (429, {"Retry-After": "Tue, 17 Nov 2026 03:00:00 GMT"}, b"{}", 3600, True),
    (429, {"anthropic-ratelimit-requests-remaining": "0",
           "anthropic-ratelimit-requests-reset": "2026-11-17T02:10:00Z",
           "anthropic-ratelimit-tokens-remaining": "9000",
           "anthropic-ratelimit-tokens-reset": "2026-11-17T05:00:00Z"}, b"{}", 600, True),
    (429, {"anthropic-ratelimit-unified-reset": "1794884400"}, b"{}", 1794884400 - 1794880800, True),
    (429, {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s"}, b"{}", 360, True),
    (529, {}, b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', None, True),
    (503, {"retry-after": "20"}, b"", 20, True),
    (429, {}, b'{"error":{"code":"insufficient_quota","message":"Quota exceeded. Check your plan and billing"}}',
     None, False),
    (400, {}, b'{"type":"error","error":{"message":"Your credit balance is too low to access the API."}}', None, False),
    (429, {}, b'{"error":{"status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"3600s"}]}}', 3600, True),
])  # fmt: skip
def test_a_limit_in_an_answer_is_recognised(status, headers, body, resets_in, passes):
    found = find_in_answer(status, [(k.encode(), v.encode()) for k, v in headers.items()], body, NOW)
    assert found is not None and found.passes is passes
    assert found.resets_in == (pytest.approx(resets_in) if resets_in is not None else None)


@pytest.mark.parametrize(("status", "body"), [
    (200, b'{"text": "rate_limit_error is explained here"}'), (400, b'{"error":{"message":"bad request"}}'),
    (500, b"internal error"), (401, b'{"error":{"message":"invalid x-api-key"}}'),
])  # fmt: skip
def test_other_answers_are_not_a_limit(status, body):
    assert find_in_answer(status, [], body, NOW) is None
