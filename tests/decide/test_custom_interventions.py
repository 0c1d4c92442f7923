"""Interventions and strategies of one's own, registered in code or found through entry points."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from interlock.config.schema import ContextReinforcement
from interlock.core import EVERY_CAPABILITY, BadInput, Delay, Inject
from interlock.intervene import Continue, Custom, level_of, register_intervention, unregister_intervention

from .decide_builders import Driver, config, issue

EXAMPLE = Path(__file__).parents[2] / "examples" / "custom-intervention"


def wave(found, state, settings, now):
    return Continue(state=state, log="waved", directives=(Delay(1),))


def own(**changes) -> Custom:
    return Custom(**{"name": "wave", "issue_types": frozenset({"loop"}), "level": 0, "apply": wave, **changes})


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The example package as an installer leaves it: on the path, with its metadata."""
    import tomllib

    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    info = tmp_path / "interlock_slow_down-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0.1.0\n")
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(EXAMPLE / "src"))
    yield info
    monkeypatch.undo()
    sys.modules.pop("slow_down", None)


def test_it_takes_the_built_in_ones_place_at_its_level_for_its_types():
    driver = Driver(custom=[own()])
    ruling = driver.ruling(issue("loop"))
    assert (ruling.intervention.type, ruling.intervention.level) == ("wave", 0)
    assert ruling.directives == (Delay(1),)
    assert driver.type(issue("goal_drift"), after=30) == "soft_correction"


def test_it_is_judged_and_climbed_from_like_any_other():
    driver = Driver(custom=[own()])
    driver.meet(issue())
    assert driver.type(issue(), after=30) == "context_reinforcement"
    assert [(judged.type, judged.outcome) for judged in driver.judged] == [("wave", "failure")]


def test_it_can_be_for_every_type():
    assert Driver(custom=[own(issue_types=frozenset({"*"}))]).type(issue("whatever")) == "wave"


def test_it_stands_in_for_a_rung_that_is_switched_off():
    settings = config("mine", context_reinforcement=ContextReinforcement(enabled=False))
    driver = Driver(settings, strategies={"mine": lambda found: 1}, custom=[own(level=1)])
    assert driver.type(issue()) == "wave"


def test_it_is_passed_over_where_the_adapter_lacks_what_it_needs():
    driver = Driver(
        config("mine"),
        EVERY_CAPABILITY - {"rewrite"},
        strategies={"mine": lambda found: 1},
        custom=[own(level=1, needs=frozenset({"rewrite"}))],
    )
    assert driver.type(issue()) == "soft_correction"


def test_it_can_be_registered_in_code():
    custom = register_intervention(own())
    try:
        assert Driver().type(issue()) == "wave"
    finally:
        unregister_intervention(custom)
    assert Driver().type(issue()) == "soft_correction"


@pytest.mark.parametrize(
    "changes",
    [{"name": ""}, {"name": "emergency_stop"}, {"issue_types": frozenset()}, {"level": 5}, {"level": -1}],
)
def test_a_wrong_one_is_an_error_when_it_is_made(changes):
    with pytest.raises(BadInput):
        own(**changes)


def test_two_of_one_name_are_an_error():
    with pytest.raises(BadInput, match="wave"):
        Driver(custom=[own(), own(level=1)])


def test_the_levels_have_names():
    assert [level_of("soft_correction"), level_of("emergency_stop")] == [0, 4]


def test_the_example_package_is_found_through_its_entry_points(installed):
    driver = Driver(config("patient", delay=0))
    assert driver.type(issue("goal_drift"), after=60) == "soft_correction"
    assert driver.type(issue("goal_drift"), after=60) == "soft_correction"
    ruling = driver.ruling(issue("goal_drift"), after=60)
    assert ruling.intervention.type == "take_a_breath"
    wait, inject = ruling.directives
    assert isinstance(wait, Delay) and isinstance(inject, Inject)
    assert inject.message.meta.intervention == "take_a_breath"


def test_the_examples_strategy_is_known_as_custom(installed):
    assert Driver(config("custom")).type(issue("loop", "critical")) == "context_reinforcement"


def test_an_entry_point_to_something_else_is_an_error_that_names_it(installed):
    (installed / "entry_points.txt").write_text("[interlock.interventions]\noops = slow_down:PAUSE_S\n")
    with pytest.raises(BadInput, match="'oops' is a float"):
        Driver()
