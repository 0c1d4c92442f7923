"""Permanent hooks: shown, backed up, idempotent, and gone without a trace when uninstalled."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from interlock.adapters.hooks.codex import MOMENTS as CODEX
from interlock.adapters.hooks.codex import label
from interlock.cli.main import app
from interlock.core import InterlockError
from interlock.link import serve_socket

OWN_HOOK = {"hooks": [{"type": "command", "command": "notify-send done"}]}
CLAUDE = {
    "model": "opus",
    "hooks": {"Stop": [OWN_HOOK], "PreToolUse": [OWN_HOOK]},
    "permissions": {"deny": ["WebFetch"]},
}


class Home:
    """A user with settings of their own."""

    def __init__(self, root: Path, patch: pytest.MonkeyPatch) -> None:
        self.root, self._patch = root, patch
        (root / "run").mkdir(mode=0o700)
        for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
            patch.delenv(name, raising=False)
        patch.setenv("HOME", str(root))
        patch.setenv("XDG_RUNTIME_DIR", str(root / "run"))
        patch.chdir(root)

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def interlock(self, *words: str) -> tuple[int, str, str]:
        """The command, in this process: status, what it prints, the error."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), Path(os.devnull).open() as nothing:
            self._patch.setattr(sys, "stdin", nothing)
            try:
                app([*words], standalone_mode=False)
            except InterlockError as error:
                return error.exit_status, out.getvalue(), str(error)
        return 0, out.getvalue(), ""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    # The compiled client is the user's, so that it is not compiled for every test.
    monkeypatch.setenv("XDG_CACHE_HOME", os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache"))
    return Home(tmp_path, monkeypatch)


def test_claude_code_keeps_what_the_user_has(home: Home) -> None:
    path = home.write(".claude/settings.json", json.dumps(CLAUDE))
    status, out, err = home.interlock("install", "claude-code", "--yes")
    assert status == 0, err
    assert f"change {path} (" in out
    settings = json.loads(path.read_text())
    assert settings["model"] == "opus"
    assert settings["permissions"] == CLAUDE["permissions"]
    assert settings["hooks"]["PreToolUse"][0] == OWN_HOOK
    (ours,) = settings["hooks"]["PreToolUse"][1]["hooks"]
    assert Path(ours["command"]).exists()
    assert "--before" in ours["args"]
    assert "--before" not in settings["hooks"]["PostToolBatch"][0]["hooks"][0]["args"]
    (backup,) = path.parent.glob("settings.json.interlock-backup-*")
    assert json.loads(backup.read_text()) == CLAUDE


def test_a_second_time_changes_nothing(home: Home) -> None:
    path = home.write(".claude/settings.json", json.dumps(CLAUDE))
    home.interlock("install", "claude-code", "--yes")
    installed = path.read_bytes()
    status, out, _ = home.interlock("install", "claude-code", "--yes")
    assert (status, path.read_bytes()) == (0, installed)
    assert "already" in out
    assert len(list(path.parent.glob("*.interlock-backup-*"))) == 1


@pytest.mark.parametrize("text", [json.dumps(CLAUDE), json.dumps(CLAUDE, indent=8) + "\n\n", "{}"])
def test_uninstall_gives_back_the_very_bytes(home: Home, text: str) -> None:
    path = home.write(".claude/settings.json", text)
    home.interlock("install", "claude-code", "--yes")
    assert path.read_text() != text
    status, _, err = home.interlock("uninstall", "claude-code", "--yes")
    assert status == 0, err
    assert path.read_text() == text
    assert "no Interlock hooks" in home.interlock("uninstall", "claude-code", "--yes")[1]


def test_without_yes_and_without_a_terminal_nothing_is_done(home: Home) -> None:
    path = home.write(".claude/settings.json", "{}")
    status, out, err = home.interlock("install", "claude-code")
    assert status == 2
    assert "PreToolUse" in out
    assert "--yes" in err
    assert path.read_text() == "{}"


@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini", "opencode"])
def test_a_change_is_told_in_a_line_a_file_and_in_full_with_diff(home: Home, client: str) -> None:
    status, short, _ = home.interlock("install", client)
    assert status == 2
    assert short.splitlines()
    assert all(line.startswith("create ") for line in short.splitlines())
    _, full, _ = home.interlock("install", client, "--diff")
    assert len(full.splitlines()) > 10 * len(short.splitlines())
    _, made, _ = home.interlock("install", client, "--yes")
    count = len(short.splitlines())
    assert all(line.startswith("created ") for line in made.splitlines()[count : 2 * count])
    _, removed, _ = home.interlock("uninstall", client)
    assert all(line.startswith("remove ") for line in removed.splitlines())
    _, gone, _ = home.interlock("uninstall", client, "--yes")
    assert all(line.startswith("removed ") for line in gone.splitlines()[count:])


def test_a_file_that_was_there_is_said_to_be_changed(home: Home) -> None:
    path = home.write(".claude/settings.json", json.dumps(CLAUDE))
    assert f"\nchanged {path} (backup: " in home.interlock("install", "claude-code", "--yes")[1]


def test_broken_settings_are_named_and_left_alone(home: Home) -> None:
    path = home.write(".gemini/settings.json", "{oops")
    status, _, err = home.interlock("install", "gemini", "--yes")
    assert status == 2
    assert str(path) in err
    assert path.read_text() == "{oops"


def test_a_settings_file_that_is_a_link_stays_one(home: Home) -> None:
    real = home.write("dotfiles/claude.json", "{}")
    (home.root / ".claude").mkdir()
    (home.root / ".claude" / "settings.json").symlink_to(real)
    assert home.interlock("install", "claude-code", "--yes")[0] == 0
    assert (home.root / ".claude" / "settings.json").is_symlink()
    assert "hooks" in json.loads(real.read_text())


def test_a_project_has_settings_of_its_own(home: Home) -> None:
    (home.root / "project").mkdir()
    status, out, err = home.interlock("install", "gemini", "--project", "project", "--yes", "--json")
    assert status == 0, err
    path = home.root / "project" / ".gemini" / "settings.json"
    assert json.loads(out) == {"changed": [{"path": str(path), "backup": None}]}
    assert not (home.root / ".gemini").exists()
    assert home.interlock("uninstall", "gemini", "--project", "project", "--yes")[0] == 0
    assert not path.exists()


def test_codex_gets_hooks_and_what_it_needs_to_trust_them(home: Home) -> None:
    config = home.write(".codex/config.toml", 'model = "gpt-5"\n[features]\nx = true\n')
    own: dict[str, Any] = {"hooks": {"PreToolUse": [OWN_HOOK]}}
    hooks = home.write(".codex/hooks.json", json.dumps(own))
    assert home.interlock("install", "codex", "--yes")[0] == 0
    settings = tomllib.loads(config.read_text())
    assert settings["model"] == "gpt-5"
    expected = {f"{hooks}:{label(event)}:{1 if event == 'PreToolUse' else 0}:0" for event in CODEX}
    assert set(settings["hooks"]["state"]) == expected
    assert home.interlock("install", "codex", "--yes")[1].startswith("these hooks are already installed")
    assert home.interlock("uninstall", "codex", "--yes")[0] == 0
    assert config.read_text() == 'model = "gpt-5"\n[features]\nx = true\n'
    assert json.loads(hooks.read_text()) == own


def test_opencode_gets_a_plugin_that_knows_the_socket(home: Home) -> None:
    assert home.interlock("install", "opencode", "--yes")[0] == 0
    path = home.root / ".config" / "opencode" / "plugin" / "interlock.js"
    assert f'const SERVE = "{serve_socket()}"' in path.read_text()
    assert home.interlock("install", "opencode", "--yes")[1].startswith("these hooks are already installed")
    assert home.interlock("uninstall", "opencode", "--yes")[0] == 0
    assert not path.exists()


def test_an_unknown_agent_is_an_error_that_names_the_known_ones(home: Home) -> None:
    status, _, err = home.interlock("install", "emacs", "--yes")
    assert status == 2
    assert "claude-code" in err


@pytest.mark.parametrize(
    ("client", "file", "second"),
    [
        ("claude-code", ".claude/settings.json", 1),
        ("codex", ".codex/hooks.json", 1),
        ("gemini", ".gemini/settings.json", 1000),
    ],
)
def test_a_hook_may_take_as_long_as_a_person_is_away(home: Home, client: str, file: str, second: int) -> None:
    home.interlock("install", client, "--yes")
    hooks: Any = json.loads((home.root / file).read_text())["hooks"]
    limits = {event: hook["timeout"] for event, (group, *_) in hooks.items() for hook in group["hooks"]}
    ending = limits.pop("SessionEnd")
    assert ending <= 10 * second, "nobody is held when the client has gone"
    week_s = 7 * 24 * 3600
    # A timer of JavaScript that is longer than 31 bits of milliseconds ends at once.
    assert all(week_s * second <= limit and limit / second * 1000 < 2**31 for limit in limits.values()), limits


@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini", "opencode"])
@pytest.mark.parametrize("theirs", [None, "{}"])
def test_install_and_uninstall_leave_nothing_behind(home: Home, client: str, theirs: str | None) -> None:
    names = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json"}
    if theirs is not None and client in names:
        home.write(names[client], theirs)
    home.write(".config/other", "")
    (home.root / ".local" / "share").mkdir(parents=True)
    (home.root / "run" / "interlock").mkdir()  # The system clears it when the user logs out.
    before = {path: path.is_file() and path.read_bytes() for path in home.root.rglob("*")}
    assert home.interlock("install", client, "--yes")[0] == 0
    assert home.interlock("uninstall", client, "--yes")[0] == 0
    assert {path: path.is_file() and path.read_bytes() for path in home.root.rglob("*")} == before


def test_the_client_stays_as_long_as_one_agent_calls_it(home: Home) -> None:
    (home.root / "project").mkdir()
    home.interlock("install", "claude-code", "--yes")
    home.interlock("install", "gemini", "--project", "project", "--yes")
    home.interlock("uninstall", "claude-code", "--yes")
    settings = json.loads((home.root / "project" / ".gemini" / "settings.json").read_text())
    assert Path(settings["hooks"]["BeforeTool"][0]["hooks"][0]["command"].split()[1]).exists()
    home.interlock("uninstall", "gemini", "--project", "project", "--yes")
    assert not list(home.root.rglob("hookclient*"))
