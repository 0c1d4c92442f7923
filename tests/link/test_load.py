"""Many runs and many controllers at once: no error, and how long an answer takes."""

from __future__ import annotations

import pytest

from .calling import run_driver


def test_five_runs_and_ten_controllers() -> None:
    report = run_driver("load_driver", "5", "10", "0.5", timeout=120)
    assert report["commands"] and report["errors"] == [], report


@pytest.mark.torture
def test_two_hundred_runs_and_fifty_controllers_for_a_minute(record_property: pytest.RecordProperty) -> None:
    report = run_driver("load_driver", "200", "50", "60", timeout=600)
    print(report)
    record_property("p99 ms", report["p99 ms"])
    assert report["commands"] and report["errors"] == [], report
