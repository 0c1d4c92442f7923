"""Hooks for one run: which commands are recognised, and what becomes of the user's own settings."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from interlock.adapters.hooks.clients import BUILT_IN, RUNNERS
from interlock.adapters.hooks.codex import SOURCE
from interlock.adapters.hooks.recognition import FIRST, recognise
from interlock.adapters.hooks.wiring import RunAddress, unwire
from interlock.core import BadInput


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunAddress:
    # The compiled client is the user's, so that it is not compiled for every test.
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "OPENCODE_CONFIG_CONTENT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "wired").mkdir()
    monkeypatch.chdir(tmp_path)
    return RunAddress(socket=tmp_path / "sock et", gate=tmp_path / "gate", folder=tmp_path / "wired")


@pytest.mark.parametrize(
    ("argv", "client", "task"),
    [
        (("claude", "-p", "fix it", "--model", "opus"), "claude-code", "fix it"),
        (("/opt/bin/claude", "--model", "opus", "fix it"), "claude-code", "fix it"),
        (("claude",), "claude-code", ""),
        (("npx", "-y", "@anthropic-ai/claude-code@2.1.325", "-p", "fix"), "claude-code", "fix"),
        (("env", "A=1", "codex", "exec", "--json", "fix"), "codex", "fix"),
        (("codex", "fix"), "codex", "fix"),
        (("gemini", "-m", "x", "-p", "fix"), "gemini", "fix"),
        (("opencode", "run", "-m", "a/b", "fix", "it"), "opencode", "fix it"),
    ],
)
def test_agents_are_recognised_with_their_task(argv: tuple[str, ...], client: str, task: str) -> None:
    wiring = recognise(argv)
    assert wiring is not None
    assert (wiring.client, wiring.task) == (client, task)


@pytest.mark.parametrize(
    "argv",
    [
        (),
        ("make",),
        ("claude", "mcp", "list"),
        ("claude", "--version"),
        ("codex", "login"),
        ("npx", "eslint"),
        ("env",),
    ],
)
def test_other_commands_are_left_alone(argv: tuple[str, ...]) -> None:
    assert recognise(argv) is None


def wire(place: RunAddress, *argv: str) -> Any:
    wiring = recognise(argv)
    assert wiring is not None
    return wiring.wire(place)


def settings_of(wired: Any) -> Any:
    return json.loads(Path(wired.argv[wired.argv.index("--settings") + 1]).read_text())


@pytest.mark.parametrize("form", ["inline", "file", "equals"])
def test_settings_that_the_user_gives_to_claude_code_stay(place: RunAddress, tmp_path: Path, form: str) -> None:
    own = {"model": "opus", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}
    (tmp_path / "own.json").write_text(json.dumps(own))
    given = {
        "inline": ("--settings", json.dumps(own)),
        "file": ("--settings", "own.json"),
        "equals": ("--settings=own.json",),
    }[form]
    wired = wire(place, "claude", "-p", "go", *given, "--verbose")
    assert wired.argv.count("--settings") == 1
    assert wired.argv[-3:] == ("-p", "go", "--verbose")
    settings = settings_of(wired)
    assert settings["model"] == "opus"
    assert settings["hooks"]["Stop"][0] == own["hooks"]["Stop"][0]  # type: ignore[index]
    assert len(settings["hooks"]["Stop"]) == 2


def test_settings_that_cannot_be_read_are_an_error(place: RunAddress) -> None:
    with pytest.raises(BadInput, match="--settings"):
        wire(place, "claude", "--settings", "nowhere.json")


def test_a_project_cannot_switch_hooks_off_but_the_user_can(place: RunAddress, tmp_path: Path) -> None:
    assert settings_of(wire(place, "claude"))["disableAllHooks"] is False
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text('{"disableAllHooks": true}')
    (place.folder / "settings.json").unlink()
    wired = wire(place, "claude")
    assert "disableAllHooks" not in settings_of(wired)
    assert "switched off" in wired.notes[0]


def test_codex_gets_hooks_that_it_trusts(place: RunAddress) -> None:
    wired = wire(place, "codex", "exec", "go")
    options = [word for before, word in zip(wired.argv, wired.argv[1:], strict=False) if before == "-c"]
    merged = tomllib.loads("\n".join(options))["hooks"]
    (group,) = merged["PreToolUse"]
    assert group["hooks"][0]["command"].startswith("exec ")
    assert f"{SOURCE}:pre_tool_use:0:0" in merged["state"]
    assert wired.argv[-2:] == ("exec", "go")
    assert "--dangerously-bypass-hook-trust" not in wired.argv


@pytest.mark.parametrize(
    ("config", "key"),
    [
        (
            'model_provider = "own"\n[model_providers.own]\nbase_url = "http://own/v1/"\n',
            "model_providers.own.base_url",
        ),
        (
            'profile = "p"\n[profiles.p]\nmodel_provider = "own"\n[model_providers.own]\nbase_url = "http://own/v1"\n',
            "model_providers.own.base_url",
        ),
        ('openai_base_url = "http://own/v1"\n', "openai_base_url"),
    ],
)
def test_codex_asks_the_proxy_instead_of_the_api_that_its_file_names(
    place: RunAddress, tmp_path: Path, config: str, key: str
) -> None:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text(config)
    wiring = recognise(("codex", "exec", "go"))
    assert wiring is not None
    assert wiring.api == "http://own/v1"
    assert f'{key}="http://proxy/openai"' in wiring.wire(replace(place, api="http://proxy/openai")).argv
    assert not any(key in word for word in wiring.wire(place).argv), "without a proxy"
    chosen = recognise(("codex", "exec", "-p", "other", "go"))
    assert chosen is not None
    assert chosen.api == ""


@pytest.mark.parametrize(
    "config", ["", "not TOML at all", "model_providers = 3", 'model_provider = "o.p"\n[model_providers."o.p"]\n']
)
def test_codex_is_left_with_its_makers_api(place: RunAddress, tmp_path: Path, config: str) -> None:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text(config)
    wiring = recognise(("codex", "exec", "go"))
    assert wiring is not None
    assert wiring.api == ""


def test_gemini_sees_the_users_home_with_our_hooks_in_it(place: RunAddress, tmp_path: Path) -> None:
    real = tmp_path / ".gemini"
    real.mkdir()
    (real / "settings.json").write_text('{"theme": "Dark", "hooks": {"BeforeTool": [{"hooks": []}]}}')
    (real / "oauth_creds.json").write_text("secret")
    wired = wire(place, "gemini", "-p", "go")
    home = Path(wired.environment["GEMINI_CLI_HOME"]) / ".gemini"
    settings = json.loads((home / "settings.json").read_text())
    assert settings["theme"] == "Dark"
    assert len(settings["hooks"]["BeforeTool"]) == 2
    (home / "oauth_creds.json").write_text("refreshed")
    (home / "installation_id").write_text("new")
    (home / "trustedFolders.json.tmp").write_text("{}")
    (home / "trustedFolders.json.tmp").rename(home / "trustedFolders.json")
    settings["theme"] = "Light"
    (home / "settings.json").write_text(json.dumps(settings))
    unwire(place, wired)
    assert not place.folder.exists()
    assert (real / "oauth_creds.json").read_text() == "refreshed"
    assert (real / "installation_id").read_text() == "new"
    assert (real / "trustedFolders.json").read_text() == "{}"
    assert json.loads((real / "settings.json").read_text()) == {
        "theme": "Light",
        "hooks": {"BeforeTool": [{"hooks": []}]},
    }


def test_gemini_settings_that_nobody_changed_are_not_touched(place: RunAddress, tmp_path: Path) -> None:
    (tmp_path / ".gemini").mkdir()
    path = tmp_path / ".gemini" / "settings.json"
    path.write_text('{"theme":   "Dark"}')
    unwire(place, wire(place, "gemini"))
    assert path.read_text() == '{"theme":   "Dark"}'


def test_opencode_gets_a_plugin_beside_the_users(place: RunAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", '{"plugin": ["mine"], "theme": "x"}')
    wired = wire(place, "opencode", "run", "go")
    given = json.loads(wired.environment["OPENCODE_CONFIG_CONTENT"])
    assert given["theme"] == "x"
    assert given["plugin"][0] == "mine"
    assert given["plugin"][1].startswith("file://")


def test_a_hook_works_from_a_shell_whatever_the_paths_are(place: RunAddress) -> None:
    wired = wire(place, "codex", "go")
    option = next(word for word in wired.argv if word.startswith("hooks.PreToolUse="))
    line = tomllib.loads(option)["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    done = subprocess.run(["/bin/sh", "-c", line], input=b"{}", capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_first_words_are_those_of_all_clients_of_ours():
    assert {*(client.program for client in BUILT_IN), *RUNNERS, "env"} == FIRST
