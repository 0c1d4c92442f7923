"""`interlock run` beside a warm start and without a terminal: a thin process, and a front that works for it."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.adapters.command.thin_run import package_identity
from interlock.contain import why_not
from interlock.link import listen

from .running import finish, owners, until
from .test_warm_start import Served, _ask, _limit_files, _parent, _proc, _request, _status

FRONT = b"interlock.adapters.command.front"

pytestmark = pytest.mark.skipif(bool(why_not()), reason="no bubblewrap")


class Thin(Served):
    """The same without a terminal, and contained."""

    has_terminal = False

    def start(self, *argv: str, options: tuple[str, ...] = (), **more: object) -> subprocess.Popen[bytes]:
        contain = () if "--contain" in options else ("--contain", "guard")
        return super().start(*argv, options=(*contain, *options), start_new_session=True, **more)

    def front(self) -> int:
        (found,) = owners(self, FRONT)
        return found


@pytest.fixture
def thin(tmp_path: Path) -> Iterator[Thin]:
    place = Thin(tmp_path)
    try:
        place.begin_serve()
        yield place
    finally:
        place.close()


def test_the_front_is_a_fork_and_the_command_is_started_by_whom_was_called(thin: Thin) -> None:
    run, owner = thin.begin_run(preexec_fn=_limit_files)
    front = thin.front()
    assert _parent(front) == thin.host
    assert _parent(owner) == front
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
    assert [_proc(int(child), "comm") for child in children] == ["bwrap\n"]
    for ours in (front, owner):
        assert Path(f"/proc/{ours}/cwd").readlink() == Path(f"/proc/{run.pid}/cwd").readlink()
        assert _proc(ours, "limits") == _proc(run.pid, "limits")
        assert _proc(ours, "cgroup") == _proc(run.pid, "cgroup")
        found, wanted = _status(ours), _status(run.pid)
        assert {**found, "SigBlk": ""} == {**wanted, "SigBlk": ""}
    thin.end_run(run)
    until("the owner has ended", lambda: not owners(thin) and not owners(thin, FRONT))


def test_streams_arguments_environment_and_status_are_those_of_an_ordinary_run(thin: Thin) -> None:
    script = 'import os, sys; sys.stdout.buffer.write(sys.stdin.buffer.read() + os.environb[b"ODD"] + sys.argv[1]'
    script += '.encode() + os.getcwd().encode()); sys.stderr.write("err"); sys.exit(7)'
    argument, value = "é \n".encode(), b"\xff\xfe\n="
    environment = {**{os.fsencode(k): os.fsencode(v) for k, v in thin.environment.items()}, b"ODD": value}
    for contain in ("guard", "off"):
        run = thin.start(
            sys.executable, "-c", script, os.fsdecode(argument), stdin=subprocess.PIPE, env=environment,
            options=("--contain", contain),
        )  # fmt: skip
        status, out, err = finish(run, b"input ")
        assert (status, out) == (7, b"input " + value + argument + os.fsencode(thin.workspace)), err
        assert b"err" in err
    assert finish(thin.start("echo", os.fsdecode(b"\xff")))[0] == 2
    first, second = (finish(thin.start("sh", "-c", "exit 3", options=("--contain", each))) for each in ("guard", "off"))
    assert (first[0], second[0]) == (3, 3)
    assert finish(thin.start("sh", "-c", "kill -SEGV $$"))[0] == -signal.SIGSEGV
    assert finish(thin.start("no-such-program"))[0] == 127
    assert finish(thin.start("true", options=("--workspace", "nowhere")))[0] == 2


def test_a_copier_that_was_ready_is_in_its_place_and_another_one_follows_it(thin: Thin) -> None:
    # The host, and what it has ready: a front, its owner and its copier.
    until("all is ready", lambda: len(owners(thin, b"interlock.adapters.command.warm_start")) == 4)
    run = thin.start("sh", "-c", "echo one; read line; echo two; echo $line", stdin=subprocess.PIPE)
    until("it prints", lambda: thin.store.runs() and (thin.folder.output / "latest.json").exists())
    (copier,) = owners(thin, b"interlock.output.copier")
    front = thin.front()
    assert _parent(copier) == front
    for what in ("limits", "cgroup"):
        assert _proc(copier, what) == _proc(run.pid, what)
    assert Path(f"/proc/{copier}/cwd").readlink() == Path(f"/proc/{run.pid}/cwd").readlink()
    os.kill(copier, signal.SIGKILL)
    until("there is another", lambda: set(owners(thin, b"interlock.output.copier")) - {copier})
    status, out, _ = finish(run, b"three\n")
    assert (status, out) == (0, b"one\ntwo\nthree\n")
    assert thin.interlock("logs", thin.folder.run_id)[1] == b"one\ntwo\nthree\n"


def test_without_kept_output_no_copier_stays(thin: Thin) -> None:
    run, _ = thin.begin_run(env={**thin.environment, "INTERLOCK_STORE__OUTPUT_BYTES": "0"})
    # One that is ready for the next run is listed as the warm start.
    until("the copier is gone", lambda: not owners(thin, b"interlock.output.copier"))
    thin.end_run(run)


def test_descriptors_and_ignored_signals(thin: Thin) -> None:
    """The command has our streams and no other descriptor; it ignores what we were told to ignore."""
    extra, _ = os.pipe()
    os.set_inheritable(extra, True)
    script = "ls /proc/self/fd | wc -l; grep -E 'SigIgn|SigBlk' /proc/self/status"

    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    seen = [
        finish(thin.start("sh", "-c", script, options=options, preexec_fn=ignore, close_fds=False))[1]
        for options in ((), ("--contain", "off"))
    ]
    assert seen[0] == seen[1]
    ignored = int(seen[0].partition(b"SigIgn:\t")[2].split()[0], 16)
    # Others too, where whoever started the tests ignores them.
    assert ignored & 1 << signal.SIGHUP - 1


def test_a_huge_environment(thin: Thin) -> None:
    environment = {**thin.environment, **{f"VARIABLE_{number}": "x" * 100_000 for number in range(12)}}
    run = thin.start("sh", "-c", "echo ${#VARIABLE_11}", env=environment)
    assert finish(run)[:2] == (0, b"100000\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_signals_reach_the_command(thin: Thin, number: signal.Signals) -> None:
    run, _ = thin.begin_run()
    run.send_signal(number)
    assert finish(run)[0] == -number
    assert thin.told()["command_status"] == -number
    until("all have ended", lambda: not owners(thin) and not owners(thin, FRONT))


def test_whoever_called_blocks_all_signals(thin: Thin) -> None:
    """The end of the command is noticed, and signals reach it, as in an ordinary run."""

    def block() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())

    status, out, _ = finish(thin.start("sh", "-c", "grep SigBlk /proc/self/status; exit 3", preexec_fn=block))
    assert (status, int(out.split()[1], 16)) == (3, 0)
    run, _ = thin.begin_run(preexec_fn=block)
    run.send_signal(signal.SIGTERM)
    assert finish(run)[0] == -signal.SIGTERM


def test_two_interrupts_cancel(thin: Thin) -> None:
    run = thin.start("sh", "-c", "trap '' INT; touch began; while :; do sleep 0.05; done")
    thin.wait_for("began")

    def interrupt() -> bool:
        run.send_signal(signal.SIGINT)
        return run.poll() is not None

    # Two that come at once are one.
    until("it is cancelled", interrupt)
    assert finish(run)[0] == 130


def test_whom_was_called_is_killed_and_the_owner_ends_the_run(thin: Thin) -> None:
    run, owner = thin.begin_run()
    run.kill()
    run.wait()
    until("the front ends with it", lambda: not owners(thin, FRONT))
    assert owners(thin) == [owner]
    (thin.workspace / "go").touch()
    until("the owner has ended", lambda: not owners(thin))
    assert thin.store.runs()[0].status in ("done", "aborted")


def test_the_front_is_killed_and_whom_was_called_ends_as_if_it_had_been(thin: Thin) -> None:
    run, owner = thin.begin_run()
    os.kill(thin.front(), signal.SIGKILL)
    assert run.wait(150) == -signal.SIGKILL
    assert owners(thin) == [owner]
    (thin.workspace / "go").touch()
    until("the owner has ended", lambda: not owners(thin))


def test_owner_warm_start_and_serve_are_killed_and_the_run_goes_on(thin: Thin) -> None:
    run, owner = thin.begin_run()
    os.kill(thin.host, signal.SIGKILL)
    thin.serve.kill()
    thin.serve.wait()
    os.kill(owner, signal.SIGKILL)
    until("another owner is there", lambda: (found := owners(thin)) and found != [owner])
    thin.end_run(run)


def test_a_warm_start_that_is_killed_while_it_is_asked(thin: Thin) -> None:
    host = thin.host
    for pid in (host, *map(int, _proc(host, f"task/{host}/children").split())):
        # What it has ready goes with it.
        os.kill(pid, signal.SIGKILL)
    assert thin.run("echo", "said")[:2] == (0, b"said\n")


def test_an_answer_by_someone_who_dies_then_is_not_the_end_of_the_command(thin: Thin) -> None:
    """It ends as a front that is killed, and no command has run."""
    thin.serve.kill()
    thin.serve.wait()
    until("the warm start is gone", lambda: not owners(thin, b"interlock.adapters.command.warm_start"))
    with listen(thin.warm) as dying:
        dying.settimeout(150)
        run = thin.start("touch", "made")
        asking, _ = dying.accept()
        with asking:
            assert socket.recv_fds(asking, 1, 8)[0] == b"f"
            asking.sendall(b"y")
            assert asking.recv(3) == b"go\n"
        assert run.wait(150) == -signal.SIGKILL
    assert not (thin.workspace / "made").exists()
    assert thin.store.runs() == []


def test_killed_at_any_moment_of_its_start(thin: Thin) -> None:
    """Whatever is killed, whenever: no command runs on without an owner, and no process is left."""
    for delay in range(0, 100, 4):
        run = thin.start("sh", "-c", "sleep 300")
        time.sleep(delay / 1000)
        run.kill()
        run.wait()
        until("nothing is left of the front", lambda: not owners(thin, FRONT))
    for each in thin.store.runs():
        if each.status == "running":
            thin.interlock("cancel", each.run_id)
    until("nothing is left of the owners", lambda: not owners(thin))
    assert thin.run("echo", "fine")[:2] == (0, b"fine\n")


def test_many_at_once(thin: Thin) -> None:
    runs = [thin.start("sh", "-c", f"echo {number}", options=("--no-checkpoints",)) for number in range(20)]
    ended = [finish(run) for run in runs]
    assert not [err for status, _, err in ended if status]
    assert [each[:2] for each in ended] == [(0, f"{number}\n".encode()) for number in range(20)]
    until("all have ended", lambda: not owners(thin) and not owners(thin, FRONT))


def test_closed_streams(thin: Thin) -> None:
    words = thin.command("sh", "-c", "echo out; cat", options=("--contain", "guard"))
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        run = thin.begin(["sh", "-c", f'exec "$@" {closed}', "sh", *words], start_new_session=True)
        assert finish(run)[0] in (0, 1)


@pytest.mark.parametrize("most", [40, 300])
def test_few_descriptors_are_allowed(thin: Thin, most: int) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    status, out, err = finish(thin.start("sh", "-c", "ulimit -n", preexec_fn=limit))
    assert (status, out) == (0, b"%d\n" % most), err


@pytest.mark.parametrize("kind", [resource.RLIMIT_AS, resource.RLIMIT_DATA])
def test_where_memory_is_limited_the_ordinary_way_is_taken(thin: Thin, kind: int) -> None:
    """A fork of the warm start has more of it from the beginning, and could have too little left to work with."""
    run, _ = thin.begin_run(preexec_fn=lambda: resource.setrlimit(kind, (2**32, 2**32)))
    assert not owners(thin, FRONT)
    thin.end_run(run)


@pytest.mark.parametrize(("number", "program", "failed"), [(10**6, b"/bin/true", 22), (0, b"/nowhere", 2)])
def test_what_cannot_be_started_is_reported(tmp_path: Path, number: int, program: bytes, failed: int) -> None:
    """Where there is no room for a descriptor, or no program."""
    place = Thin(tmp_path)
    place.warm.parent.mkdir(mode=0o700)
    place.serve = subprocess.Popen(["true"])
    try:
        with listen(place.warm) as server, open(os.devnull, "rb") as nothing:
            server.settimeout(150)
            run = place.start("true")
            asking, _ = server.accept()
            with asking:
                assert socket.recv_fds(asking, 1, 8)[0] == b"f"
                asking.sendall(b"y")
                assert asking.recv(3) == b"go\n"
                socket.send_fds(asking, [b"start\n"], [_request(b"%d" % number, b"1", program), nothing.fileno()])
                with asking.makefile("rb") as told:
                    assert told.readline() == b"failed %d\n" % failed
                asking.sendall(b"exit 3\n")
                assert run.wait(150) == 3
    finally:
        place.close()


@pytest.mark.parametrize("kind", [Thin, Served], ids=["front", "owner"])
def test_someone_who_takes_no_callers_keeps_nobody_waiting(tmp_path: Path, kind: type[Served]) -> None:
    """In a shared folder for temporary files, anybody can be that."""
    place = kind(tmp_path)
    place.warm.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as full, contextlib.ExitStack() as callers:
        full.bind(str(place.warm))
        full.listen(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                caller = callers.enter_context(socket.socket(socket.AF_UNIX))
                caller.setblocking(False)
                caller.connect(str(place.warm))
        place.serve = subprocess.Popen(["true"])
        try:
            assert place.run("echo", "said")[:2] == (0, b"said\n")
        finally:
            place.close()


def test_a_contained_command_sees_no_socket_of_ours_wherever_it_is(thin: Thin) -> None:
    """A process without XDG_RUNTIME_DIR, as from cron, has them elsewhere."""
    elsewhere = Path(f"/tmp/interlock-{os.geteuid()}")
    elsewhere.mkdir(mode=0o700, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=elsewhere):
        status, out, err = thin.run("ls", "-A", str(elsewhere), str(thin.warm.parent))
    assert status == 0, err
    assert out.startswith(f"{elsewhere}:\n\n".encode()) or out.endswith(f"{elsewhere}:\n".encode())
    assert b"warm" not in out


HOSTILE = """
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
open("listens", "x").close()
while True:
    asking, _ = listener.accept()
    while asking.recv(1):
        open("was-asked", "w").close()
