"""The commands as a user calls them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from interlock.cli import gui_replay
from interlock.core import BadInput
from interlock.gui import InterventionEvent, ReplayStatus
from interlock.gui.display import Programs, VirtualDisplay

from ..cli.calling import interlock, lines_of
from ..e2e.running import until
from .conftest import Launch, terminal
from .drawn import Drawn

SESSION = {
    "session_id": "demo",
    "files": [{"path": "a.py", "operations": [{"type": "insert", "line": 1, "content": "one\ntwo\n"}]}],
}


@pytest.fixture
def session(tmp_path: Path) -> Path:
    file = tmp_path / "session.json"
    file.write_text(json.dumps(SESSION))
    (tmp_path / "work").mkdir()
    return file


def test_analyze_says_what_pictures_show_and_names_what_is_none(tmp_path: Path) -> None:
    normal, dialog = Drawn(1), Drawn(2)
    dialog.dialog()
    normal.image.save(tmp_path / "normal.png")
    dialog.image.save(tmp_path / "dialog.png")
    (tmp_path / "words.png").write_text("no picture")
    done = interlock("gui", "analyze", "normal.png", "dialog.png", "--json", home=tmp_path)
    assert done.returncode == 0, done.stderr
    images = json.loads(done.stdout)["images"]
    assert [(each["image"], each["status"], each["problem"]) for each in images] == [
        ("normal.png", "normal", False),
        ("dialog.png", "dialog", True),
    ]
    bad = interlock("gui", "analyze", "words.png", "gone.png", "normal.png", home=tmp_path)
    assert bad.returncode == 2
    assert "words.png: not a readable image" in bad.stderr
    assert "gone.png: the file does not exist" in bad.stderr
    assert "normal" in bad.stdout


def test_verify_tells_right_from_wrong(session: Path, tmp_path: Path) -> None:
    command = ("gui", "verify", str(session), "--workspace", str(tmp_path / "work"))
    (tmp_path / "work" / "a.py").write_text("one\ntwo\n")
    right = interlock(*command, "--strict", "--json", home=tmp_path)
    assert right.returncode == 0, right.stderr
    assert json.loads(right.stdout)["success"]
    (tmp_path / "work" / "a.py").write_text("one\nthree\n")
    wrong = interlock(*command, home=tmp_path)
    assert wrong.returncode == 1
    assert "-two" in wrong.stdout
    assert "mismatch" in wrong.stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ('{"session_id": "x"}', "field 'files' is missing"),
        ('{"session_id": "x", "files": [{"path": "../a", "operations": []}]}', "must stay inside the workspace"),
    ],
)
def test_a_bad_session_is_one_line_and_status_2(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    for command in ("verify", "replay"):
        done = interlock("gui", command, "bad.json", "--workspace", ".", home=tmp_path)
        assert done.returncode == 2, done.stderr
        assert words in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_model_that_does_not_exist_is_an_error_before_anything_opens(session: Path, tmp_path: Path) -> None:
    (tmp_path / "interlock.yaml").write_text("gui: {analyzer: claude, model: claude-opus-5-4}\n")
    checked = interlock("config", "check", "interlock.yaml", home=tmp_path)
    assert checked.returncode == 2
    assert "gui.model: there is no model 'claude-opus-5-4' that can analyse screenshots" in checked.stderr
    command = ("gui", "replay", str(session), "--workspace", str(tmp_path / "work"), "--start-editor")
    done = interlock(*command, home=tmp_path)
    assert done.returncode == 2
    assert "gui.model" in done.stderr
    assert "Opening" not in done.stderr


PARTS = ("PIL", "Xlib", "cydifflib", "jeepney", "mss", "numpy", "websocket")


def started_by(place: Path) -> list[str]:
    """The processes whose environment names a test's folder, by command line."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.fsencode(place) in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


