"""A fork in place of a new interpreter is to others what a new one would be."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import os, signal, socket, sys, threading
from pathlib import Path
from interlock.process import can_fork, fork, settle_in

def begin(work, *keep):
    process = fork()
    if process is not None:
        return process
    status = 1
    try:
        settle_in("some.module", (os.open(os.devnull, os.O_RDONLY), 1, 2), keep)
        work()
        status = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)

"""


def _run(program: str, *, flags: tuple[str, ...] = ()) -> str:
    command = [sys.executable, *flags, "-c", PROGRAM + program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_has_its_streams_and_what_it_is_handed_and_nothing_else() -> None:
    found = _run("""
secret = os.open(os.devnull, os.O_RDONLY)
here, there = socket.socketpair()
def is_open(number):
    try:
        return bool(os.fstat(number))
    except OSError:
        return False
def look():
    names = [number for number in range(200) if is_open(number)]
    there.sendall(repr((names == [0, 1, 2, there.fileno()], os.readlink("/proc/self/fd/0"))).encode())
child = begin(look, there.fileno())
there.close()
print(here.recv(1000).decode(), child.wait())
""")
    assert found == "(True, '/dev/null') 0\n"


def test_it_is_listed_under_its_own_name() -> None:
    found = _run("""
child = begin(lambda: print(Path("/proc/self/cmdline").read_bytes().rstrip(b"\\0").split(b"\\0")[-2:], flush=True))
child.wait()
print(b"some.module" in Path("/proc/self/cmdline").read_bytes().split(b"\\0"))
""")
    assert found == "[b'-m', b'some.module']\nFalse\n"


def test_nothing_is_imported_from_the_folder_that_it_runs_in() -> None:
    found = _run("child = begin(lambda: print('' in sys.path, flush=True)); child.wait(); print('' in sys.path)")
    assert found == "False\nTrue\n"
    both = _run("child = begin(lambda: print(sys.path, flush=True)); child.wait(); print(sys.path)", flags=("-P",))
    assert len(set(both.splitlines())) == 1


def test_how_it_ended_is_known_to_every_thread_that_waits() -> None:
    found = _run("""
import time
child = begin(lambda: time.sleep(600))
assert child.poll() is None
ended = []
waiting = [threading.Thread(target=lambda: ended.append(child.wait())) for _ in range(5)]
for thread in waiting:
    thread.start()
child.send_signal(signal.SIGKILL)
for thread in waiting:
    thread.join()
child.send_signal(signal.SIGKILL)
print(ended, child.poll())
""")
    assert found == "[-9, -9, -9, -9, -9] -9\n"


def test_an_error_ends_it_where_it_is() -> None:
    found = _run("""
try:
    child = begin(lambda: 1 / 0)
finally:
    print("once", flush=True)
print(child.wait())
""")
    assert found == "once\n1\n"


def test_not_beside_another_thread() -> None:
    found = _run("""
print(can_fork())
event = threading.Event()
threading.Thread(target=event.wait).start()
print(can_fork())
event.set()
""")
    assert found == "True\nFalse\n"
