"""A command that does everything to get away: run as `troublemaker.py MODE COUNTER READY-FD TAG`.

Every process of it counts in the shared file COUNTER while it runs, and writes a line to READY-FD once it does.
TAG is there to be found in /proc/PID/cmdline.
"""

import mmap
import os
import signal
import sys


def main() -> None:
    mode, counter, ready = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with open(counter, "r+b") as file:
        beats = mmap.mmap(file.fileno(), 4096)
    MODES[mode](beats, ready)


def beat_for_ever(beats: mmap.mmap, ready: int) -> None:
    say(ready)
    while True:
        beat(beats)


def family(beats: mmap.mmap, ready: int) -> None:
    """A child in a session of its own, one that forked twice, one that ignores SIGTERM, and one without environment."""
    if os.fork() == 0:
        os.setsid()
        beat_for_ever(beats, ready)
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        beat_for_ever(beats, ready)
    in_between = os.fork()
    if in_between == 0:
        os.setsid()
        if os.fork() == 0:
            beat_for_ever(beats, ready)
        os._exit(0)
    os.waitpid(in_between, 0)
    in_between = os.fork()
    if in_between == 0:
        os.execve(sys.executable, [sys.executable, "-I", "-S", __file__, "lost", *sys.argv[2:]], {})
    os.waitpid(in_between, 0)
    beat_for_ever(beats, ready)


def lost(beats: mmap.mmap, ready: int) -> None:
    """Without environment, in a session of its own, and without a parent."""
    os.setsid()
    if os.fork() == 0:
        beat_for_ever(beats, ready)
    os._exit(0)


def fork_loop(beats: mmap.mmap, ready: int) -> None:
    """A parent that forks children which end at once."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    say(ready)
    while True:
        beat(beats)
        try:
            if os.fork() == 0:
                os._exit(0)
        except BlockingIOError:
            continue


def fork_chain(beats: mmap.mmap, ready: int) -> None:
    """A process that is never there any more: each forks its successor and ends."""
    say(ready)
    while True:
        beat(beats)
        try:
            if os.fork():
                os._exit(0)
        except BlockingIOError:
            continue


def detached_chain(beats: mmap.mmap, ready: int) -> None:
    """The same in a session of its own, left behind by a root that has ended."""
    if os.fork() == 0:
        os.setsid()
        fork_chain(beats, ready)
    os._exit(0)


def fork_burst(beats: mmap.mmap, ready: int) -> None:
    """Doubles itself six times and goes on counting."""
    say(ready)
    for _ in range(6):
        os.fork()
        beat(beats)
    while True:
        beat(beats)


def deaf(beats: mmap.mmap, ready: int) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    beat_for_ever(beats, ready)


def eat_memory(beats: mmap.mmap, ready: int) -> None:
    """The child takes 150 MB; the root tells which signal ended it."""
    child = os.fork()
    if child == 0:
        eaten = [bytearray(os.urandom(4096) * 256) for _ in range(150)]
        os.write(ready, b"ate %d MB\n" % len(eaten))
        while True:
            signal.pause()
    _, status = os.waitpid(child, 0)
    os.write(ready, b"ended by %d\n" % os.WTERMSIG(status))
    beat_for_ever(beats, ready)


def have_children(beats: mmap.mmap, ready: int) -> None:
    """Twelve sleeping children; the root tells when one is refused or taken away."""
    children = 0
    while children < 12:
        try:
            if os.fork() == 0:
                while True:
                    signal.pause()
            children += 1
        except BlockingIOError:
            os.write(ready, b"refused after %d\n" % children)
            break
    else:
        os.wait()
        os.write(ready, b"lost one\n")
    beat_for_ever(beats, ready)


def say(ready: int) -> None:
    os.write(ready, b"%d\n" % os.getpid())


def beat(beats: mmap.mmap) -> None:
    beats[:8] = (int.from_bytes(beats[:8], "little") + 1 & 0xFFFFFFFFFFFF).to_bytes(8, "little")


MODES = {
    "one": beat_for_ever,
    "family": family,
    "lost": lost,
    "fork_loop": fork_loop,
    "fork_chain": fork_chain,
    "detached_chain": detached_chain,
    "fork_burst": fork_burst,
    "deaf": deaf,
    "eat_memory": eat_memory,
    "have_children": have_children,
}

if __name__ == "__main__":
    main()