"""


def test_an_agent_that_hides_where_it_came_from_is_not_taken_for_serve(tmp_path: Path) -> None:
    """Without a wall it can listen in place of serve, and empty its environment."""
    place = Thin(tmp_path)
    place.warm.parent.mkdir(mode=0o700)
    place.serve = subprocess.Popen(["true"])
    elsewhere = ("--contain", "off", "--workspace", str(tmp_path / "elsewhere"))
    (tmp_path / "elsewhere").mkdir()
    try:
        # With a parent whose environment tells: ancestors do where there is no cgroup.
        script = f'env -i {sys.executable} -c "$0" "$1"; :'
        agent = place.start("sh", "-c", script, HOSTILE, str(place.warm), options=elsewhere)
        place.wait_for("listens")
        assert place.run("echo", "said")[:2] == (0, b"said\n")
        assert not (place.workspace / "was-asked").exists()
        agent.terminate()
        agent.wait(150)
    finally:
        place.close()


def test_a_request_that_is_none_is_refused(thin: Thin) -> None:
    folder, nowhere = os.open(thin.workspace, os.O_RDONLY), os.open(os.devnull, os.O_RDWR)
    streams = [nowhere] * 3
    assert _ask(thin.warm, b"f", [folder, nowhere]) == b"nnot a request"
    for request in (_request(b"another version", b"0"), _request(package_identity(), b"-1"), _request(b"", b"x")):
        assert _ask(thin.warm, b"f", [folder, request, *streams])[:1] == b"n"
    variables = [b"=".join(each) for each in os.environb.items()]
    for arguments in ([b"serve"], [b"run"], [b"run", b"--help"], [b"run", b"--", b"true", b"--"][:1]):
        request = _request(package_identity(), b"%d" % len(arguments), *arguments, *variables)
        assert _ask(thin.warm, b"f", [folder, request, *streams])[:1] == b"n"
    assert stat.S_ISSOCK(thin.warm.stat().st_mode)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        silent.connect(str(thin.warm))
        assert thin.run("echo", "fine")[:2] == (0, b"fine\n")


TAKEN_OVER = """
import os, signal, socket, subprocess, sys
from pathlib import Path
from interlock.adapters.command.thin_run import check_server
place, (here, there) = sys.argv[1], os.pipe()
hostile = socket.socket(socket.AF_UNIX)
hostile.bind(place)
first = os.fork()
if first == 0:
    hostile.listen()
    os._exit(0)
os.waitpid(first, 0)
innocent = None
while innocent is None or innocent.pid != first:
    if innocent is not None:
        innocent.kill()
        innocent.wait()
    Path("/proc/sys/kernel/ns_last_pid").write_text(str(first - 1))
    innocent = subprocess.Popen(["sleep", "300"], env={})
asked = socket.socket(socket.AF_UNIX)
asked.connect(place)
try:
    check_server(asked)
    print("accepted")
except OSError as error:
    print("refused:", error)
"""
"""Whoever began to listen is gone, and a process outside any run has its number."""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root says which number a process gets")
def test_a_number_that_another_process_has_by_now_is_no_proof(tmp_path: Path) -> None:
    words = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, "-c", TAKEN_OVER]
    done = subprocess.run([*words, str(tmp_path / "s")], capture_output=True, timeout=150, check=False)
    if b"ns_last_pid" in done.stderr:
        pytest.skip("this kernel does not let anybody say so")
    assert done.stdout == b"refused: another process has its number by now\n", done.stderr
