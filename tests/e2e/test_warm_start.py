"""Owners from a warm start: the same as those that a front starts, and nothing that anybody could abuse."""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.adapters.command.owner_spawn import WARM, WARM_FDS, package_identity
from interlock.adapters.command.warm_start import Refused, _check_there
from interlock.link import listen
from interlock.process.proc import read_process

from .running import Place, finish, owners, until

UNTIL_GO = "touch began; while [ ! -e go ]; do sleep 0.05; done; echo over"
ASK = """
import os, sys
os.environ.pop("INTERLOCK_TREE", None)
from interlock.adapters.command.owner_spawn import WarmRequest
try:
    print("got one" if WarmRequest(sys.argv[1]).claim() else "refused")
except OSError as error:
    print("not reached", error)
"""
"""Asks as a front does, but hides that it belongs to a run."""


class Served(Place):
    """A place in which `interlock serve` runs. Its fronts have a terminal, so that they ask for an owner alone."""

    has_terminal = True

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._terminal, self._theirs = os.openpty()
        # A socket's path is short, and that of a test's folder may be too long for it.
        self._sockets = tempfile.TemporaryDirectory(prefix="il-", dir="/tmp")
        self.warm = Path(self._sockets.name) / "interlock" / WARM

    def begin_serve(self) -> None:
        self.serve = self.begin([sys.executable, "-m", "interlock", "serve", "--config", str(self.config)])
        until("a warm start is there", self.warm.exists)

    def start(self, *argv: str, options: tuple[str, ...] = (), **more: Any) -> subprocess.Popen[bytes]:
        given = more.pop("preexec_fn", None)

        def prepare() -> None:
            if self.has_terminal:
                os.setsid()
                fcntl.ioctl(self._theirs, termios.TIOCSCTTY, 0)
            if given is not None:
                given()

        return super().start(*argv, options=options, preexec_fn=prepare, **more)

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "XDG_RUNTIME_DIR": self._sockets.name}

    @property
    def host(self) -> int:
        """The process of the warm start."""
        # Not its forks, which have its name until they have become owners.
        hosts = owners(self, b"interlock.adapters.command.warm_start")
        (found,) = (pid for pid in hosts if _parent(pid) == self.serve.pid)
        return found

    def begin_run(self, command: str = UNTIL_GO, **more: object) -> tuple[subprocess.Popen[bytes], int]:
        """A run that waits for the file go, and its owner."""
        run = self.start("sh", "-c", command, **more)
        self.wait_for("began")
        (owner,) = owners(self)
        return run, owner

    def end_run(self, run: subprocess.Popen[bytes]) -> None:
        (self.workspace / "go").touch()
        status, out, _ = finish(run)
        assert (status, out) == (0, b"over\n")
        assert self.told()["status"] == "done"

    def close(self) -> None:
        self.serve.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.serve.wait(150)
        super().close()
        self._sockets.cleanup()
        for descriptor in (self._terminal, self._theirs):
            os.close(descriptor)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    place = Served(tmp_path)
    try:
        place.begin_serve()
        yield place
    finally:
        place.close()


def _parent(pid: int) -> int:
    process = read_process(pid)
    assert process is not None
    return process.parent


def _proc(pid: int, name: str) -> str:
    return Path(f"/proc/{pid}/{name}").read_text()


def _status(pid: int) -> dict[str, str]:
    kept = ("Umask", "Uid", "Gid", "Groups", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "SigBlk")
    lines = (line.partition(":") for line in _proc(pid, "status").splitlines())
    return {name: value.strip() for name, _, value in lines if name in kept}


def _limit_files() -> None:
    os.umask(0o027)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 900), hard))


