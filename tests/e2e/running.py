"""Real runs for tests: a store, a workspace and a configuration of their own, commands, and how to look at them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import msgspec
import yaml

from interlock.control import Command, RequestOutcome, new_request
from interlock.journal import JournalReader, RunFolder, Store
from interlock.journal.folder import read_tree
from interlock.link import ask_owner
from interlock.process import TreeHandle
from interlock.process.proc import environment_of, read_processes
from interlock.process.process_family import MARKER, has_marker

from ..waiting import PATIENCE_S, until


class Place:
    """Where a test's runs live."""

    def __init__(self, root: Path, config: dict[str, Any] | None = None, store: Path | None = None) -> None:
        self.root = root
        self.workspace = root / "workspace"
        self.workspace.mkdir(exist_ok=True)
        (root / "run").mkdir(mode=0o700, exist_ok=True)
        self.store = Store(store or root / "runs")
        self.config = root / "interlock.yaml"
        given = config or {}
        # On a busy machine supervision may be late, which lets a step go on: what a test asks about must be judged.
        runtime = {"step_timeout_ms": 30_000, **given.get("runtime", {})}
        self.config.write_text(yaml.safe_dump({**given, "runtime": runtime, "store": {"dir": str(self.store.root)}}))
        self.summary = root / "summary.json"
        self._begun: list[subprocess.Popen[bytes]] = []

    @property
    def environment(self) -> dict[str, str]:
        mine = {
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "XDG_STATE_HOME": str(self.root / "state"),
            "XDG_CONFIG_HOME": str(self.root / "config"),
            "XDG_RUNTIME_DIR": str(self.root / "run"),
        }
        return {**{k: v for k, v in os.environ.items() if not k.startswith("INTERLOCK")}, **mine}

    @property
    def _as_user(self) -> dict[str, str]:
        """For commands without --config: the same store."""
        return {**self.environment, "INTERLOCK_STORE__DIR": str(self.store.root)}

    def command(self, *argv: str, options: tuple[str, ...] = ()) -> list[str]:
        """The words of `interlock run`."""
        given = ("--config", str(self.config), "--summary", str(self.summary), *options)
        return [sys.executable, "-m", "interlock", "run", *given, "--", *argv]

    def start(self, *argv: str, options: tuple[str, ...] = (), **more: Any) -> subprocess.Popen[bytes]:
        """Begin a run."""
        return self.begin(self.command(*argv, options=options), **more)

    def begin(self, words: list[str], **more: Any) -> subprocess.Popen[bytes]:
        given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
        process = subprocess.Popen(words, cwd=self.workspace, **{"env": self.environment, **given})
        self._begun.append(process)
        return process

    def run(self, *argv: str, options: tuple[str, ...] = (), data: bytes = b"") -> tuple[int, bytes, bytes]:
        """A whole run: status, stdout, stderr."""
        return finish(self.start(*argv, options=options, stdin=subprocess.PIPE), data)

    def interlock(self, *words: str) -> tuple[int, bytes, bytes]:
        """Another command of ours, with the same store."""
        done = subprocess.run(
            [sys.executable, "-m", "interlock", *words],
            cwd=self.workspace, env=self._as_user, capture_output=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    @property
    def folder(self) -> RunFolder:
        """The newest run's."""
        newest = max(self.store.runs(), key=lambda run: run.started)
        return RunFolder(self.store.root / newest.run_id)

    def told(self) -> dict[str, Any]:
        """What --summary wrote."""
        return dict(msgspec.json.decode(self.summary.read_bytes()))

    def order(self, command: Command, payload: dict[str, object] | None = None) -> RequestOutcome:
        """Send a control command to the newest run, as a second terminal would."""
        folder = self.folder
        request = new_request(str(uuid.uuid4()), command, folder.run_id, payload or {})
        return ask_owner(folder, request, timeout=PATIENCE_S)

    def begin_pause(self) -> subprocess.Popen[bytes]:
        """`interlock pause` in a second terminal, acknowledged; it waits for the step that is under way."""
        process = self.begin([sys.executable, "-m", "interlock", "pause", self.folder.run_id], env=self._as_user)
        until("it is about to pause", lambda: self.store.runs()[0].status in ("pausing", "paused"))
        return process

    def records(self, *kinds: str, folder: RunFolder | None = None) -> list[dict[str, Any]]:
        """Bodies of the newest run's records."""
        with JournalReader.open(folder or self.folder) as reader:
            return [msgspec.json.decode(r.body) for r in reader.read(kinds=frozenset(kinds))]

    def wait_for(self, name: str) -> None:
        """Wait until the command has made this file in the workspace."""
        until(f"{name} is there", (self.workspace / name).exists)

    def processes(self) -> list[int]:
        """Every live process that came from a run of this place."""
        markers = [tree.marker.encode() for folder in self.store.folders() if (tree := handle_of(folder))]
        return [
            pid for pid in read_processes() for marker in markers if has_marker(environment_of(pid), marker)
        ]  # fmt: skip

    def close(self) -> None:
        """End what a failed test left running."""
        for process in self._begun:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def key_of(place: Place) -> str:
    """The public key with which this place's runs and commands sign on a hub."""
    status, out, err = place.interlock("hub", "keys", "--json")
    assert status == 0, err
    return str(msgspec.json.decode(out)["own"] or place.interlock("hub", "keys", "make")[1].decode().strip())


ON_TERMINAL = (
    sys.executable,
    "-c",
    "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])",
)
"""Before a command: a session of its own, with its standard input as the terminal."""


def handle_of(folder: RunFolder) -> TreeHandle | None:
    return read_tree(folder)


def finish(process: subprocess.Popen[bytes], data: bytes | None = None) -> tuple[int, bytes, bytes]:
    """Wait for a run's end."""
    out, err = process.communicate(data, timeout=PATIENCE_S)
    return process.returncode, out, err


def owners(place: Place, module: bytes = b"interlock.adapters.command.owner") -> list[int]:
    """The owner processes of a place's runs, or those of another module of ours."""
    found = []
    for pid in read_processes():
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            environment = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if module in words and str(place.root).encode() in environment:
            found.append(pid)
    return found


def kill_both(front: int, owner: int) -> None:
    """Kill a run's front and its owner so that neither has time to start a successor of the other."""
    os.kill(owner, signal.SIGSTOP)
    os.kill(front, signal.SIGKILL)
    os.kill(owner, signal.SIGKILL)


__all__ = ["MARKER", "PATIENCE_S", "Place", "finish", "kill_both", "owners", "until"]


def fill(disk: Path) -> None:
    """Take every free byte of a disk."""
    with (disk / "ballast").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)
