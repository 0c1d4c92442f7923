"""The commands on checkpoints, as a person or a script types them."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from interlock.checkpoint import Checkpoints
from interlock.cli.checkpoint_text import print_checkpoints
from interlock.cli.console import Console
from interlock.cli.main import run
from interlock.config.schema import Checkpoints as Settings
from interlock.core import CheckpointInfo, SystemClock


class Shell:
    """Types commands in a workspace, with a state directory of its own."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, captured: pytest.CaptureFixture[str]) -> None:
        self.work = folder / "work"
        self.work.mkdir()
        self._patch, self._captured = patch, captured
        for name in ("state", "config"):
            self.set(f"XDG_{name.upper()}_HOME", str(folder / name))

    def set(self, name: str, value: str) -> None:
        self._patch.setenv(name, value)

    def call(self, *words: str, cwd: Path | None = None) -> tuple[int, str, str]:
        """The status, and what was said on stdout and stderr."""
        self._patch.chdir(cwd or self.work)
        self._patch.setattr(sys, "argv", ["interlock", *words])
        try:
            run()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        else:
            status = 0
        said = self._captured.readouterr()
        return status, said.out, said.err

    def run(self, *words: str, status: int = 0, cwd: Path | None = None) -> str:
        """What a command says, on stderr if it is to fail."""
        got, out, err = self.call(*words, cwd=cwd)
        assert got == status, err
        return err if status else out

    def json(self, *words: str) -> dict[str, Any]:
        return json.loads(self.run(*words, "--json"))


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


def test_a_list_of_several_runs_fits_into_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    infos = [
        CheckpointInfo(id="c1-04fa41", time=0, step=0, cause="end of turn", bytes=9, run_id="1nfs1ayfs406"),
        CheckpointInfo(id="c12-d19e62", time=0, step=0, cause="safety", bytes=9, label="before rollback"),
    ]
    print_checkpoints(Console(width=80), infos)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[0].split() == ["CHECKPOINT", "WHEN", "SIZE", "CAUSE", "RUN", "LABEL"]
    assert lines[1].rstrip().endswith("before rollback")


def test_a_checkpoint_is_made_listed_and_shown(shell: Shell) -> None:
    (shell.work / "file").write_text("12345")
    assert "No checkpoints" in shell.run("checkpoints")
    made = shell.json("checkpoint", "create", "--label", "first")
    assert {"label": "first", "files": 1, "bytes": 5, "not_covered": []}.items() <= made.items()
    assert {"id", "time"} <= made.keys()
    assert shell.json("checkpoints") == {"workspace": str(shell.work), "checkpoints": [made]}
    assert shell.json("checkpoint", "show", "c1") == made
    assert "first" in shell.run("checkpoints")
    assert "nothing excluded" in shell.run("checkpoint", "show", "c1")


def test_a_rollback_is_previewed_confirmed_done_and_undone(shell: Shell) -> None:
    (shell.work / "file").write_text("one")
    saved = shell.json("checkpoint", "create")
    (shell.work / "file").write_text("two")
    assert "~ file" in shell.run("rollback", "--dry-run")
    assert "no terminal to confirm" in shell.run("rollback", status=2)
    assert "no terminal to confirm" in shell.run("rollback", "--json", status=2)
    assert (shell.work / "file").read_text() == "two"
    done = shell.json("rollback", "--yes")
    assert (done["checkpoint_id"], done["verified"], done["left_alone"]) == (saved["id"], True, [])
    assert (shell.work / "file").read_text() == "one"
    assert "preview with --dry-run" in shell.run("undo", status=2)
    assert "~ file" in shell.run("undo", "--dry-run")
    assert [change["path"] for change in shell.json("undo", "--dry-run")["changes"]] == ["file"]
    assert (shell.work / "file").read_text() == "one"
    assert "verified" in shell.run("undo", "--yes")
    assert (shell.work / "file").read_text() == "two"


