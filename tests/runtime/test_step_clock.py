"""Time is the step's own time; what has none counts 5 s after the one before."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from interlock.core import Step
from interlock.runtime.pipeline_values import StepClock


def step(time: float | None) -> Step:
    return Step(run_id="r", index=0, role="assistant", time=time)


def times(*given_times: float | None) -> list[tuple[float, bool]]:
    clock, found = StepClock(), []
    for time in given_times:
        clock, now, assumed = clock.advance(step(time))
        found.append((now, assumed))
    return found


def test_a_steps_own_time_is_taken():
    assert times(100.0, 103.5) == [(100.0, False), (103.5, False)]


def test_a_step_without_one_counts_five_seconds_after_the_one_before():
    assert times(100.0, None, None, 120.0) == [(100.0, False), (105.0, True), (110.0, True), (120.0, False)]


def test_a_trace_without_any_times_starts_at_zero():
    assert times(None, None) == [(0.0, True), (5.0, True)]


def test_time_never_goes_back():
    assert times(100.0, 40.0, None) == [(100.0, False), (100.0, False), (105.0, True)]


def test_what_is_no_time_counts_as_missing():
    assert times(10.0, math.nan, math.inf) == [(10.0, False), (15.0, True), (20.0, True)]


def test_the_clock_counts_what_it_assumed():
    clock = StepClock()
    for time in (1.0, None, None):
        clock, _, _ = clock.advance(step(time))
    assert clock.assumed == 2


@given(st.lists(st.none() | st.floats(), max_size=30))
def test_any_sequence_moves_forward(given_times):
    found = [now for now, _ in times(*given_times)]
    assert found == sorted(found)
