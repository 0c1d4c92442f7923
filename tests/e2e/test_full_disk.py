"""A person is obeyed on a full disk: pause holds, resume goes on, cancel ends, and what was not recorded is counted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from interlock.journal import JournalReader, RunFolder, Store
from interlock.journal.verify import verify_journal

from ..waiting import PATIENCE_S, eventually

AGENT = """
import json, os, socket, sys, time
number = 0
while True:
    try:
        line = socket.socket(socket.AF_UNIX)
        line.connect(os.environ["INTERLOCK_SOCKET"])
        both = line.makefile("rwb")
        while True:
            number += 1
            call = {"name": "bash", "call_id": f"c{number}"}
            for told in (
                {"before": {"tool": {**call, "arguments": {"command": f"ls src/{number}"}}}},
                {"after": {"tool": call, "role": "tool", "content": os.urandom(400).hex()}},
            ):
                both.write(json.dumps(told).encode() + b"\\n")
                both.flush()
                if not both.readline():
                    raise OSError("no owner")
            with open(sys.argv[1], "a") as ticks:
                ticks.write("x")
            time.sleep(0.05)
    except OSError:
        time.sleep(0.2)
"""


@pytest.fixture
def disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A small disk of its own: `ext4` of 24 MB on a loop device, or a tmpfs of 8 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m,mode=0700", "tmpfs", str(place)]
    if request.param == "ext4":
        image = tmp_path / "image"
        with image.open("wb") as file:
            file.truncate(24 * 1024 * 1024)
        made = subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], capture_output=True, check=False)
        if made.returncode:
            pytest.skip("no file system can be made here")
        mount = ["mount", "-o", "loop", str(image), str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(disk: Path) -> list[Path]:
    """Take every free byte."""
    ballast = [disk / "ballast", disk / "crumbs"]
    for path, size in zip(ballast, (65_536, 512), strict=True):
        with path.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
            while True:
                file.write(b"x" * size)
    return ballast


class FullDisk:
    """Runs whose state directory is on a small disk, one after the other, and how long each order to them took."""

    def __init__(self, disk: Path, tmp_path: Path) -> None:
        self.disk, self.work = disk, tmp_path / "work"
        self.work.mkdir()
        self.ticks, self.agent = tmp_path / "ticks", tmp_path / "agent.py"
        self.agent.write_text(AGENT)
        self.env = {**os.environ, "XDG_STATE_HOME": str(disk), "XDG_CONFIG_HOME": str(tmp_path / "config")}
        self.took: list[tuple[str, float]] = []

    @contextmanager
    def running(self) -> Iterator[RunFolder]:
        """A run that has taken some steps."""
        self.ticks.write_bytes(b"")
        agent = [sys.executable, str(self.agent), str(self.ticks)]
        command = [sys.executable, "-m", "interlock", "run", "--name", "full", "--contain", "off", "--", *agent]
        silent = subprocess.DEVNULL
        front = subprocess.Popen(command, env=self.env, cwd=self.work, stdout=silent, stderr=silent)
        try:
            self.wait_for_steps()
            yield max(Store(self.disk / "interlock" / "runs").folders(), key=lambda folder: folder.run_id)
            front.wait(PATIENCE_S)
        finally:
            if front.poll() is None:
                front.send_signal(signal.SIGKILL)
                front.wait()

    def order(self, command: str) -> None:
        begin = time.monotonic()
        interlock = [sys.executable, "-m", "interlock", command, "full"]
        done = subprocess.run(interlock, env=self.env, capture_output=True, text=True, check=False, timeout=120)
        self.took.append((command, time.monotonic() - begin))
        assert done.returncode == 0, f"{command}: {done.stderr}"

    def steps(self) -> int:
        return self.ticks.stat().st_size

    def wait_for_steps(self, count: int = 20) -> None:
        before = self.steps()
        eventually(lambda: self.steps() > before + count)

    def tell(self) -> None:
        for command in ("pause", "resume", "cancel"):
            if took := [seconds for name, seconds in self.took if name == command]:
                quick = sum(seconds < 2 for seconds in took)
                print(f"{command}: {quick} of {len(took)} within 2 s, slowest {max(took):.2f} s")


def obeyed_on_a_full_disk(disk: Path, tmp_path: Path, rounds: int) -> None:
    here = FullDisk(disk, tmp_path)
    with here.running() as folder:
        ballast = fill(disk)
        here.wait_for_steps()
        owner = folder.owner()
        for _ in range(rounds):
            here.order("pause")
            held = here.steps()
            time.sleep(0.3)
            assert here.steps() == held, "a step started while the run was paused"
            here.order("resume")
            here.wait_for_steps(1)
        assert owner is not None and folder.owner() == owner, "the owner lives"
        for path in ballast:
            path.unlink()
        steps = _count(folder, "step")
        eventually(lambda: _count(folder, "step") > steps + 10)
        fill(disk)
        here.wait_for_steps()
        here.order("cancel")
    here.tell()
    assert _count(folder, "lost") > 0, "what could not be recorded is counted"
    assert verify_journal(folder).intact


def _count(folder: RunFolder, kind: str) -> int:
    with JournalReader.open(folder) as reader:
        return reader.count(kind)


@pytest.mark.parametrize("disk", ["tmpfs"], indirect=True)
def test_a_person_is_obeyed_on_a_full_disk(disk: Path, tmp_path: Path) -> None:
    obeyed_on_a_full_disk(disk, tmp_path, 1)


@pytest.mark.torture
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("disk", ["ext4", "tmpfs"], indirect=True)
def test_a_person_is_obeyed_on_a_full_disk_fifty_times(disk: Path, tmp_path: Path) -> None:
    obeyed_on_a_full_disk(disk, tmp_path, 25)


@pytest.mark.torture
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("disk", ["ext4", "tmpfs"], indirect=True)
def test_runs_on_a_full_disk_are_cancelled(disk: Path, tmp_path: Path) -> None:
    here = FullDisk(disk, tmp_path)
    for _ in range(6):
        with here.running() as folder:
            ballast = fill(disk)
            here.wait_for_steps()
            here.order("cancel")
        assert verify_journal(folder).intact
        with JournalReader.open(folder) as reader:
            assert reader.summary().outcome.startswith("cancelled")
        for path in ballast:
            path.unlink()
    here.tell()
