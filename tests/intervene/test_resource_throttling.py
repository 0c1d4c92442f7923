"""Resource throttling: every factor at its exact border, floors, and what is told."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.config.schema import ReductionFactors, ResourceThrottling
from interlock.core import Delay, Growth, Inject, Limits, SetLimits, Spend
from interlock.intervene import resource_throttling

from .intervene_builders import NOW, growing, issue, run

NAMES = ("max_file_operations", "max_memory_mb", "max_tokens", "max_execution_time")
SET = Limits(max_file_operations=1000, max_memory_mb=1000, max_tokens=1000, max_execution_time=1000.0)


def throttle(state, **changes):
    return resource_throttling(issue("resource_spiral"), state, ResourceThrottling(**changes), NOW)


def after(value: float) -> float:
    return math.nextafter(value, math.inf)


@pytest.mark.parametrize(
    ("growth", "throttled", "left"),
    [
        (0.0, False, 1000),
        (1.0, False, 1000),
        (1.2, False, 1000),
        (after(1.2), False, 850),
        (1.5, False, 850),
        (after(1.5), False, 700),
        (2.0, False, 700),
        (after(2.0), False, 500),
        (50.0, False, 500),
        (1.2, True, 1000),
        (after(1.2), True, 850),
        (after(1.5), True, 700),
        (2.0, True, 700),
        (after(2.0), True, 250),
    ],
)
def test_a_limit_shrinks_by_its_growth_strictly_above_each_border(growth, throttled, left):
    limits = throttle(run(limits=SET, growth=growing(growth), throttled=throttled)).state.limits
    assert [getattr(limits, name) for name in NAMES] == [left] * 4


def test_each_limit_moves_by_its_own_growth():
    growth = Growth(tokens=2.1, file_operations=1.6, memory_mb=1.3)
    limits = throttle(run(limits=SET, growth=growth)).state.limits
    assert (limits.max_tokens, limits.max_file_operations, limits.max_memory_mb) == (500, 700, 850)
    assert limits.max_execution_time == 1000, "missing growth is 1.0"


def test_the_factors_are_configurable():
    factors = ReductionFactors(moderate=0.9, high=0.8, aggressive=0.6, severe=0.1)
    left = [
        throttle(run(limits=SET, growth=growing(g), throttled=t), reduction_factors=factors).state.limits.max_tokens
        for g, t in ((1.3, False), (1.6, False), (2.1, False), (2.1, True))
    ]
    assert left == [900, 800, 600, 100]


def test_the_second_throttling_is_severe():
    state = throttle(run(limits=SET, growth=growing(2.1))).state
    assert state.throttled
    assert throttle(state).state.limits.max_tokens == 125


def test_no_limit_falls_below_one():
    tiny = Limits(max_file_operations=1, max_memory_mb=1, max_tokens=1, max_execution_time=1.0, batch_size=1)
    assert throttle(run(limits=tiny, growth=growing(9), throttled=True)).state.limits == tiny


def test_a_limit_below_the_floor_is_not_loosened():
    state = run(limits=Limits(max_tokens=0, max_execution_time=0.5), growth=growing(9))
    limits = throttle(state).state.limits
    assert (limits.max_tokens, limits.max_execution_time) == (0, 0.5)


@pytest.mark.parametrize(("before", "halved"), [(8, 4), (7, 3), (2, 1), (1, 1)])
def test_the_batch_size_is_halved_if_something_grew(before, halved):
    grown = throttle(run(limits=Limits(batch_size=before), growth=Growth(tokens=after(1.2)))).state
    assert grown.limits.batch_size == halved
    steady = throttle(run(limits=Limits(batch_size=before), growth=Growth(tokens=1.2))).state
    assert steady.limits.batch_size == before


def test_a_limit_that_was_not_set_starts_from_the_last_windows_use_and_counts_per_window():
    answer = throttle(run(growth=growing(2.5, use=300)))
    assert [getattr(answer.state.limits, name) for name in NAMES] == [150, 150, 150, 150]
    assert set(answer.state.windowed) == {"max_file_operations", "max_tokens", "max_execution_time"}
    (order,) = [directive for directive in answer.directives if isinstance(directive, SetLimits)]
    assert order.windowed == answer.state.windowed and order.window_s == 60


def test_without_growth_a_limit_that_was_not_set_holds_the_last_windows_use():
    assert throttle(run(growth=growing(1.0, use=40))).state.limits.max_tokens == 40


def test_a_use_that_was_never_measured_gets_no_limit():
    assert throttle(run(growth=Growth(tokens=3.0))).state.limits == Limits()


def test_limits_that_throttling_does_not_know_stay():
    others = Limits(max_cost_usd=5.0, max_steps=10, max_calls_per_minute=7, max_processes=3)
    limits = throttle(run(limits=others, growth=growing(3))).state.limits
    assert (limits.max_cost_usd, limits.max_steps, limits.max_calls_per_minute, limits.max_processes) == (5, 10, 7, 3)


def test_the_order_comes_first_and_the_notice_names_every_limit():
    limits = Limits(max_tokens=1000, max_cost_usd=5.0, batch_size=8)
    order, notice, *_ = throttle(run(limits=limits, growth=growing(2.1, use=64))).directives
    assert isinstance(order, SetLimits) and isinstance(notice, Inject)
    text = notice.message.content
    assert "max_tokens: 500 (was 1,000)" in text and "batch_size: 4 (was 8)" in text and "max_cost_usd: 5" in text
    assert "max_file_operations: 32 per 60 s" in text and "smaller batches" in text
    assert all(name in text for name in NAMES)


def test_the_notice_carries_the_limits():
    answer = throttle(run(limits=SET, growth=growing(2.1)))
    meta = answer.directives[1].message.meta
    assert meta.limits == answer.state.limits and meta.intervention == "resource_throttling"


@pytest.mark.parametrize(
    ("growth", "throttled", "seconds"), [(1.3, False, 9), (1.6, False, 18), (2.1, False, 30), (2.1, True, 30)]
)
def test_a_rate_that_shrank_makes_the_next_call_wait(growth, throttled, seconds):
    (wait,) = [
        directive
        for directive in throttle(run(growth=growing(growth), throttled=throttled)).directives
        if isinstance(directive, Delay)
    ]
    assert wait.seconds == pytest.approx(seconds)


def test_a_budget_that_shrank_delays_nothing():
    assert not [d for d in throttle(run(limits=SET, growth=growing(2.1))).directives if isinstance(d, Delay)]


def test_without_any_growth_the_next_call_waits_so_that_the_rung_is_felt():
    answer = throttle(run())
    assert [d.seconds for d in answer.directives if isinstance(d, Delay)] == [5]
    assert "stay as they are" in answer.directives[1].message.content


rates = st.floats(0, 10)
uses = st.integers(0, 10**9)


@given(
    st.builds(
        Limits,
        max_tokens=st.none() | uses,
        max_file_operations=st.none() | uses,
        max_memory_mb=st.none() | st.integers(1, 10**6),
        max_execution_time=st.none() | st.floats(0, 1e9),
        batch_size=st.none() | st.integers(1, 1000),
    ),
    st.builds(
        Growth,
        tokens=rates,
        file_operations=rates,
        memory_mb=rates,
        execution_time=rates,
        last_window=st.builds(Spend, input_tokens=uses, file_operations=uses, memory_mb=st.floats(0, 1e6)),
    ),
    st.booleans(),
)
def test_throttling_never_loosens_a_limit(limits, growth, throttled):
    state = throttle(run(limits=limits, growth=growth, throttled=throttled)).state
    assert state.limits.smaller(limits) == state.limits
    for name in NAMES:
        value = getattr(state.limits, name)
        assert value is None or value >= 1 or value == getattr(limits, name)
