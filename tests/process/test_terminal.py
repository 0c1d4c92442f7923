"""The command has our terminal: it reads from it, and Ctrl-C reaches it and not its keeper."""

from __future__ import annotations

import os
import pty
import sys

FRONT = """
import signal, sys
from interlock.core import RunSpec
from interlock.process import spawn
signal.signal(signal.SIGINT, signal.SIG_IGN)
code = '''
import signal
def stop(*_):
    raise SystemExit(9)
signal.signal(signal.SIGINT, stop)
print("hello", input(), flush=True)
signal.pause()
'''
tree = spawn(RunSpec(run_id="test", argv=(sys.executable, "-c", code)), mechanism=sys.argv[1])
status = tree.wait(150)
print("status", status, tree.end(0).how, flush=True)
"""


def test_it_reads_from_the_terminal_and_hears_ctrl_c(mechanism: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child, terminal = pty.fork()
    if child == 0:
        os.execve(sys.executable, [sys.executable, "-c", FRONT, mechanism], environment)
    try:
        os.write(terminal, b"you\n")
        assert "hello you" in hear(terminal, "hello you")
        os.write(terminal, b"\x03")
        assert "status 9 gone" in hear(terminal, "status")
    finally:
        os.close(terminal)
        os.waitpid(child, 0)


def hear(terminal: int, word: str) -> str:
    """What the terminal shows until a line with the word is complete."""
    text = ""
    while not any(word in line for line in text.splitlines(keepends=True) if line.endswith("\n")):
        text += os.read(terminal, 1024).decode()
    return text
