"""Limits that could never be reached are refused when they are made, not found out when the money is gone."""

from __future__ import annotations

import math

import msgspec
import pytest

from interlock.core import Limits
from interlock.core.decoding import from_json


@pytest.mark.parametrize("value", [math.nan, -1, -0.01, -math.inf])
def test_a_limit_that_is_no_amount_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="max_cost_usd must be a number of at least 0"):
        Limits(max_cost_usd=value)
    with pytest.raises(ValueError, match="max_execution_time"):
        Limits().replace(max_execution_time=value)


def test_no_limit_nothing_at_all_and_no_end_are_limits() -> None:
    limits = Limits(max_tokens=0, max_cost_usd=math.inf, max_steps=None)
    assert limits.smaller(Limits(max_cost_usd=2.5)) == Limits(max_tokens=0, max_cost_usd=2.5)


def test_what_is_read_is_held_to_the_same() -> None:
    with pytest.raises(msgspec.ValidationError):
        from_json(b'{"max_tokens": -1}', Limits)