def test_an_undo_that_leaves_something_alone_has_status_1_and_names_force_as_the_way_on(shell: Shell) -> None:
    for name in ("file", "other"):
        (shell.work / name).write_text("one")
    shell.run("checkpoint", "create")
    for name in ("file", "other"):
        (shell.work / name).write_text("two")
    shell.run("rollback", "--yes")
    (shell.work / "file").write_text("three")
    force = "Add --force to include what is changed since the rollback too."
    assert force in shell.call("undo", "--dry-run")[1]
    status, out, _ = shell.call("undo", "--yes")
    assert status == 1
    assert out.count("file: changed since the rollback") == 1 and force not in out
    assert [(shell.work / name).read_text() for name in ("file", "other")] == ["three", "two"]
    advice = out.split("Restore what was left alone with: interlock ")[1].splitlines()[0]
    shell.run(*advice.replace("PATH", "file").split(), "--yes")
    assert [(shell.work / name).read_text() for name in ("file", "other")] == ["two", "two"]
    shell.run("undo", "--yes")
    shell.run("undo", "--yes")
    assert "left alone" not in shell.run("undo", "--dry-run", "--force").lower()


@pytest.mark.parametrize("how", [("--yes",), ("--yes", "--json")])
def test_an_undo_that_can_change_nothing_does_not_take_the_next_undos_place(shell: Shell, how: tuple[str, ...]) -> None:
    (shell.work / "file").write_text("one")
    shell.run("checkpoint", "create")
    (shell.work / "file").write_text("two")
    shell.run("rollback", "--yes")
    assert (shell.work / "file").read_text() == "one"
    (shell.work / "file").write_text("three")
    status, out, _ = shell.call("undo", *how)
    assert status == 1 and "Undid" not in out
    shell.run("undo", "--yes", "--force")
    assert (shell.work / "file").read_text() == "two"


def test_a_person_at_a_terminal_is_asked(shell: Shell) -> None:
    (shell.work / "file").write_text("one")
    shell.run("checkpoint", "create")
    for answer, expected in (("n", "two"), ("y", "one")):
        (shell.work / "file").write_text("two")
        ours, theirs = pty.openpty()
        child = subprocess.Popen(
            [sys.executable, "-m", "interlock", "rollback"],
            cwd=shell.work, stdin=theirs, stdout=theirs, stderr=theirs,
        )  # fmt: skip
        os.close(theirs)
        os.write(ours, f"{answer}\n".encode())
        said = b""
        try:
            while more := os.read(ours, 4096):
                said += more
        except OSError:
            pass
        os.close(ours)
        assert child.wait() == 0
        assert b"Roll back? [y/N]" in said
        assert (shell.work / "file").read_text() == expected


def interrupt(child: subprocess.Popen[bytes]) -> int:
    """Ctrl-C, as a person would press it: again where it came between the question and the wait for its answer."""
    while True:
        child.send_signal(signal.SIGINT)
        try:
            return child.wait(30)
        except subprocess.TimeoutExpired:
            continue


def test_ctrl_c_at_a_question_leaves_without_a_word(shell: Shell) -> None:
    (shell.work / "file").write_text("one")
    shell.run("checkpoint", "create")
    (shell.work / "file").write_text("two")
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "interlock", "rollback"], cwd=shell.work, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    said = b""
    while b"[y/N]" not in said:
        said += os.read(ours, 4096)
    assert interrupt(child) == 130
    rest = b""
    with contextlib.suppress(OSError):
        # Whatever is left of the question; a terminal whose program has gone says EIO.
        while data := os.read(ours, 4096):
            rest += data
    # Pressed again, the terminal shows the question again.
    assert rest.replace(b"Roll back? [y/N]", b"").strip(b": \r\n") == b""
    os.close(ours)
    assert (shell.work / "file").read_text() == "two"


def test_commands_work_from_a_folder_below_and_paths_are_taken_from_there(shell: Shell) -> None:
    below = shell.work / "src" / "deep"
    below.mkdir(parents=True)
    for path in (below / "file", shell.work / "file"):
        path.write_text("one")
    shell.run("checkpoint", "create")
    for path in (below / "file", shell.work / "file"):
        path.write_text("two")
    shell.run("rollback", "--yes", "--path", "file", cwd=below)
    assert ((below / "file").read_text(), (shell.work / "file").read_text()) == ("one", "two")
    assert "is outside the workspace" in shell.run("rollback", "--yes", "--path", "../../../x", cwd=below, status=2)
    assert "a path is empty" in shell.run("rollback", "--yes", "--path", "", cwd=below, status=2)


