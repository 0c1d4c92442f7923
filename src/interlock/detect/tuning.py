"""Every threshold in one place, each with its reason."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from ..config import Detect
from ..core import Severity

Sensitivity = Literal["low", "medium", "high"]

NEWS = 0.22
"""A result with this share of words not seen before is new information."""
ECHO = 0.25
"""A result with no more words of its own than this repeats what it was asked."""
SHORT = 12
"""A result with fewer words says too little to be called an echo."""
ALIKE = 0.55
"""Calls that share this much of their words ask for nearly the same."""
ALIKE_LONG = 0.8
"""Long calls (code, patches) share most of their words anyway."""
LONG = 50
"""Words from which a call is long."""
SENTENCE = 60
"""Bytes from which a sentence is worth comparing; shorter ones are turns of phrase."""
SPACES = 7
"""Spaces that a sentence of that length has at least; code and tables have fewer."""


class Tuning(Struct, frozen=True, kw_only=True):
    """What it takes to raise an alarm. The defaults are sensitivity medium."""

    medium_after: int = 3
    """Twice is a retry, three times is a pattern."""
    high_after: int = 5
    """Five retries are never intentional."""
    critical_after: int = 8
    """By now every further call is waste."""
    certain_after: int = 5
    """Confidence is n / 5, at most 1."""

    error_window: int = 10
    """The same failure again within this many turns belongs to the same trouble, whatever lay between."""

    error_noise: int = 3
    """Turns between two failures that taught something; more of them make the next try a new one."""

    form_again: int = 2
    """Times more that a tool may refuse the same call for its form, because nothing ran."""
    form_patience: int = 5
    """The same for calls that are put differently each time."""

    loop_span: int = 12
    """The same call and outcome again within this many turns is the same loop: five-step cycles with noise fit in."""
    loop_noise: int = 1
    """New turns allowed between two times; more of them means that the run goes somewhere."""
    patience: int = 5
    """Times more that a status may be asked for without a pause before it counts as a busy loop: eight in all."""
    round_span: int = 5
    """Turns from one test to the next in rounds of editing: a longer way means that something was looked into."""
    query_alike: float = 0.5
    """Questions that share half of their words look for the same thing."""
    query_window: int = 10
    """Turns within which such questions belong together."""
    query_news: float = 0.7
    """An answer with more than this share of unseen words was worth asking for."""
    query_same: float = 0.8
    """Questions that share this much are the same question; the second one is enough, if ..."""
    query_stale: float = 0.6
    """... a good part of its answer was known."""
    growth: float = 1.5
    """Mean growth of the spend per progress from sample to sample; a context that fills grows by less."""
    growth_samples: int = 3
    """Samples of growth that it takes."""
    growth_turns: int = 5
    """Turns per sample: long enough to even out single large results."""

    growth_warm: int = 10
    """Turns before sampling begins: a context that fills from nothing grows fast and means nothing."""
    spend_doublings: int = 3
    """Calls in a row that each cost twice the one before: no task needs a fourth."""
    spend_times: float = 10.0
    """A call above this many times the median is looked at, whatever it brings ..."""
    spend_least: int = 8
    """... once there are so many calls that the median says something."""
    spend_window: int = 32
    """Calls that the median is taken of."""
    spend_tokens: float = 2000.0
    """Below this a call is small, whatever it is compared with."""
    spend_dollars: float = 0.001
    """The same where the price of each call is known."""

    waiting_seconds: float = 900.0
    """How long the same thing may be waited for; `detect.waiting_minutes` sets it."""
    waiting_told: float = 4.0
    """So many times longer where the task says to wait."""

    idle_turns: int = 6
    """Turns without progress that make an alarm; of the successful recorded runs one in two hundred has as many."""

    broken_calls: int = 3
    """Garbled calls among the last ones: one is a slip, a second its correction gone wrong."""
    broken_window: int = 5
    """Calls that are looked at."""

    scope_share: float = 0.3
    """A third of the files outside the task's places is no longer a look at a neighbour."""
    scope_least: int = 3
    """Files outside that it takes at least."""
    scope_share_guessed: float = 0.5
    """The same where the places are only inferred from the task's words."""
    scope_least_guessed: int = 6
    """And as many files."""

    goal_words: int = 8
    """Words that a task has to say at least, for a run to be compared with it."""
    drift_window: int = 20
    """Calls over which alignment is judged."""
    drift_mean: float = 0.5
    """Mean alignment below which most calls are about something else."""
    drift_slope: float = -0.3
    """Fall of alignment over the window: it has to have been better before."""
    drift_says: int = 3
    """Words that a call has to say, for it to be about something."""
    drift_words: int = 3
    """Words shared with the goal that make a call fully about it."""

    wander_window: int = 20
    """Looks over which wandering is judged; a change or an answer begins them anew."""
    wander_least: int = 12
    """Looks that it takes at least: getting to know a code base takes some."""
    wander_score: float = 0.7
    """Share of looks that go elsewhere, times the share that has nothing to do with the task."""

    contradictions: int = 2
    """One contradiction may be a slip of the tongue, two are not."""
    sentence_times: int = 3
    """The same long sentence this often before calls: the agent talks to itself."""
    sentence_window: int = 8
    """Texts within which it counts."""
    no_news: float = 0.1
    """A result with at most this share of unseen words brought nothing."""

    @classmethod
    def for_config(cls, config: Detect) -> Tuning:
        """What the configuration asks for."""
        return msgspec.structs.replace(
            cls.for_sensitivity(config.sensitivity), waiting_seconds=config.waiting_minutes * 60
        )

    @classmethod
    def for_sensitivity(cls, sensitivity: Sensitivity) -> Tuning:
        """Low wants one repetition more than medium, high one less; the rest goes with it."""
        return msgspec.structs.replace(cls(), **_SHIFTS[sensitivity])

    def severity(self, count: int) -> Severity | None:
        """How bad the count-th repetition is; None below the first alarm."""
        if count >= self.critical_after:
            return "critical"
        if count >= self.high_after:
            return "high"
        return "medium" if count >= self.medium_after else None

    def confidence(self, count: int) -> float:
        """How sure the count-th repetition makes us."""
        return min(count / self.certain_after, 1.0)


_SHIFTS: dict[Sensitivity, dict[str, float]] = {
    "low": {
        "medium_after": 4, "error_noise": 1, "loop_noise": 0, "sentence_times": 4, "idle_turns": 8,
        "query_alike": 0.7, "query_same": 1.1, "contradictions": 3, "scope_share": 0.5, "growth": 2.0,
        "wander_score": 0.85,
    },
    "medium": {},
    "high": {
        "medium_after": 2, "error_noise": 4, "loop_noise": 2, "idle_turns": 5, "query_alike": 0.4,
        "contradictions": 1, "scope_share": 0.2, "growth": 1.3, "wander_score": 0.6,
    },
}  # fmt: skip
