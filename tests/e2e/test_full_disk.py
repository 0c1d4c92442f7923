"""A person is obeyed on a full disk: pause holds, resume goes on, cancel ends, and what was not recorded is counted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from interlock.journal import JournalReader, Store
from interlock.journal.verify import verify_journal

SLOWEST_S = 30.0
"""For a machine that does much else; by itself, each order takes less than 2 s."""

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


def wait_for(what: Callable[[], bool], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)


def obeyed_on_a_full_disk(disk: Path, tmp_path: Path, rounds: int) -> None:
    ticks, work = tmp_path / "ticks", tmp_path / "work"
    work.mkdir()
    ticks.touch()
    (tmp_path / "agent.py").write_text(AGENT)
    env = {**os.environ, "XDG_STATE_HOME": str(disk), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    interlock = [sys.executable, "-m", "interlock"]

    took: list[float] = []

    def order(command: str) -> None:
        begin = time.monotonic()
        done = subprocess.run(
            [*interlock, command, "full"], env=env, capture_output=True, text=True, check=False, timeout=120
        )
        took.append(time.monotonic() - begin)
        assert done.returncode == 0, f"{command}: {done.stderr}"

    def size() -> int:
        return ticks.stat().st_size

    command = [
        *interlock,
        "run",
        "--name",
        "full",
        "--contain",
        "off",
        "--",
        sys.executable,
        str(tmp_path / "agent.py"),
        str(ticks),
    ]
    front = subprocess.Popen(command, env=env, cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: size() > 20)
        folder = Store(disk / "interlock" / "runs").folders()[0]
        for _ in range(rounds // 5):
            order("pause")
            order("resume")
        ballast = fill(disk)
        before = size()
        wait_for(lambda: size() > before + 20)
        owner = folder.owner()
        for _ in range(rounds):
            order("pause")
            held = size()
            time.sleep(0.3)
            assert size() == held, "a step started while the run was paused"
            order("resume")
            wait_for(lambda held=held: size() > held)  # type: ignore[misc]
        assert owner is not None and folder.owner() == owner, "the owner lives"
        for path in ballast:
            path.unlink()
        with JournalReader.open(folder) as reader:
            steps = reader.count("step")
        wait_for(lambda: _count(folder, "step") > steps + 10)
        order("cancel")
        front.wait(60)
    finally:
        if front.poll() is None:
            front.send_signal(signal.SIGKILL)
            front.wait()
    with_room, full = took[: rounds // 5 * 2], took[rounds // 5 * 2 : -1]
    for name, each in (("with room", with_room), ("full", full)):
        print(f"{name}: {sum(one < 2 for one in each)} of {len(each)} within 2 s, slowest {max(each, default=0):.2f} s")
    assert rounds == 1 or max(full) < SLOWEST_S
    assert _count(folder, "lost") > 0, "what could not be recorded is counted"
    assert verify_journal(folder).intact


def _count(folder: object, kind: str) -> int:
    with JournalReader.open(folder) as reader:  # type: ignore[arg-type]
        return reader.count(kind)


@pytest.mark.parametrize("disk", ["tmpfs"], indirect=True)
def test_a_person_is_obeyed_on_a_full_disk(disk: Path, tmp_path: Path) -> None:
    obeyed_on_a_full_disk(disk, tmp_path, 1)


@pytest.mark.torture
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("disk", ["ext4", "tmpfs"], indirect=True)
def test_a_person_is_obeyed_on_a_full_disk_fifty_times(disk: Path, tmp_path: Path) -> None:
    obeyed_on_a_full_disk(disk, tmp_path, 25)
