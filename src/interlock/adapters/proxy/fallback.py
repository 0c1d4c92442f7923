"""When supervision is lost permanently, the agent's requests still have to go somewhere."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import msgspec

from .environment import Proxied


def relay_without_owner(listener: socket.socket, proxied: Proxied | None, gate: Path) -> subprocess.Popen[bytes] | None:
    """Start the plain relay on the run's own socket; its starter ends it."""
    if proxied is None:
        return None
    number = listener.fileno()
    command = [sys.executable, "-P", "-m", "interlock.adapters.proxy.passthrough", str(number), str(gate)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(number,),
        start_new_session=True,
    )
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(proxied) + b"\n")
    process.stdin.close()
    return process
