"""Siege: one real run whose agent attacks its supervisor, and what can be seen of it from outside."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

import interlock
from interlock.adapters.command.owner_messages import steps_path
from interlock.core import InterlockError
from interlock.core.keys import create_key
from interlock.journal import JournalReader, RunFolder, Store
from interlock.journal.folder import read_tree
from interlock.link import socket_path
from interlock.process import attach
from interlock.process.cgroup_hierarchy import own_folder, remove
from interlock.process.proc import children_of, read_process

from ..running import until
from .scripts import ATTACKS, Attack

HERE = Path(__file__).parent
USER = 61_234
"""An ordinary user without a name."""

TOPS = ("etc", "home", "opt", "root", "run", "srv", "usr", "var")
SERVICES = {"docker": "", "dbus": "", "systemd": "", "user-dbus": "run/bus", "user-systemd": "run/systemd/private",
            "server": "home/server.sock"}  # fmt: skip
"""Stand-ins for what runs programs for others, and where those of the user are."""


def copied() -> set[str]:
    """The top folders that the copy of the machine has of its own, those of the code included."""
    read = (interlock.__file__, sysconfig.get_path("purelib"), sys.prefix, sys.base_prefix)
    return {*TOPS, *(Path(place).resolve().parts[1] for place in read)}


def _apart() -> str | None:
    """Where a folder lies apart from what is copied: the temporary folder, unless the code itself lies there."""
    shared = Path(tempfile.gettempdir()).resolve().parts[1] in copied()
    return "/" if os.geteuid() == 0 and shared else None


NOTICED_S = 60.0
"""How long the record of an attack may take to be in the journal."""


class Siege:
    """A run at a level, as root or as an ordinary user, with cgroups or without. `close` ends everything.

    Started by root it sees a copy of the machine, which ends with it (confine.sh). Started by another user, whatever
    would need such a copy is not tried.
    """

    def __init__(
        self,
        level: str,
        *,
        root: bool,
        cgroups: bool = True,
        only: tuple[Attack, ...] = ATTACKS,
        on_tamper: str = "warn",
    ) -> None:
        self.level, self.is_root, self._only, self._on_tamper = level, root, only, on_tamper
        self._cgroups = cgroups
        self.root = Path(tempfile.mkdtemp(prefix="attack-", dir=_apart()))
        self.python = sys.executable if root else ordinary_python()
        self.store = self.root / "runs"
        for name in ("home/.ssh", "work", "run/systemd", "state", "config", "cache", "tmux", "runs", "over",
                     "services"):  # fmt: skip
            (self.root / name).mkdir(parents=True, mode=0o700)
        (self.root / "home" / ".claude").mkdir()
        for name in (".bashrc", ".ssh/authorized_keys", ".ssh/id_ed25519", ".claude/settings.json"):
            (self.root / "home" / name).write_text("# mine\n")
        (self.store / ".web-token").write_text("x" * 43 + "\n")
        self.keys = self.root / "state" / "interlock" / "key", self.root / "home" / "keys" / "hub"
        self.public = [create_key(path).public for path in self.keys][1]
        for name in ("helper.py", "agent.py"):
            shutil.copy(HERE / name, self.root / "home" / name)
        (self.root / "home" / "attacks.json").write_text(json.dumps([(one.name, one.script) for one in self.attacks]))
        self._services = [self._serve(name, place) for name, place in SERVICES.items()]
        self._server, self._abstract = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX)
        self._abstract.bind(f"\0{self.root.name}")
        self._abstract.listen()
        self._services += [self._server, self._abstract]
        if not root and os.geteuid() == 0:
            subprocess.run(["chown", "-R", f"{USER}:{USER}", self.root], check=True)
        self.work = self.root / "work"
        self._cgroup = self._choose_cgroup() if cgroups else "none"
        self._run: subprocess.Popen[bytes] | None = None
        self._as: dict[str, int] = {} if root or os.geteuid() != 0 else {"user": USER, "group": USER}
        self._noticed: dict[str, float] = {}
        self._runtime = os.environ.get("XDG_RUNTIME_DIR")

    @property
    def attacks(self) -> list[Attack]:
        fit = [one for one in self._only if one.applies(self.level, self.is_root, self._cgroups)]
        return [one for one in fit if os.geteuid() == 0 or not one.machine]

    def _choose_cgroup(self) -> str:
        """Where an ordinary user may make cgroups; root needs none."""
        own = own_folder("cgroup2")
        return "" if self.is_root or os.geteuid() != 0 or own is None else str(own / self.root.name)

    def why_not(self) -> str:
        """What keeps us from having a copy of the machine; empty where nothing does."""
        done = subprocess.run(self._confined(["true"]), capture_output=True, text=True, check=False)
        return done.stderr if done.returncode else ""

    def _confined(self, words: list[str]) -> list[str]:
        """The words that start a command on a copy of the machine."""
        if os.geteuid() != 0:
            return words
        tops = copied()
        there = ",".join(sorted(top for top in tops if Path("/", top).is_dir() and not Path("/", top).is_symlink()))
        user = "0" if self.is_root else str(USER)
        return ["unshare", "-m", "sh", str(HERE / "confine.sh"), str(self.root), there, user, self._cgroup, *words]

    def _serve(self, name: str, place: str) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX)
        path = self.root / (place or f"services/{name}")
        listener.bind(str(path))
        path.chmod(0o666)
        listener.listen()
        return listener

    def machine(self) -> dict[str, object]:
        """What an attack that succeeds would change on the real machine."""
        code, site = Path(interlock.__file__).parent, Path(sysconfig.get_path("purelib"))
        files = ["/etc/ld.so.preload", "/etc/crontab", "/root/.bash_profile", shutil.which("bwrap") or "/bin/sh"]
        folders = ["/etc/cron.d", "/etc/systemd/system", "/var/spool/cron/crontabs", "/var/spool/cron/atjobs"]
        seen: dict[str, object] = {place: _stamp(Path(place)) for place in files}
        seen |= {place: sorted(map(str, Path(place).glob("*"))) for place in folders}
        seen |= {str(path): path.exists() for path in (code / "attack.py", site / "attack.pth")}
        return seen | {"core": Path("/proc/sys/kernel/core_pattern").read_text()}

    @property
    def environment(self) -> dict[str, str]:
        site = sysconfig.get_path("purelib")
        return {
            "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin",
            "PYTHONPATH": os.pathsep.join((str(Path(interlock.__file__).parents[1]), site)),
            "HOME": str(self.root / "home"),
            "XDG_STATE_HOME": str(self.root / "state"),
            "XDG_CONFIG_HOME": str(self.root / "config"),
            "XDG_CACHE_HOME": str(self.root / "cache"),
            "XDG_RUNTIME_DIR": str(self.root / "run"),
            "TMUX_TMPDIR": str(self.root / "tmux"),
            "INTERLOCK_STORE__DIR": str(self.store),
            "INTERLOCK_RUNTIME__ON_TAMPER": self._on_tamper,
            "INTERLOCK_HUB__KEY_FILE": str(self.keys[1]),
        }

    def begin(self) -> None:
        """Start a tmux server outside, then the run; the agent is told where everything is, as if it had guessed."""
        self.machine_before = self.machine()
        tmux = self._confined(["tmux", "new-session", "-d"])
        subprocess.run(tmux, env=self.environment, cwd=self.work, check=False)
        words = [self.python, "-m", "interlock", "run", "--contain", self.level, "--", self.python,
                 str(self.root / "home" / "agent.py"), str(self.root / "home" / "attacks.json")]  # fmt: skip
        self._run = subprocess.Popen(
            self._confined(words), cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        until("the run is there", lambda: self._folders() and read_tree(self.folder) is not None)
        tree = read_tree(self.folder)
        assert tree is not None
        self.tree = tree
        self.owner = next(pid for pid in children_of(self._run.pid) if b"command.owner" in _words(pid))
        os.environ["XDG_RUNTIME_DIR"] = str(self.root / "run")
        self.control = self.root / "run" / "interlock" / socket_path(self.folder.path).name
        first = read_process(tree.keeper.pid) if tree.keeper is not None else None
        told = {
            "FRONT": str(self._run.pid), "OWNER": str(self.owner), "PYTHON": self.python,
            "MONITOR": str(first.parent if first is not None and tree.enclosed else self._run.pid),
            "CONTROL": str(self.control), "STATE": str(self.root / "state" / "interlock"), "STORE": str(self.store),
            "CONFIG": str(self.root / "config" / "interlock"), "CACHE": str(self.root / "cache" / "interlock"),
            "CODE": str(Path(interlock.__file__).parent), "SITE": sysconfig.get_path("purelib"),
            "HELPER": str(self.root / "home" / "helper.py"), "ABSTRACT": self.root.name,
            "SERVICE": str(self._server.getsockname()[1]), "HOOK": self._hook_words(),
            "KEY": str(self.keys[0]), "NAMED_KEY": str(self.keys[1]), "PUBLIC": self.public,
        }  # fmt: skip
        self.before = self.picture()
        (self.work / "go.tmp").write_text(json.dumps(told))
        (self.work / "go.tmp").chmod(0o644)
        (self.work / "go.tmp").rename(self.work / "go")

    def _hook_words(self) -> str:
        """How a client of this run would call its hook."""
        ask = "from interlock.adapters.hooks.hookclient_build import hook_command; print(*hook_command())"
        made = subprocess.check_output([self.python, "-c", ask], env=self.environment, text=True, **self._as)
        control = steps_path(self.control)
        return f"{made.strip()} --before --deadline 2 --socket {control} --gate {self.folder.gate} claude-code"

    def results(self) -> dict[str, tuple[int, str, float]]:
        """What the agent says of each attack: exit status, output, and when it began."""
        done, so_far = self.work / "results.json", self.work / "results.tmp"
        while not done.exists():
            before = _stamp(so_far)
            until(
                "the next attack is over",
                lambda before=before: self.noticed() is not None and (done.exists() or _stamp(so_far) != before),
            )
        return {name: tuple(said) for name, said in json.loads((self.work / "results.json").read_text()).items()}

    def noticed(self) -> dict[str, float]:
        """What was recorded of the attacks, and when; where one has removed the journal, what was there before."""
        with contextlib.suppress(InterlockError, IndexError, OSError), JournalReader.open(self.folder) as reader:
            for one in reader.read(kinds=frozenset(("tamper",))):
                told = json.loads(bytes(one.body))
                self._noticed.setdefault(f"{told['what']} {told.get('path', '')}", one.time)
        return self._noticed

    def tells(self, words: str) -> bool:
        """Whether this is recorded, now or in a moment: what was refused may be told a little later."""
        deadline = time.monotonic() + NOTICED_S
        while not (told := any(words in one for one in self.noticed())) and time.monotonic() < deadline:
            time.sleep(0.05)
        return told

    def answered(self) -> float:
        """Wait until the run is paused by what its agent did; how long after its begin that was, in seconds."""
        begun = self.work / "begun"
        until("what it did is answered", lambda: Store(self.store).runs()[0].status == "paused")
        return time.time() - float(begun.read_text())

    def picture(self) -> dict[str, object]:
        """What no attack may have changed, seen from outside."""
        kept: dict[str, object] = {}
        for place in ("config", "cache", "home", "runs/.web-token"):
            for path in sorted((self.root / place).rglob("*")) or [self.root / place]:
                if path.is_file() and path.name not in (
                    ".bash_profile",
                    "x.service",
                    "elsewhere",
                    "settings.json",
                    "settings.local.json",
                ):
                    kept[str(path)] = path.read_bytes()
        kept["mutes"] = (self.root / "state" / "interlock" / "mutes").exists()
        kept["checkpoints"] = (self.root / "state" / "interlock" / "checkpoints").exists()
        kept["control"] = self.control.exists() and self.control.stat().st_ino
        return kept

    def interlock(self, *words: str) -> tuple[int, str]:
        done = subprocess.run(
            [self.python, "-m", "interlock", *words], cwd=self.root / "home", env=self.environment, timeout=150,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **self._as,
        )  # fmt: skip
        return done.returncode, done.stdout.decode()

    def ticks(self) -> bool:
        """Whether the agent does anything."""
        before = _stamp(self.work / "tick")
        time.sleep(0.6)
        return _stamp(self.work / "tick") != before

    def alive(self) -> list[int]:
        """Every process that is left of the agent, by what it was started with and by its tree."""
        marked = [pid for pid in _all_pids() if str(self.root).encode() in _words(pid) and b"agent.py" in _words(pid)]
        ours = {self._run.pid if self._run is not None else 0}
        return sorted({*attach(self.tree).pids(), *marked} - ours)

    @property
    def folder(self) -> RunFolder:
        return RunFolder(self._folders()[0])

    def _folders(self) -> list[Path]:
        return [path for path in self.store.iterdir() if path.is_dir()]

    def close(self) -> None:
        subprocess.run(["tmux", "kill-server"], env=self.environment, check=False, capture_output=True, **self._as)
        if hasattr(self, "tree"):
            attach(self.tree).end(0)
        if self._run is not None:
            if self._run.poll() is None:
                self._run.send_signal(signal.SIGKILL)
            self._run.communicate()
        self._end_owner()
        for listener in self._services:
            listener.close()
        if self._runtime is None:
            os.environ.pop("XDG_RUNTIME_DIR", None)
        else:
            os.environ["XDG_RUNTIME_DIR"] = self._runtime
        shutil.rmtree(self.root, ignore_errors=True)
        if self._cgroup not in ("", "none"):
            remove(Path(self._cgroup), seconds=5)

    def _end_owner(self) -> None:
        """Also one that an attack has stopped; before its folder goes, in which it would write again."""
        if not hasattr(self, "owner"):
            return
        with contextlib.suppress(ProcessLookupError):
            owner = os.pidfd_open(self.owner)
            try:
                if b"command.owner" in _words(self.owner):
                    signal.pidfd_send_signal(owner, signal.SIGKILL)
                    select.select([owner], [], [], 10)
            finally:
                os.close(owner)


def ordinary_python() -> str:
    """An interpreter of our version that every user can run."""
    mine = Path(os.path.realpath(sys.executable))
    if all(parent.stat().st_mode & 0o001 for parent in mine.parents):
        return sys.executable
    system = Path("/usr/bin") / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    return str(system) if system.exists() else ""


def _all_pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        info = path.stat()
    except OSError:
        return None
    return info.st_ino, info.st_size, info.st_mtime_ns


def _words(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
