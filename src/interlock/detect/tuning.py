"""Every threshold in one place, each with its reason."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from ..config import Detect
from ..core import Severity

Sensitivity = Literal["low", "medium", "high"]

NEWS = 0.22
"""A result with at least this share of unseen words is new information."""
ECHO = 0.25
"""A result with less than this share of words of its own only repeats the request."""
SHORT = 12
"""A result with fewer words is too short to be called an echo."""
ALIKE = 0.55
"""Calls that share this much of their words are nearly the same request."""
ALIKE_LONG = 0.8
"""The same for long calls (code, patches), which share most of their words anyway."""
LONG = 50
"""Words from which a call is long."""
SENTENCE = 60
"""Bytes from which a sentence is worth comparing; shorter ones are common phrases."""
SPACES = 7
"""Minimum number of spaces in a sentence of that length; code and tables have fewer."""


class Tuning(Struct, frozen=True, kw_only=True):
    """The thresholds for raising an alarm. The defaults are sensitivity medium."""

    medium_after: int = 3
    """Twice is a retry, three times is a pattern."""
    high_after: int = 5
    """Five retries are never intentional."""
    critical_after: int = 8
    """From here every further call is waste."""
    certain_after: int = 5
    """Confidence is n / 5, at most 1."""

    error_window: int = 10
    """The same failure within this many turns belongs to the same problem, whatever happened in between."""

    error_noise: int = 3
    """Informative turns allowed between two failures; with more, the next attempt is a new one."""

    form_again: int = 2
    """Extra times that a tool may reject the same call for its form, because nothing ran."""
    form_patience: int = 5
    """The same for calls that are worded differently each time."""

    loop_span: int = 12
    """The same call and outcome within this many turns is the same loop: five-step cycles with noise fit."""
    loop_noise: int = 1
    """New turns allowed between two repetitions; with more, the run is making progress."""
    patience: int = 5
    """Extra repetitions of a tool that only thinks."""
    round_span: int = 5
    """Maximum turns from one test to the next in edit rounds; more means that something was investigated."""
    query_alike: float = 0.5
    """Questions that share half of their words look for the same thing."""
    query_window: int = 10
    """Turns within which such questions belong together."""
    query_news: float = 0.7
    """An answer with more than this share of unseen words was worth asking for."""
    query_same: float = 0.8
    """Questions that share this much are the same question; the second one raises an alarm if ..."""
    query_stale: float = 0.6
    """... at least this share of its answer was known."""
    spend_doublings: int = 3
    """Calls in a row that each cost twice the previous one: no task needs a fourth."""
    spend_times: float = 10.0
    """A call above this many times the median raises an alarm, whatever its result ..."""
    spend_least: int = 8
    """... once there are enough calls for a meaningful median."""
    spend_window: int = 32
    """Calls included in the median."""
    spend_tokens: float = 2000.0
    """Calls below this are small, whatever they are compared with."""
    spend_dollars: float = 0.001
    """The same where the price of each call is known."""

    waiting_seconds: float = 1800.0
    """Maximum time to wait while nothing moves; `detect.waiting_minutes` sets it."""

    idle_turns: int = 6
    """Turns without progress that raise an alarm; one in two hundred successful recorded runs has as many."""

    broken_calls: int = 3
    """Garbled calls within the window: one is a slip, a second its correction gone wrong."""
    broken_window: int = 5
    """The window, in calls."""

    scope_least: int = 3
    """Files changed outside the workspace from which it is grave."""

    goal_words: int = 8
    """Minimum number of significant words in a task for a run to be compared with it."""

    wander_window: int = 20
    """Reads over which wandering is judged; a change or an answer restarts the window."""
    wander_least: int = 12
    """Minimum number of reads: getting to know a code base takes some."""
    wander_score: float = 0.7
    """Share of reads that change directory, times the share unrelated to the task."""

    contradictions: int = 2
    """One contradiction may be a slip, two are not."""
    sentence_times: int = 3
    """How often the same long sentence may precede calls before it counts as a loop."""
    sentence_window: int = 8
    """The window for that, in texts."""
    no_news: float = 0.1
    """A result with at most this share of unseen words contains nothing new."""

    @classmethod
    def for_config(cls, config: Detect) -> Tuning:
        """Thresholds for a configuration."""
        return msgspec.structs.replace(
            cls.for_sensitivity(config.sensitivity), waiting_seconds=config.waiting_minutes * 60
        )

    @classmethod
    def for_sensitivity(cls, sensitivity: Sensitivity) -> Tuning:
        """Thresholds for a sensitivity: low alerts one repetition later than medium, high one earlier."""
        return msgspec.structs.replace(cls(), **_SHIFTS[sensitivity])

    def severity(self, count: int) -> Severity | None:
        """Severity of the count-th repetition; None below the first alarm."""
        if count >= self.critical_after:
            return "critical"
        if count >= self.high_after:
            return "high"
        return "medium" if count >= self.medium_after else None

    def confidence(self, count: int) -> float:
        """Confidence after the count-th repetition."""
        return min(count / self.certain_after, 1.0)


_SHIFTS: dict[Sensitivity, dict[str, float]] = {
    "low": {
        "medium_after": 4, "error_noise": 1, "loop_noise": 0, "sentence_times": 4, "idle_turns": 8,
        "query_alike": 0.7, "query_same": 1.1, "contradictions": 3, "wander_score": 0.85,
    },
    "medium": {},
    "high": {
        "medium_after": 2, "error_noise": 4, "loop_noise": 2, "idle_turns": 5, "query_alike": 0.4,
        "contradictions": 1, "wander_score": 0.6,
    },
}  # fmt: skip
