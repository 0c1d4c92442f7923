"""A command starts as if we were not there, only contained."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import interlock
from interlock.core import BadInput, Limits, RunSpec
from interlock.process import ProcessTree, abilities, cgroup_hierarchy, spawn
from interlock.process.process_family import MARKER

from ..waiting import until


def run(mechanism: str, *argv: str, **options: object) -> tuple[bytes, int | None]:
    """What a command prints, and its exit status."""
    tree = spawn(
        RunSpec(run_id="test", argv=argv, cwd=str(options.pop("cwd", None) or Path.cwd())),
        mechanism=mechanism,  # type: ignore[arg-type]
        stdout=subprocess.PIPE,
        **options,  # type: ignore[arg-type]
    )
    assert tree.stdout is not None
    with tree.stdout as stdout:
        said = stdout.read()
    status = tree.wait(150)
    tree.end(0)
    return said, status


def test_the_exit_status_is_the_commands_own(mechanism: str) -> None:
    assert run(mechanism, "sh", "-c", "exit 7")[1] == 7
    assert run(mechanism, "sh", "-c", "kill -TERM $$")[1] == -signal.SIGTERM


KILLED_AS_IT_STARTS = """
import os, signal, sys
from pathlib import Path
from interlock.core import RunSpec
from interlock.process import spawn

def known(tree):
    assert tree.root.there(), tree
    os.kill(os.getpid(), signal.SIGKILL)

spawn(RunSpec(run_id="test", argv=("touch", "it-ran"), cwd=os.getcwd()), mechanism=sys.argv[1], on_known=known)
"""


def test_a_command_whose_starter_is_killed_before_it_is_known_never_runs(mechanism: str, tmp_path: Path) -> None:
    starter = subprocess.Popen([sys.executable, "-c", KILLED_AS_IT_STARTS, mechanism], cwd=tmp_path,
                               stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})  # fmt: skip
    # Closed when everything has ended that it started.
    said, _ = starter.communicate(timeout=150)
    assert (said, starter.returncode) == (b"", -signal.SIGKILL)
    assert not (tmp_path / "it-ran").exists()


def test_the_environment_is_what_was_given_and_the_marker(mechanism: str) -> None:
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "odd-name%%": "a=b\nc", "EMPTY": ""}
    said, _ = run(mechanism, "cat", "/proc/self/environ", env=env)
    found = dict(entry.split(b"=", 1) for entry in said.split(b"\0") if entry)
    assert found.pop(MARKER.encode())
    assert found == {key.encode(): value.encode() for key, value in env.items()}


def test_a_tree_inside_a_tree_has_both_markers(mechanism: str) -> None:
    said, _ = run(mechanism, "sh", "-c", f"echo ${MARKER}", env={**os.environ, MARKER: "outer"})
    outer, inner = said.decode().strip().split(":")
    assert outer == "outer"
    assert len(inner) == 16


def test_signals_are_as_in_a_fresh_process(mechanism: str) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        said, _ = run(mechanism, "cat", "/proc/self/status")
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    status = dict(line.split(":\t", 1) for line in said.decode().splitlines())
    # From 32 on they are the C library's own, and whoever started us may have touched them.
    assert int(status["SigBlk"], 16) & ORDINARY == 0
    assert int(status["SigIgn"], 16) & ORDINARY == 0


ORDINARY = (1 << 31) - 1
"""The bits of signals 1 to 31."""


def test_arguments_and_folder_arrive_unchanged(mechanism: str, tmp_path: Path) -> None:
    odd = ["", "two words", "quote'\"", "ünï", "-c", "--", "$HOME", "new\nline"]
    code = "import os, sys; sys.stdout.buffer.write(os.fsencode(repr((sys.argv[1:], os.getcwd()))))"
    said, _ = run(mechanism, sys.executable, "-I", "-S", "-c", code, *odd, cwd=tmp_path)
    assert said.decode() == repr((odd, str(tmp_path)))


def test_no_descriptor_leaks_into_the_command(mechanism: str) -> None:
    code = "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd')))"
    said, _ = run(mechanism, sys.executable, "-I", "-S", "-c", code)
    assert said.decode().strip() == "[0, 1, 2, 3]"


def test_it_is_in_its_cgroup_before_its_first_instruction(cgroup: str) -> None:
    said, _ = run(cgroup, "cat", "/proc/self/cgroup")
    assert any("/interlock-" in line for line in said.decode().splitlines() if line.startswith("0::"))


def test_a_command_stays_in_our_session(mechanism: str) -> None:
    code = "import os; print(os.getsid(0))"
    argv = (sys.executable, "-I", "-S", "-c", code)
    assert int(run(mechanism, *argv)[0]) == os.getsid(0)


@pytest.mark.parametrize(
    ("argv", "cwd", "words"),
    [
        (("no-such-command-here",), None, "cannot start 'no-such-command-here' (No such file or directory)"),
        (("/etc",), None, "cannot start '/etc' (Permission denied)"),
        (("true",), "/no/such/folder", "/no/such/folder: cannot start in this folder"),
        ((), None, "there is no command"),
    ],
)
def test_what_cannot_be_started_says_so_and_leaves_nothing(
    mechanism: str, argv: tuple[str, ...], cwd: str | None, words: str
) -> None:
    own = cgroup_hierarchy.own_folder("cgroup2")
    before = set(own.glob("interlock-*")) if own else set()
    with pytest.raises(BadInput) as raised:
        spawn(RunSpec(run_id="test", argv=argv, cwd=cwd), mechanism=mechanism, limits=Limits(max_processes=99))  # type: ignore[arg-type]
    assert words in str(raised.value)
    # Tests beside this one make folders too; those have processes in them or go away.
    until("no folder of ours is left", lambda: not own or not (set(own.glob("interlock-*")) - before))


def test_abilities_say_what_would_hold_here() -> None:
    found = {ability.name: ability for ability in abilities()}
    assert set(found) == {"freeze", "end", "memory", "processes", "cpu"}
    assert all(ability.why for ability in found.values())
    assert found["freeze"].by in ("kernel", "signals")


AS_NOBODY = """
import os, subprocess, sys
from interlock.core import RunSpec
from interlock.process import abilities, spawn
os.setgroups([]); os.setgid(65534); os.setuid(65534)
candidates = (sys.executable, os.path.realpath(sys.executable), "/usr/bin/python3")
sys.executable = next((path for path in candidates if os.access(path, os.X_OK)), sys.executable)
print(abilities()[0].by)
spec = RunSpec(run_id="test", argv=("sh", "-c", "setsid sleep 600 & echo ready; wait"), cwd="/")
tree = spawn(spec, stdout=subprocess.PIPE)
tree.stdout.readline()
how = tree.freeze()
print(tree.mechanism, how.processes, how.held, tree.frozen(), tree.end(0).left)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become an ordinary user")
def test_an_ordinary_user_gets_the_process_tree() -> None:
    with tempfile.TemporaryDirectory() as folder:
        # Where the sources are, ordinary users may not be allowed.
        Path(folder).chmod(0o755)
        shutil.copytree(Path(interlock.__file__).parent, Path(folder, "interlock"))
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([folder, *sys.path])},
            capture_output=True,
            text=True,
            timeout=150,
        )
    if "Permission denied" in done.stderr:
        pytest.skip("the interpreter is hidden from ordinary users here")
    assert done.stderr == ""
    assert done.stdout.split("\n") == ["signals", "signals 2 True True ()", ""]


