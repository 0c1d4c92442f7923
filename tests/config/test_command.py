"""interlock config init, show and check, as somebody types them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.cli.main import run
from interlock.config.reference import config_template

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def interlock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command in an empty folder: exit status, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))

    def command(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["interlock", *words])
        with pytest.raises(SystemExit) as ended:
            run()
        said = capsys.readouterr()
        code = ended.value.code
        return (code if isinstance(code, int) else 0 if code is None else 1), said.out, said.err

    return command


def test_init_writes_every_key_and_never_over_a_file_unless_forced(interlock: Command) -> None:
    assert interlock("config", "init")[0] == 0
    assert Path("interlock.yaml").read_text() == config_template()
    Path("interlock.yaml").write_text("gui: false\n")
    status, out, err = interlock("config", "init")
    assert (status, out) == (2, "")
    assert err == "interlock: interlock.yaml: already exists. Use --force to overwrite.\n"
    assert Path("interlock.yaml").read_text() == "gui: false\n"
    assert interlock("config", "init", "--force")[0] == 0
    assert Path("interlock.yaml").read_text() == config_template()


def test_init_into_a_folder_that_is_not_there_says_so(interlock: Command) -> None:
    status, _, err = interlock("config", "init", "none/such.yaml")
    assert status == 2
    assert "none/such.yaml: cannot be written (No such file or directory)" in err


def test_check_says_that_a_file_is_right(interlock: Command) -> None:
    interlock("config", "init")
    assert interlock("config", "check") == (0, "interlock.yaml is valid.\n", "")
    assert interlock("config", "check", "interlock.yaml") == (0, "interlock.yaml is valid.\n", "")


def test_check_says_everything_that_is_wrong_and_exits_with_2(interlock: Command) -> None:
    Path("a.yaml").write_text("limits: {max_step: 1}\ngui: {enabled: 3}\n")
    status, out, err = interlock("config", "check", "a.yaml")
    assert (status, out) == (2, "")
    assert err.splitlines() == [
        "interlock: a.yaml:1: limits.max_step: unknown key. Did you mean max_steps?",
        "interlock: a.yaml:2: gui.enabled: expected true or false, not '3'",
    ]
    status, out, _ = interlock("config", "check", "a.yaml", "--json")
    answer = json.loads(out)
    assert status == 2
    assert answer["ok"] is False
    assert [(p["path"], p["line"]) for p in answer["problems"]] == [("limits.max_step", 1), ("gui.enabled", 2)]


def test_a_warning_is_said_and_the_file_is_right(interlock: Command) -> None:
    Path("a.yaml").write_text("interventions: {strategy: {type: mine}}\n")
    status, out, err = interlock("config", "check", "a.yaml")
    assert (status, out) == (0, "a.yaml is valid.\n")
    assert err.startswith(
        "interlock: warning: a.yaml:1: interventions.strategy.type: 'mine' is not a built-in strategy"
    )


@pytest.mark.parametrize("words", [("check", "none.yaml"), ("show", "--config", "none.yaml"), ("check", ".")])
def test_what_is_not_there_is_one_line_and_status_2(interlock: Command, words: tuple[str, ...]) -> None:
    status, out, err = interlock("config", *words)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1


def test_check_without_a_file_looks_at_what_is_in_force(interlock: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert interlock("config", "check") == (0, "No configuration file: the defaults apply.\n", "")
    monkeypatch.setenv("INTERLOCK_LIMITS__MAX_STEP", "3")
    status, _, err = interlock("config", "check")
    assert status == 2
    assert "INTERLOCK_LIMITS__MAX_STEP: limits.max_step: unknown key" in err


def test_show_names_the_source_of_what_is_not_the_default(interlock: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("interlock.yaml").write_text("limits: {max_steps: 5}\nruntime: {fail: open}\n")
    monkeypatch.setenv("INTERLOCK_GUI__ENABLED", "false")
    status, out, _ = interlock("config", "show", "--json")
    answer = json.loads(out)
    assert status == 0
    assert answer["file"] == "interlock.yaml"
    assert answer["config"]["limits"] == {"max_steps": 5}
    assert answer["sources"] == {"limits.max_steps": "interlock.yaml:1", "gui.enabled": "INTERLOCK_GUI__ENABLED"}
    assert "  max_steps: 5  # interlock.yaml:1\n" in interlock("config", "show")[1]


def test_each_has_help_with_an_example(interlock: Command) -> None:
    for words in ((), ("init",), ("show",), ("check",)):
        status, out, _ = interlock("config", *words, "--help")
        assert status == 0
        assert "Example: interlock config" in out
