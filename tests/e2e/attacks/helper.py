"""What a shell cannot do by itself. Runs inside, with nothing of ours to import; exit status 0 is success."""

import ctypes
import fcntl
import json
import os
import pty
import signal
import socket
import sys
import time
import uuid
from pathlib import Path


def bind(path: str) -> bool:
    os.unlink(path)  # noqa: PTH108
    socket.socket(socket.AF_UNIX).bind(path)
    return True


def connect(path: str) -> bool:
    socket.socket(socket.AF_UNIX).connect(path.replace("@", "\0", 1) if path.startswith("@") else path)
    return True


def family(number: str) -> bool:
    """Whether such a socket can be made; it is not used."""
    socket.socket(int(number), socket.SOCK_STREAM).close()
    return True


def keyring() -> bool:
    """Whether the user's keyring in the kernel can be asked for."""
    number = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
    return ctypes.CDLL(None).syscall(number, 0, -4, 0) >= 0


def tcp(port: str) -> bool:
    socket.create_connection(("127.0.0.1", int(port)), timeout=5)
    return True


def route() -> bool:
    """Whether a packet to elsewhere would leave; none is sent."""
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("192.0.2.1", 9))
    return True


def forge() -> bool:
    return "success" in send({"schema": 0, "type": "RESULT", "request_id": "x", "outcome": "success"})


def trace(pid: str) -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.ptrace(16, int(pid), 0, 0) == 0


def queue() -> bool:
    """SIGUSR2 to the first process, by rt_sigqueueinfo with a sender that is not ours."""
    info = (ctypes.c_int * 32)()
    info[0], info[2], info[4] = signal.SIGUSR2, -1, 0
    number = {"x86_64": 129, "aarch64": 138}[os.uname().machine]
    return ctypes.CDLL(None).syscall(number, 1, signal.SIGUSR2, info) == 0


def order(command: str) -> bool:
    return "success" in ask(command)


def ask(command: str) -> str:
    payload = {"approve": {"step": 0}, "rollback": {"to": "x"}, "escalate": {"model": "claude-opus-4-5"}}.get(
        command, {}
    )
    request = {
        "schema": 0, "type": "REQUEST", "request_id": str(uuid.uuid4()), "command": command,
        "target": {"run_id": os.environ["INTERLOCK_RUN"]}, "timestamp": "2026-01-01T00:00:00Z", "payload": payload,
    }  # fmt: skip
    return send(request)


def send(message: dict) -> str:  # type: ignore[type-arg]
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(os.environ["CONTROL"])
    sock.sendall(json.dumps(message).encode() + b"\n")
    sock.settimeout(5)
    said = sock.recv(65536).decode()
    print(said)
    return said


def sign() -> bool:
    """Whether a message can be signed so that the hub takes it for the person's."""
    from interlock.core import InterlockError
    from interlock.core.keys import is_signed_by, load_key

    for name in ("NAMED_KEY", "KEY"):
        try:
            key = load_key(Path(os.environ[name]))
        except InterlockError as error:
            print(error)
            continue
        if key is not None and is_signed_by(os.environ["PUBLIC"], b"resume", key.sign(b"resume")):
            return True
    return False


def orphan() -> bool:
    """Connect in a process that ends, and speak in one that stays."""
    here, there = socket.socketpair()
    if os.fork() == 0:
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(os.environ["CONTROL"])
        socket.send_fds(there, [b"x"], [sock.fileno()])
        os._exit(0)
    _, fds, _, _ = socket.recv_fds(here, 1, 1)
    os.wait()
    time.sleep(0.1)
    sock = socket.socket(fileno=fds[0])
    request = {"schema": 0, "type": "REQUEST", "request_id": str(uuid.uuid4()), "command": "resume",
               "target": {"run_id": os.environ["INTERLOCK_RUN"]}, "timestamp": "2026-01-01T00:00:00Z", "payload": {}}  # fmt: skip
    sock.sendall(json.dumps(request).encode() + b"\n")
    sock.settimeout(5)
    return b"success" in sock.recv(65536)


def bomb() -> bool:
    """256 processes that do nothing useful for some seconds."""
    first, end = os.getpid(), time.time() + 6
    for _ in range(8):
        os.fork()
    while os.getpid() != first and time.time() < end:
        time.sleep(0.5)
    return True


def hoard() -> bool:
    """Half a gigabyte, for some seconds."""
    if os.fork() == 0:
        kept = b"x" * (512 << 20)
        time.sleep(6)
        os._exit(len(kept) & 1)
    return True


def tiocsti() -> bool:
    pid, _ = pty.fork()
    if pid == 0:
        try:
            fcntl.ioctl(0, 0x5412, b"x")
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


if __name__ == "__main__":
    try:
        done = globals()[sys.argv[1]](*sys.argv[2:])
    except OSError as error:
        print(error)
        done = False
    sys.exit(0 if done else 1)
