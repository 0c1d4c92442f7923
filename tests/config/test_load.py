"""Which configuration holds: the named file, the one here, the user's, the defaults; the environment over all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import yaml
from hypothesis import given, settings

from interlock.config import Config, examine, load
from interlock.config.load import read_values
from interlock.config.trust import trust
from interlock.core import BadInput

from .strategies import CONFIGS


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without a configuration, in an empty folder."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return tmp_path / "home"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_without_any_file_the_defaults_hold() -> None:
    assert load(env={}) == Config()


def test_the_named_file_comes_before_the_one_here_and_that_before_the_users(tmp_path: Path, home: Path) -> None:
    write(home / "interlock" / "interlock.yaml", "limits: {max_steps: 4}")
    assert load(env={}).limits.max_steps == 4
    write(Path("interlock.yaml"), "limits: {max_steps: 2}")
    assert load(env={}).limits.max_steps == 2
    named = write(tmp_path / "other.yaml", "limits: {max_steps: 3}")
    assert load(named, env={}).limits.max_steps == 3


def test_the_file_here_lies_over_the_users(home: Path) -> None:
    write(home / "interlock" / "interlock.yaml", "limits: {max_tokens: 1}")
    write(Path("interlock.yaml"), "limits: {max_steps: 2}")
    limits = load(env={}).limits
    assert (limits.max_tokens, limits.max_steps) == (1, 2)


def test_another_folder_can_stand_for_the_one_here(tmp_path: Path) -> None:
    write(tmp_path / "there" / "interlock.yaml", "limits: {max_steps: 9}")
    assert load(env={}, cwd=tmp_path / "there").limits.max_steps == 9


@pytest.mark.parametrize("text", ["", "\n\n", "# only a remark\n", "---\n", "limits:\n", "\ufeff"])
def test_an_empty_file_means_the_defaults(text: str) -> None:
    assert load(write(Path("interlock.yaml"), text), env={}) == Config()


def test_a_section_with_enabled_may_be_plain_true_or_false() -> None:
    text = "interventions: {soft_correction: false, emergency_stop: true}\ndetect: {judge: true}\n"
    config = load(write(Path("interlock.yaml"), text), env={})
    assert config.interventions.soft_correction.enabled is False
    assert config.interventions.soft_correction.max_attempts is None
    assert config.interventions.emergency_stop.enabled is True
    assert config.detect.judge.enabled is True


def test_intervention_is_another_name_for_gui() -> None:
    config = load(write(Path("interlock.yaml"), "intervention: {interval_seconds: 5}"), env={})
    assert config.gui.interval_seconds == 5


def test_numbers_are_understood_as_people_write_them() -> None:
    text = "limits: {max_cost_usd: 1e3, max_tokens: 1_000_000, max_execution_time: 60}"
    limits = load(write(Path("interlock.yaml"), text), env={}).limits
    assert (limits.max_cost_usd, limits.max_tokens, limits.max_execution_time) == (1000, 1_000_000, 60)


def test_words_that_yaml_takes_for_truth_are_names_where_names_are_expected() -> None:
    text = "notifications: {channels: {no: 'mailto://x', 7: 'json://y'}}"
    assert set(load(write(Path("interlock.yaml"), text), env={}).notifications.channels) == {"no", "7"}


@pytest.mark.parametrize(
    ("name", "text", "path", "value"),
    [
        ("INTERLOCK_LIMITS__MAX_STEPS", "7", "limits.max_steps", 7),
        ("INTERLOCK_LIMITS__MAX_STEPS", "", "limits.max_steps", None),
        ("INTERLOCK_LIMITS__MAX_COST_USD", "1.5", "limits.max_cost_usd", 1.5),
        ("INTERLOCK_RUNTIME__FAIL", "closed", "runtime.fail", "closed"),
        ("INTERLOCK_INTERVENTIONS__OBSERVE", "true", "interventions.observe", True),
        ("INTERLOCK_INTERVENTIONS__SOFT_CORRECTION", "false", "interventions.soft_correction.enabled", False),
        ("INTERLOCK_INTERVENTION__ENABLED", "off", "gui.enabled", False),
        ("INTERLOCK_CHECKPOINTS__EXCLUDE", '[a, "*.log"]', "checkpoints.exclude", ("a", "*.log")),
        ("INTERLOCK_HUB__URL", "nats://host:4222", "hub.url", "nats://host:4222"),
        ("INTERLOCK_STORE__DIR", "/a: b # c", "store.dir", "/a: b # c"),
        ("INTERLOCK_STORE__DIR", "", "store.dir", None),
        ("INTERLOCK_STORE__DIR", "123", "store.dir", "123"),
        ("INTERLOCK_NOTIFICATIONS__CHANNELS__OPS", "json://x", "notifications.channels", {"ops": "json://x"}),
        ("INTERLOCK_DETECT__EXCEPTIONS__BASH", "[loop]", "detect.exceptions", {"bash": ("loop",)}),
    ],
)
def test_a_variable_overrides_the_key_that_it_names(name: str, text: str, path: str, value: object) -> None:
    write(Path("interlock.yaml"), "limits: {max_steps: 5, max_tokens: 6}\nstore: {dir: x}")
    config: object = load(env={name: text})
    for word in path.split("."):
        config = getattr(config, word)
    assert config == value
    assert load(env={name: text}).limits.max_tokens == 6


def test_variables_add_to_the_names_of_the_file() -> None:
    file = write(Path("interlock.yaml"), "notifications: {channels: {mail: 'mailto://x'}}")
    trust(file, read_values(file))
    channels = load(env={"INTERLOCK_NOTIFICATIONS__CHANNELS__OPS": "json://x"}).notifications.channels
    assert channels == {"mail": "mailto://x", "ops": "json://x"}


def test_other_variables_of_ours_are_no_keys() -> None:
    assert load(env={"INTERLOCK_SOCKET": "/run/x", "INTERLOCK_TREE": "y", "OTHER__THING": "z"}) == Config()


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("INTERLOCK_LIMITS__MAX_STEP", "1", "limits.max_step: unknown key. Did you mean max_steps?"),
        ("INTERLOCK_RUNTIME__MAX_TOKENS", "1", "runtime.max_tokens: max_tokens belongs under limits"),
        ("INTERLOCK_NONSUCH__X", "1", "nonsuch: unknown key"),
        (
            "INTERLOCK_LIMITS__MAX_STEPS",
            "many",
            "limits.max_steps: expected a whole number of at least 0, not the given value",
        ),
        ("INTERLOCK_LIMITS__MAX_STEPS", "[", "limits.max_steps: is not YAML"),
        ("INTERLOCK_LIMITS__MAX_STEPS__MORE", "1", "limits.max_steps has no keys of its own"),
        ("INTERLOCK_GUI__BUDGET", "5", "gui.budget: expected keys and values, not the given value"),
        ("INTERLOCK__X", "5", "unknown key"),
    ],
)
def test_a_variable_that_is_wrong_says_so_by_its_name(name: str, text: str, words: str) -> None:
    with pytest.raises(BadInput) as raised:
        load(env={name: text})
    assert str(raised.value).startswith(f"{name}: ")
    assert words in str(raised.value)


def test_a_variable_can_set_a_whole_section_and_another_a_key_of_it() -> None:
    env = {"INTERLOCK_LIMITS": "{max_steps: 7, max_tokens: 8}", "INTERLOCK_LIMITS__MAX_TOKENS": "9"}
    examined = examine(env=env)
    assert (examined.config.limits.max_steps, examined.config.limits.max_tokens) == (7, 9)
    assert examined.sources["limits.max_steps"] == "INTERLOCK_LIMITS"
    assert examined.sources["limits.max_tokens"] == "INTERLOCK_LIMITS__MAX_TOKENS"
    with pytest.raises(BadInput, match=r"INTERLOCK_LIMITS: limits\.max_stps: unknown key"):
        load(env={"INTERLOCK_LIMITS": "{max_stps: 7}"})


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("nowhere"), os.mkfifo, Path.mkdir])
def test_what_lies_in_the_files_place_keeps_nobody_waiting(make: Callable[[Path], None]) -> None:
    make(Path("interlock.yaml"))
    with pytest.raises(BadInput, match=r"interlock\.yaml: is not a readable file"):
        load(env={})


def test_every_value_knows_where_it_came_from() -> None:
    write(Path("interlock.yaml"), "limits:\n  max_steps: 5\n  max_tokens: 6\ngui: true\n")
    sources = examine(env={"INTERLOCK_LIMITS__MAX_TOKENS": "7"}).sources
    assert sources == {
        "limits.max_steps": "interlock.yaml:2",
        "limits.max_tokens": "INTERLOCK_LIMITS__MAX_TOKENS",
        "gui.enabled": "interlock.yaml:4",
    }


@settings(deadline=None, max_examples=30)
@given(values=CONFIGS)
def test_any_configuration_survives_a_trip_through_yaml(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, object]
) -> None:
    path = tmp_path_factory.getbasetemp() / "trip.yaml"
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    config = load(path, env={})
    assert config == msgspec.convert(values, Config)
    path.write_text(yaml.safe_dump(msgspec.to_builtins(config)), encoding="utf-8")
    assert load(path, env={}) == config


@pytest.mark.parametrize(
    "name",
    [
        "INTERLOCK_LIMITS__MAX_STEPS",
        "INTERLOCK_GUI__BUDGET",
        "INTERLOCK_NOTIFICATIONS__CHANNELS",
        "INTERLOCK_RUNTIME__FAIL",
    ],
)
@pytest.mark.parametrize(
    "text", ["sk-secret-key", "{a: [sk-secret-key", "[sk-secret-key]", "@sk-secret-key", "*sk-secret-key"]
)
def test_what_a_variable_holds_is_never_repeated(name: str, text: str) -> None:
    with pytest.raises(BadInput) as raised:
        load(env={name: text})
    assert "sk-secret" not in str(raised.value)


@pytest.mark.parametrize("name", ["0E0", "1e3", "12e03456"])
def test_what_is_a_number_to_us_and_a_text_to_yaml_is_what_the_key_asks_for(name: str) -> None:
    file = write(Path("interlock.yaml"), f"models:\n- name: {name}\nlimits:\n  max_cost_usd: 1e3\n")
    config = load(file, env={})
    assert (config.models[0].name, config.limits.max_cost_usd) == (name, 1000)
    write(Path("interlock.yaml"), "models:\n- name: 12\n")
    with pytest.raises(BadInput, match="expected a string, not '12'"):
        load(env={})


@pytest.mark.parametrize("word", ["off", "Off", "false", "no", '"off"'])
def test_containment_is_off_however_yaml_reads_the_word(tmp_path: Path, word: str) -> None:
    file = write(tmp_path / "c.yaml", f"runtime:\n  contain: {word}\n")
    assert load(file).runtime.contain == "off"
    assert load(env={"INTERLOCK_RUNTIME__CONTAIN": word}).runtime.contain == "off"


def test_other_words_are_not_false(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="expected one of"):
        load(write(tmp_path / "c.yaml", "runtime:\n  on_tamper: false\n"))


def test_a_key_that_was_removed_says_what_to_do(tmp_path: Path) -> None:
    file = write(tmp_path / "c.yaml", "detect:\n  judge:\n    sure: 0.5\n")
    with pytest.raises(BadInput) as raised:
        load(file)
    words = str(raised.value)
    assert words.endswith("c.yaml:3: detect.judge.sure: was removed: Interlock chooses it itself. Delete the line.")