IN_PRIVATE_MOUNTS = """
import subprocess, sys
from pathlib import Path
from interlock.core import RunSpec
from interlock.process import abilities, cgroup_hierarchy, spawn
for mount in cgroup_hierarchy.read_mounts(Path("/proc/self/mountinfo").read_text()):
    if mount.kind == "cgroup2":
        subprocess.run(["umount", mount.point], check=True)
subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)
with spawn(RunSpec(run_id="other", argv=("sleep", "600"))) as other:
    print(abilities()[0].why)
    print(other.mechanism, Path("/run/interlock/cgroup2").is_mount())
print(other.alive(), Path("/run/interlock").exists(), "cgroup2" in Path("/proc/self/mountinfo").read_text())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_as_root_cgroup_v2_is_mounted_where_it_is_missing_as_long_as_a_tree_uses_it() -> None:
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", sys.executable, "-c", IN_PRIVATE_MOUNTS],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=150,
    )
    if "umount" in done.stderr or "unshare" in done.stderr:
        pytest.skip("mounts cannot be changed here")
    why, *lines = done.stdout.splitlines()
    assert why.startswith("cgroup v2 in /run/interlock/cgroup2"), done.stderr
    assert lines == ["cgroup True", "False False False"], done.stderr


WITHOUT_CGROUPS = """
import subprocess, sys
from pathlib import Path
from interlock.core import InvalidState, RunSpec
from interlock.process import abilities, cgroup_hierarchy, spawn
for mount in cgroup_hierarchy.read_mounts(Path("/proc/self/mountinfo").read_text()) if sys.argv[1:] else ():
    subprocess.run(["mount", "-o", "remount,bind,ro", mount.point], check=True)
try:
    spawn(RunSpec(run_id="test", argv=("true",)), mechanism="cgroup")
except InvalidState as error:
    print(abilities()[0].by, error)
"""


def test_a_cgroup_that_cannot_be_had_is_an_error_where_it_was_asked_for() -> None:
    private = ["unshare", "--mount", "--propagation", "private"] if abilities()[0].by == "kernel" else []
    done = subprocess.run(
        [*private, sys.executable, "-c", WITHOUT_CGROUPS, *private],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=150,
    )
    if "mount" in done.stderr or "unshare" in done.stderr:
        pytest.skip("mounts cannot be changed here")
    assert done.stdout.startswith("signals ") and "no cgroup" in done.stdout, done


def test_leaving_the_with_block_ends_the_tree(mechanism: str) -> None:
    with spawn(RunSpec(run_id="test", argv=("sleep", "600")), mechanism=mechanism) as tree:  # type: ignore[arg-type]
        assert isinstance(tree, ProcessTree)
        assert tree.alive()
    assert not tree.alive()


def test_a_program_is_looked_for_in_each_folder_of_its_path(mechanism: str, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, mode in ((first, 0o600), (second, 0o700)):
        folder.mkdir()
        (folder / "tool").write_text("#!/bin/sh\necho $0")
        (folder / "tool").chmod(mode)
    path = ":".join(map(str, (tmp_path / "gone", first / "tool", first, second)))
    assert run(mechanism, "tool", env={"PATH": path}) == (f"{second}/tool\n".encode(), 0)
    assert run(mechanism, "tool", env={"PATH": f"{first}:"}, cwd=second) == (b"tool\n", 0)
    assert run(mechanism, "./tool", env={}, cwd=second) == (b"./tool\n", 0)
    assert run(mechanism, "true", env={}) == (b"", 0)
    with pytest.raises(BadInput, match="Permission denied"):
        run(mechanism, "tool", env={"PATH": f"{first}:{tmp_path}"})
    with pytest.raises(BadInput, match="No such file"):
        run(mechanism, "tool", env={"PATH": str(tmp_path)})
