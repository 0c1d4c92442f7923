"""A workspace's configuration tightens freely; what loosens counts once a person has agreed, until it changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from interlock.cli.config import app
from interlock.config import examine
from interlock.config.load import read_values
from interlock.config.trust import is_free, trust


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("INTERLOCK_TREE", raising=False)
    (tmp_path / "config" / "interlock").mkdir(parents=True)
    here = tmp_path / "workspace"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


def write(workspace: Path, text: str) -> Path:
    file = workspace / "interlock.yaml"
    file.write_text(text)
    return file


def test_what_tightens_counts_at_once(workspace: Path) -> None:
    write(workspace, "limits: {max_steps: 5}\nruntime: {fail: closed, contain: guard, on_tamper: stop}\n")
    found = examine(env={})
    assert found.ignored == ()
    assert found.config.limits.max_steps == 5 and found.config.runtime.fail == "closed"


def test_what_loosens_is_ignored_in_one_line_until_it_is_trusted(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "config" / "interlock" / "interlock.yaml").write_text("runtime: {contain: guard}\n")
    file = write(workspace, "interventions: {enabled: false}\nruntime: {contain: 'off'}\nlimits: {max_steps: 5}\n")
    found = examine(env={})
    assert found.ignored == ("interventions.enabled", "runtime.contain")
    assert found.config.interventions.enabled and found.config.runtime.contain == "guard"
    assert found.config.limits.max_steps == 5
    assert "interlock config trust" in found.ignored_line and "\n" not in found.ignored_line
    trust(file, read_values(file))
    found = examine(env={})
    assert found.ignored == () and not found.config.interventions.enabled
    write(workspace, file.read_text() + "hub: {url: nats://elsewhere}\n")
    assert "hub.url" in examine(env={}).ignored, "asked again when the file changes"


def test_the_users_limits_stay_whatever_a_workspace_says(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "config" / "interlock" / "interlock.yaml").write_text("limits: {max_steps: 10, max_cost_usd: 2}\n")
    write(workspace, "limits: {max_steps: 50, max_cost_usd: 1}\n")
    found = examine(env={})
    assert (found.config.limits.max_steps, found.config.limits.max_cost_usd) == (10, 1)
    assert found.ignored == ("limits.max_steps",)


def test_a_file_that_is_named_by_it_is_part_of_what_was_trusted(workspace: Path) -> None:
    rules = workspace / "rules.yaml"
    rules.write_text("rules: []\n")
    file = write(workspace, "review: {rules_path: rules.yaml}\n")
    trust(file, read_values(file))
    assert examine(env={}).ignored == ()
    rules.write_text("rules: [{}]\n")
    assert examine(env={}).ignored == ("review.rules_path",)


def test_a_file_named_on_the_command_line_is_a_persons_own(workspace: Path) -> None:
    file = write(workspace, "interventions: {enabled: false}\n")
    assert not examine(file, env={}).config.interventions.enabled


def test_trust_is_given_by_a_person_and_not_from_inside_a_run(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(workspace, "interventions: {enabled: false}\n")
    monkeypatch.setattr("interlock.contain.run_members.in_a_run", lambda: True)
    assert CliRunner().invoke(app, ["trust", "--yes"]).exit_code != 0
    monkeypatch.setattr("interlock.contain.run_members.in_a_run", lambda: False)
    assert CliRunner().invoke(app, ["trust"]).exit_code != 0, "nobody has answered"
    assert examine(env={}).ignored == ("interventions.enabled",)
    done = CliRunner().invoke(app, ["trust", "--yes"])
    assert done.exit_code == 0 and "interventions.enabled" in done.output
    assert examine(env={}).ignored == ()


@pytest.mark.parametrize(
    ("path", "value", "now", "free"),
    [
        ("limits.max_steps", 5, None, True),
        ("limits.max_steps", None, 5, False),
        ("runtime.on_tamper", "warn", "auto", False),
        ("runtime.on_tamper", "auto", "pause", False),
        ("runtime.on_tamper", "stop", "auto", True),
        ("runtime.contain", "guard", "off", True),
        ("runtime.contain", "off", "guard", False),
        ("detect.sensitivity", "high", "medium", True),
        ("detect.sensitivity", "low", "medium", False),
        ("interventions.observe", True, False, False),
        ("unattended.resume.rerun", True, False, False),
        ("unattended.resume.rerun", False, True, True),
        ("checkpoints.exclude", ["src"], (), False),
        ("contain.allow", ["docker"], (), False),
        ("notifications.channels", {"a": "json://elsewhere"}, {}, False),
        ("gui.interval_seconds", 5, 600, True),
        ("gui.allowed_buttons", ["Delete"], (), False),
    ],
)
def test_stricter_is_free(path: str, value: object, now: object, free: bool) -> None:
    assert is_free(path, value, now) is free
