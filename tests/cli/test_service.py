"""`interlock serve --install-service`: a unit that systemd accepts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from interlock.cli.serve import unit_text
from interlock.journal import Store

from ..waiting import eventually
from .calling import interlock

SYSTEMD = Path("/lib/systemd/systemd")
UNIFIED = next((path for path in map(Path, ("/sys/fs/cgroup/unified", "/sys/fs/cgroup"))
                if (path / "cgroup.procs").exists()), None)  # fmt: skip

BOOT = """
set -e
echo $$ > "$1/cgroup.procs"
exec unshare --fork --time --boottime="-$3" --pid --mount --cgroup --ipc --uts --mount-proc --kill-child sh -ec '
mount --make-rprivate /
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system "$XDG_RUNTIME_DIR"
chmod 700 "$XDG_RUNTIME_DIR"
umount -l /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount --bind "$1" /proc/sys/kernel/random/boot_id
/lib/systemd/systemd --user
exit' sh "$2"
"""
"""A machine that has just booted, as far as a user's processes can see: nothing runs, and systemd starts their units."""

CLIENT = """
import os, sys, time
open("starts", "a").write(os.environ.get("INTERLOCK_PARKS", "0") + f" {time.time()}\\n")
if not os.environ.get("INTERLOCK_PARKS"):
    print("Usage limit reached, try again in 15s")
    sys.exit(1)
"""


def verify(unit: Path) -> str:
    tool = shutil.which("systemd-analyze")
    if tool is None:
        pytest.skip("there is no systemd-analyze here")
    done = subprocess.run([tool, "verify", "--user", str(unit)], capture_output=True, text=True, check=False)
    return "\n".join(line for line in (done.stdout + done.stderr).splitlines() if unit.name in line)


def test_the_unit_is_written_and_systemd_finds_nothing_wrong_with_it(tmp_path: Path) -> None:
    done = interlock("serve", "--install-service", home=tmp_path)
    assert done.returncode == 0, done.stderr
    unit = tmp_path / "config" / "systemd" / "user" / "interlock.service"
    assert f"wrote {unit}" in done.stdout
    text = unit.read_text()
    assert "interlock serve" in text.replace("-m interlock", "interlock")
    assert "WantedBy=default.target" in text
    assert verify(unit) == ""


def test_a_path_with_spaces_and_signs_is_quoted_for_systemd(tmp_path: Path) -> None:
    unit = tmp_path / "interlock.service"
    unit.write_text(unit_text(tmp_path / "my 100% $config.yaml"))
    assert 'my 100%% $$config.yaml"' in unit.read_text()
    assert verify(unit) == ""


class Machine:
    """A computer with a systemd of its own, in namespaces, that can lose its power."""

    def __init__(self, root: Path) -> None:
        self.root, self.workspace = root, root / "work"
        self.workspace.mkdir()
        self.environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "HOME": str(root),
            "XDG_RUNTIME_DIR": "/run/user/0",
            "XDG_CONFIG_HOME": str(root / "config"),
            "XDG_STATE_HOME": str(root / "state"),
        }

    @contextmanager
    def booted(self) -> Iterator[Callable[..., str]]:
        """Gives what runs a command in it; ends everything at once, as a power cut does."""
        assert UNIFIED is not None
        cgroup = UNIFIED / f"interlock-test-{uuid.uuid4().hex[:8]}"
        cgroup.mkdir()
        boot = self.root / "boot_id"
        boot.write_text(f"{uuid.uuid4()}\n")
        with (self.root / "systemd.log").open("ab") as log:
            process = subprocess.Popen(
                ["sh", "-c", BOOT, "sh", str(cgroup), str(boot), f"{time.clock_gettime(time.CLOCK_BOOTTIME):.0f}"],
                env=self.environment,
                stdout=log,
                stderr=log,
            )
        try:
            first = eventually(lambda: children(process.pid))[0]
            into = ["nsenter", "-t", str(first), "-m", "-p", "-C", "-i", "-u", "-T", f"--wd={self.workspace}"]

            def run(*words: str) -> str:
                done = subprocess.run(
                    [*into, *words], env=self.environment, capture_output=True, text=True, check=False, timeout=60
                )
                return done.stdout + done.stderr

            eventually(lambda: "running" in run("systemctl", "--user", "is-system-running"))
            yield run
        finally:
            for pid in children(process.pid):
                os.kill(pid, 9)
            process.kill()
            process.wait()
            folders = [cgroup, *(path for path in cgroup.rglob("*") if path.is_dir())]
            for folder in sorted(folders, key=lambda path: -len(path.parts)):
                eventually(lambda folder=folder: _is_removed(folder))  # type: ignore[misc]


def _is_removed(cgroup: Path) -> bool:
    try:
        cgroup.rmdir()
    except OSError:
        return False
    return True


def children(pid: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


@pytest.mark.torture
@pytest.mark.skipif(os.geteuid() != 0 or not SYSTEMD.exists() or UNIFIED is None, reason="needs root and systemd")
def test_after_a_power_cut_systemd_alone_wakes_a_parked_run_once(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    (machine.workspace / "client.py").write_text(CLIENT)
    config = tmp_path / "config" / "interlock" / "interlock.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("unattended: {resume: {rerun: true, jitter_s: 0}}\n")
    interlock_ = (sys.executable, "-m", "interlock")
    store = Store(tmp_path / "state" / "interlock" / "runs")
    with machine.booted() as run:
        assert "enabled and started interlock.service" in run(*interlock_, "serve", "--install-service")
        assert run("systemctl", "--user", "is-enabled", "interlock.service").strip() == "enabled"
        run("sh", "-c", f"{sys.executable} -m interlock run -- {sys.executable} client.py >run.log 2>&1 &")
        eventually(lambda: any(path for path in store.root.glob("*/parked.json")))
    with machine.booted() as run:
        eventually(lambda: store.runs()[0].status == "done")
        (first, at), (second, again) = (
            line.split() for line in (machine.workspace / "starts").read_text().splitlines()
        )
        assert (first, second) == ("0", "1")
        assert float(again) - float(at) >= 15
        assert run("systemctl", "--user", "is-active", "interlock.service").strip() == "active"
