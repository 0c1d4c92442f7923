"""The command from outside: killed in mid-replay it goes on, and it obeys pause, resume and cancel."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from interlock.gui.display import wait_until

from .scripted import assert_exact, make_workspace, write_session

pytestmark = [pytest.mark.editor, pytest.mark.timeout(900)]


class Terminal:
    """The command line, with a state directory of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workspace = make_workspace(folder / "work")
        self.session = write_session(folder / "session.json", "outside")
        self.state = folder / "state" / "interlock"
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "interlock", "gui", "replay", str(self.session), "--json"]
        command += ["--workspace", str(self.workspace), "--start-editor", *arguments]
        with (self.folder / "out.json").open("wb") as out, (self.folder / "err.txt").open("ab") as errors:
            process = subprocess.Popen(command, stdout=out, stderr=errors, stdin=subprocess.DEVNULL)
        self.started.append(process)
        return process

    def call(self, *arguments: str) -> dict[str, object]:
        done = subprocess.run(
            [sys.executable, "-m", "interlock", *arguments, "--json"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

    def chunks(self) -> int:
        files = list(self.state.glob("gui/*/progress.jsonl"))
        return len(files[0].read_bytes().splitlines()) if files else 0

    def wait_for_chunks(self, count: int, timeout_s: float = 400) -> None:
        assert wait_until(lambda: self.chunks() >= count, timeout_s, every_s=0.05), self.errors()

    def output(self) -> dict[str, object]:
        return dict(json.loads((self.folder / "out.json").read_text()))

    def errors(self) -> str:
        return (self.folder / "err.txt").read_text()[-2000:]

    def programs(self) -> list[int]:
        """What a replay has started and written down."""
        files = list(self.state.glob("gui/*/desk/programs/programs.json"))
        return [entry["pid"] for file in files for entry in json.loads(file.read_text())]


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path)
    yield made
    from interlock.gui.display import end_tree

    for process in made.started:
        process.kill()
        process.wait()
    for pid in made.programs():
        end_tree(pid)


def test_a_replay_that_was_killed_goes_on_and_comes_out_exactly(terminal: Terminal) -> None:
    first = terminal.start()
    terminal.wait_for_chunks(14)
    first.send_signal(signal.SIGKILL)
    first.wait()
    left = terminal.programs()
    assert left
    [run] = terminal.call("ps")["runs"]  # type: ignore[misc]
    assert (run["status"], run["adapter"]) == ("lost", "gui")

    again = terminal.start("--resume")
    assert again.wait(600) == 0, terminal.errors()
    output = terminal.output()
    assert output["success"], output
    assert output["run_id"] == run["run_id"]
    assert_exact(terminal.workspace)
    assert not [pid for pid in left if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"]
    verified = terminal.call("gui", "verify", str(terminal.session), "--workspace", str(terminal.workspace), "--strict")
    assert verified["success"]


def test_a_replay_is_paused_resumed_and_cancelled_from_another_terminal(terminal: Terminal) -> None:
    process = terminal.start()
    terminal.wait_for_chunks(3)
    [run] = terminal.call("ps")["runs"]  # type: ignore[misc]
    terminal.call("pause", run["run_id"])
    # The chunk that is under way is typed to its end first.
    assert wait_until(lambda: terminal.call("ps")["runs"][0]["status"] == "paused", 60)  # type: ignore[index]
    standing = terminal.chunks()
    time.sleep(2)
    assert terminal.chunks() == standing
    terminal.call("resume", run["run_id"])
    terminal.wait_for_chunks(standing + 1)
    terminal.call("cancel", run["run_id"])
    assert process.wait(60) == 130, terminal.errors()
    [ended] = terminal.call("ps", "--all")["runs"]  # type: ignore[misc]
    assert ended["status"] == "aborted"
    assert ended["steps"] >= standing
    folder = terminal.state / "runs" / str(run["run_id"]) / "pictures"
    events = [
        record["body"]
        for record in terminal.call("show", run["run_id"], "--kind", "gui_event")["records"]  # type: ignore[attr-defined]
    ]
    pictures = [event["screenshot_path"] for event in events if event.get("screenshot_path")]
    assert pictures
    assert all((folder / name).is_file() for name in pictures)
    assert not [pid for pid in terminal.programs() if psutil.pid_exists(pid)]