def test_an_owner_is_as_if_its_front_had_started_it(served: Served) -> None:
    run, owner = served.begin_run(preexec_fn=_limit_files)
    assert _parent(owner) == served.host
    assert os.getsid(owner) == owner
    assert Path(f"/proc/{owner}/cwd").readlink() == Path(f"/proc/{run.pid}/cwd").readlink()
    assert _proc(owner, "limits") == _proc(run.pid, "limits")
    assert _proc(owner, "cgroup") == _proc(run.pid, "cgroup")
    assert _proc(owner, "oom_score_adj") == _proc(run.pid, "oom_score_adj")
    ours, theirs = _status(owner), _status(run.pid)
    # The front takes signals itself.
    assert ours.pop("SigBlk") == "0" * 16
    theirs.pop("SigBlk")
    assert ours == theirs
    assert Path(f"/proc/{owner}/fd/0").readlink() == Path("/dev/null")
    assert ours["Umask"] == "0027"
    served.end_run(run)
    until("the owner has ended", lambda: not owners(served))


def test_an_owner_has_the_environment_of_its_front(served: Served) -> None:
    check = ("--done-when", 'test "$COLOUR" = red')
    env = {**served.environment, "COLOUR": "red"}
    assert finish(served.start("true", options=check, env=env))[0] == 0
    env["COLOUR"] = "blue"
    assert finish(served.start("true", options=check, env=env))[0] == 123


def test_an_owner_outlives_the_warm_start_and_serve(served: Served) -> None:
    run, owner = served.begin_run()
    os.kill(served.host, signal.SIGKILL)
    served.serve.kill()
    served.serve.wait()
    until("it has another parent", lambda: _parent(owner) != 0 and _parent(owner) not in (served.serve.pid,))
    assert owners(served) == [owner]
    served.end_run(run)


def test_a_killed_warm_start_is_not_missed(served: Served) -> None:
    os.kill(served.host, signal.SIGKILL)
    until("it is gone", lambda: not owners(served, b"interlock.adapters.command.warm_start"))
    assert served.run("echo", "fine")[:2] == (0, b"fine\n")


def _run_once(served: Served, run: subprocess.Popen[bytes]) -> None:
    """The command ran, once, in one run, with an owner that its front started."""
    assert finish(run)[:2] == (0, b"said\n")
    assert (served.workspace / "made").read_text() == "once\n"
    assert [each.status for each in served.store.runs()] == ["done"]
    assert len(served.records("started")) == 1


ONCE = ("sh", "-c", "echo once >> made; echo said")


def test_a_warm_start_that_is_killed_while_it_is_asked(served: Served) -> None:
    host = served.host
    os.kill(host, signal.SIGSTOP)
    run = served.start(*ONCE)
    until("it has asked", lambda: [*served.warm.parent.glob("*/steps")])
    os.kill(host, signal.SIGKILL)
    _run_once(served, run)


@pytest.mark.parametrize("answers", [False, True], ids=["before its answer", "after its answer"])
def test_an_owner_from_a_warm_start_that_dies(served: Served, answers: bool) -> None:
    served.serve.kill()
    served.serve.wait()
    until("the warm start is gone", lambda: not owners(served, b"interlock.adapters.command.warm_start"))
    with listen(served.warm) as dying:
        dying.settimeout(150)
        run = served.start(*ONCE)
        asking, _ = dying.accept()
        with asking:
            _, given, _, _ = socket.recv_fds(asking, 1, WARM_FDS)
            if answers:
                dead = subprocess.Popen(["true"])
                socket.send_fds(asking, [b"y"], [os.pidfd_open(dead.pid)])
                dead.wait()
        for descriptor in given:
            os.close(descriptor)
        _run_once(served, run)


def test_an_owner_that_is_killed_is_succeeded_by_one_that_the_front_starts(served: Served) -> None:
    run, owner = served.begin_run()
    os.kill(owner, signal.SIGKILL)
    until("another one is there", lambda: (found := owners(served)) and found != [owner])
    (second,) = owners(served)
    assert _parent(second) == run.pid
    served.end_run(run)


def test_a_front_is_killed_and_the_owner_ends_the_run(served: Served) -> None:
    # Its terminal hangs up when the front is killed; the command is to outlive that.
    run, owner = served.begin_run(f"trap '' HUP; {UNTIL_GO}")
    run.kill()
    run.wait()
    assert owners(served) == [owner]
    (served.workspace / "go").touch()
    until("the owner has ended", lambda: not owners(served))
    assert served.store.runs()[0].status in ("done", "aborted")