def test_differences_are_listed_and_shown(shell: Shell) -> None:
    (shell.work / "file").write_text("one\n")
    shell.run("checkpoint", "create")
    (shell.work / "file").write_text("two\n")
    assert shell.run("checkpoint", "diff", "c1") == "  ~ file\n"
    assert "-one\n+two\n" in shell.run("checkpoint", "diff", "c1", "--patch")
    [change] = shell.json("checkpoint", "diff", "c1")["changes"]
    assert (change["path"], change["kind"]) == ("file", "content")
    shell.run("checkpoint", "create")
    assert "No difference" in shell.run("checkpoint", "diff", "c2")


def test_damage_gives_status_1(shell: Shell, tmp_path: Path) -> None:
    (shell.work / "file").write_text("precious")
    shell.run("checkpoint", "create")
    assert "0 problems" in shell.run("checkpoint", "verify")
    next((tmp_path / "state").rglob("*.pack")).write_bytes(b"")
    status, said, _ = shell.call("checkpoint", "verify", "--json")
    assert status == 1
    assert json.loads(said)["problems"][0]["path"] == "file"


def test_old_checkpoints_are_collected(shell: Shell) -> None:
    for _ in range(3):
        shell.run("checkpoint", "create")
    shell.set("INTERLOCK_CHECKPOINTS__KEEP_COUNT", "1")
    assert shell.json("checkpoint", "gc")["removed"]
    assert len(shell.json("checkpoints")["checkpoints"]) == 1


def test_a_checkpoint_is_named_by_its_label_where_only_one_has_it(shell: Shell) -> None:
    first = shell.json("checkpoint", "create", "--label", "before the upgrade")
    (shell.work / "a").write_text("changed\n")
    assert shell.json("rollback", "--to", "before the upgrade", "--yes")["checkpoint_id"] == first["id"]
    second = shell.json("checkpoint", "create", "--label", "before the upgrade")
    err = shell.run("rollback", "--to", "before the upgrade", "--yes", status=3)
    assert "2 checkpoints have the label 'before the upgrade'" in err
    assert f"{second['id']}, {first['id']}" in err
    assert shell.json("checkpoint", "show", first["id"])["id"] == first["id"]


def test_what_does_not_exist_gives_status_3(shell: Shell) -> None:
    shell.run("checkpoint", "create")
    assert "there is no checkpoint 'c9'" in shell.run("rollback", "--to", "c9", "--yes", status=3)
    assert "there is no run 'nobody'" in shell.run("rollback", "nobody", "--yes", status=3)
    assert "there is no rollback to undo" in shell.run("undo", "--yes", status=3)
    assert "nothing to roll back to" in shell.run("rollback", "--yes", status=3)


def test_a_live_run_is_not_rolled_back_behind_its_back(shell: Shell, tmp_path: Path) -> None:
    (shell.work / "file").write_text("one")
    shell.run("checkpoint", "create")
    (shell.work / "file").write_text("two")
    store = tmp_path / "state" / "interlock" / "checkpoints"
    with Checkpoints.open(shell.work, store, config=Settings(), clock=SystemClock(), run_id="run-7"):
        assert "run run-7" in shell.run("rollback", "--yes", status=4)
    assert (shell.work / "file").read_text() == "two"


def test_the_home_folder_is_refused_with_status_2(shell: Shell) -> None:
    shell.set("HOME", str(shell.work))
    assert "the home folder cannot be a workspace" in shell.run("checkpoint", "create", status=2)


@pytest.mark.parametrize("command", ["checkpoints", "checkpoint create", "checkpoint diff", "rollback", "undo"])
def test_help_has_an_example(shell: Shell, command: str) -> None:
    assert f"Example: interlock {command}" in shell.run(*command.split(), "--help")


def test_a_rollback_whose_output_is_not_read_is_done_and_reports_its_status(shell: Shell) -> None:
    (shell.work / "file").write_text("before")
    shell.run("checkpoint", "create")
    (shell.work / "file").write_text("after")
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "interlock", "rollback", "--yes"], cwd=shell.work, stdout=write, stderr=subprocess.PIPE
    )
    os.close(write)
    assert (done.returncode, done.stderr, (shell.work / "file").read_text()) == (0, b"", "before")