@pytest.mark.parametrize(
    "command",
    [
        ("replay", "session.json", "--workspace", "work"),
        ("watch", "--looks", "1", "--display", ":7"),
        ("analyze", "session.json"),
        ("doctor",),
    ],
    ids=lambda command: command[0],
)
def test_without_the_extra_a_gui_command_is_one_line_that_names_it(
    session: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    program = (
        f"import sys; sys.modules.update(dict.fromkeys({PARTS}));"
        f"sys.argv = ['interlock', 'gui', *{command!r}]; from interlock.__main__ import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=150, check=False,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "DISPLAY": ""},
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert "-m pip install " in done.stderr
    assert "[gui]'" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    until("nothing of it runs any more", lambda: not started_by(tmp_path))


def test_off_a_terminal_a_replay_prints_its_progress_and_events_as_they_happen(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[str] = []

    def replay(*_: object, say: Any, on_progress: Any, on_event: Any) -> None:
        for news in (
            lambda: say("Opening the editor ..."),
            *(lambda done=done: on_progress(done, 40, "a.py" if done < 20 else "b.py") for done in range(1, 41)),
            lambda: on_event(InterventionEvent(0.0, ReplayStatus.NORMAL, description="fine")),
            lambda: on_event(
                InterventionEvent(0.0, ReplayStatus.DIALOG_BLOCKING, 0.9, ["press Escape"], outcome="recovered")
            ),
        ):
            news()
            seen.append(capsys.readouterr().err)
        raise BadInput("enough")

    monkeypatch.setattr("interlock.gui.supervised_replay.replay_session", replay)
    with pytest.raises(BadInput, match="enough"):
        gui_replay.replay(session, tmp_path / "work", None, False, False, True, False, None, None, None, False)
    assert seen[0] == "Opening the editor ...\n"
    lines = [line for line in seen[1:41] if line]
    assert lines[0] == "1 of 40 chunks, a.py\n"
    assert "20 of 40 chunks, b.py\n" in lines
    assert lines[-1] == "40 of 40 chunks, b.py\n"
    assert len(lines) == 11
    assert seen[41] == ""
    assert "recovered" in seen[42]
    assert "press Escape" in seen[42]


def test_a_watch_without_window_manager_and_accessibility_says_what_it_cannot_see(tmp_path: Path) -> None:
    bare = VirtualDisplay(Programs(tmp_path / "bare"), 800, 600, manager=False, bus=False)
    try:
        done = interlock(
            "gui", "watch", "--display", bare.name, "--looks", "1", "--json", home=tmp_path, DBUS_SESSION_BUS_ADDRESS=""
        )
    finally:
        bare.close()
    assert done.returncode == 0, done.stderr
    [event] = lines_of(done.stdout)
    assert event["status"] == "unknown"
    assert "no window manager" in event["description"]
    assert "no accessibility bus" in event["description"]
    assert "the editor" not in event["description"]


def test_a_replay_without_an_editor_says_what_to_do(session: Path, tmp_path: Path, desktop: VirtualDisplay) -> None:
    command = ("gui", "replay", str(session), "--workspace", str(tmp_path / "work"))
    nowhere = interlock(*command, home=tmp_path, DISPLAY="", WAYLAND_DISPLAY="")
    assert nowhere.returncode == 4
    assert "there is no display" in nowhere.stderr
    empty = interlock(*command, home=tmp_path, DISPLAY=desktop.name)
    assert empty.returncode == 4
    assert "--start-editor" in empty.stderr
    both = interlock(*command, "--start-editor", "--editor", "http://127.0.0.1:1/", home=tmp_path)
    assert both.returncode == 2
    runs = json.loads(interlock("ps", "--all", "--json", home=tmp_path).stdout)["runs"]
    assert [run["status"] for run in runs] == ["aborted", "aborted"]


def test_watch_looks_and_every_look_is_an_event_of_a_run(
    tmp_path: Path, desktop: VirtualDisplay, launch: Launch
) -> None:
    terminal(launch, "something", "sleep", "60")
    done = interlock(
        "gui", "watch", "--display", desktop.name, "--interval", "0.05", "--looks", "3", "--observe", "--json",
        home=tmp_path, DBUS_SESSION_BUS_ADDRESS=desktop.environment["DBUS_SESSION_BUS_ADDRESS"],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    events = lines_of(done.stdout)
    assert len(events) == 3
    [run] = json.loads(interlock("ps", "--all", "--json", home=tmp_path).stdout)["runs"]
    assert (run["name"], run["status"], run["adapter"]) == ("watch", "done", "gui")
    shown = json.loads(interlock("show", "watch", "--kind", "gui_event", "--json", home=tmp_path).stdout)
    assert len(shown["records"]) == 3


def test_doctor_proves_a_display(tmp_path: Path, desktop: VirtualDisplay) -> None:
    done = interlock(
        "gui", "doctor", "--display", desktop.name, "--json",
        home=tmp_path, DBUS_SESSION_BUS_ADDRESS=desktop.environment["DBUS_SESSION_BUS_ADDRESS"],
    )  # fmt: skip
    checks = {check["what"]: check["state"] for check in json.loads(done.stdout)["checks"]}
    assert done.returncode == 0, checks
    for what in ("display", "window manager", "pictures by mss", "typing by xtest", "accessibility bus"):
        assert checks[what] == "ok", what


def test_doctor_writes_the_editors_settings(tmp_path: Path) -> None:
    done = interlock("gui", "doctor", "--profile", "profile", home=tmp_path)
    assert done.returncode == 0, done.stderr
    settings = json.loads((tmp_path / "profile" / "User" / "settings.json").read_text())
    assert "dirty=" in settings["window.title"]


def test_warnings_go_to_stderr_and_the_output_stays_json(tmp_path: Path, desktop: VirtualDisplay) -> None:
    (tmp_path / "gui.yaml").write_text(f"gui:\n  screenshot_dir: {tmp_path / 'gui.yaml' / 'no-folder'}\n")
    done = interlock(
        "gui", "watch", "--display", desktop.name, "--looks", "1", "--json", "--config", "gui.yaml",
        home=tmp_path, DBUS_SESSION_BUS_ADDRESS="",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(lines_of(done.stdout)) == 1
    assert "a screenshot could not be saved" in done.stderr