def test_where_priorities_differ_the_front_starts_its_owner_itself(served: Served) -> None:
    run, owner = served.begin_run(preexec_fn=lambda: os.nice(3))
    assert _parent(owner) == run.pid
    served.end_run(run)


def _ask(path: Path, message: bytes, fds: list[int]) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.connect(str(path))
        asking.settimeout(150)
        socket.send_fds(asking, [message], fds) if fds else asking.sendall(message)
        return asking.recv(512)


def _request(identity: bytes, *variables: bytes) -> int:
    file = os.memfd_create("request")
    os.write(file, b"\0".join((identity, *variables)))
    return file


def test_hostile_requests_are_refused_and_harm_nobody(served: Served) -> None:
    host, nowhere = served.host, os.open(os.devnull, os.O_RDWR)
    mine, theirs = socket.socketpair()
    folder = os.open(served.workspace, os.O_RDONLY)
    silent = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    silent.connect(str(served.warm))

    def refused(request: int, sock: int | None = None) -> bytes:
        answer = _ask(served.warm, b"w", [theirs.fileno() if sock is None else sock, nowhere, folder, request])
        assert answer[:1] == b"n"
        return answer

    assert _ask(served.warm, b"garbage" * 1000, []) == b"nnot a request"
    assert _ask(served.warm, b"w", [nowhere]) == b"nnot a request"
    assert _ask(served.warm, b"w", [nowhere] * 40)[:1] == b"n"
    refused(_request(package_identity()), nowhere)
    assert refused(nowhere) == b"nnot a request"
    assert refused(_request(b"")) == b"nnot a request"
    assert refused(_request(b"another version")) == b"nanother version"
    assert refused(_request(package_identity(), b"no variable")) == b"nnot a request"
    assert refused(_request(package_identity(), b"=1")) == b"nnot a request"
    assert b"variable" in refused(_request(package_identity(), b"PYTHONPATH=/tmp"))
    huge = os.memfd_create("huge")
    os.truncate(huge, 1 << 40)
    assert refused(huge) == b"nnot a request"
    mine.close()
    assert served.run("echo", "fine")[:2] == (0, b"fine\n")
    assert served.host == host
    silent.close()
    for descriptor in (nowhere, folder, huge):
        os.close(descriptor)
    theirs.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_is_refused(served: Served) -> None:
    for folder in served.warm.parents[:2]:
        folder.chmod(0o711)
    served.warm.chmod(0o666)
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
            os.setuid(65534)
            asking.connect(str(served.warm))
            os.write(there, asking.recv(512))
        os._exit(0)
    os.close(there)
    os.waitpid(child, 0)
    with os.fdopen(here, "rb") as said:
        assert said.read() == b"nanother user"


def test_whoever_asked_has_to_be_there_still() -> None:
    """Its number may be that of a process which could ask."""
    asker = subprocess.Popen(["sleep", "300"])
    _check_there(os.pidfd_open(asker.pid))
    gone = os.pidfd_open(asker.pid)
    asker.kill()
    asker.wait()
    with pytest.raises(Refused, match="it has ended"):
        _check_there(gone)
    os.close(gone)


@pytest.mark.parametrize("level", ["off", "guard"])
def test_what_belongs_to_a_run_gets_no_owner(served: Served, level: str) -> None:
    words = (sys.executable, "-c", ASK, str(served.warm))
    status, out, err = served.run(*words, options=("--contain", level))
    if level == "guard" and b"guard does not work here" in err:
        pytest.skip("no bubblewrap")
    assert status == 0, err
    assert out.startswith(b"refused" if level == "off" else b"not reached")


def test_serve_ends_it(served: Served) -> None:
    host = served.host
    served.serve.send_signal(signal.SIGTERM)
    served.serve.wait(150)
    until("it has ended", lambda: read_process(host) is None)
    assert not served.warm.exists()
