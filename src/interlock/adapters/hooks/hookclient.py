"""The hook client without a C compiler: `python -I -S hookclient.py ...`; see hookclient.c, which does the same.

Imports only built-in modules: the cost of a hook is its start-up time.
"""

import _socket
import posix
import sys
import time

POLL_S = 0.1
ANSWERED, NOBODY, LOST, SILENT, REFUSED = range(5)
CHUNK = 65_536
SWITCHES = {b"--before", b"--closed"}
OPTIONS = {b"--deadline", b"--socket", b"--gate", b"--serve", b"--gates"}


def main(arguments: list[bytes]) -> int:
    given: dict[bytes, bytes] = {}
    client = b""
    words = iter(arguments)
    for word in words:
        if word in SWITCHES:
            given[word] = b"yes"
        elif word in OPTIONS:
            given[word] = next(words, b"")
        else:
            client = word
    environ = posix.environ
    closed = b"--before" in given and (b"--closed" in given or environ.get(b"INTERLOCK_FAIL") == b"closed")
    if not client:
        return give_up(closed, "the hook was called without the name of its client")
    payload = read_all().replace(b"\n", b" ").replace(b"\r", b" ")
    request = b'{"hook":{"client":"' + client + b'","payload":' + payload + b"}}\n"
    path = given.get(b"--socket") or environ.get(b"INTERLOCK_SOCKET")
    gate = given.get(b"--gate") or environ.get(b"INTERLOCK_GATE")
    if not path:
        path = given.get(b"--serve")
        gate = gate_of(given.get(b"--gates"), payload) or gate
    deadline_s = float(given.get(b"--deadline") or 10)
    until = time.monotonic() + deadline_s
    while True:
        result, reply = ask(path, request, deadline_s)
        if result == ANSWERED:
            while reply:
                reply = reply[posix.write(1, reply) :]
            return 0
        if is_shut(gate):
            until = time.monotonic() + deadline_s
        elif result == REFUSED:
            return give_up(closed, "the supervisor did not understand the hook")
        elif result == NOBODY:
            return give_up(closed, "this step is not supervised")
        elif result == SILENT or time.monotonic() > until:
            return give_up(closed, "the supervisor does not respond")
        time.sleep(POLL_S)


def read_all() -> bytes:
    data = b""
    while part := posix.read(0, CHUNK):
        data += part
    return data


def gate_of(folder: bytes | None, payload: bytes) -> bytes | None:
    """The gate of the session that the payload names."""
    _, found, rest = payload.partition(b'"session_id":')
    name = rest.lstrip(b' "').split(b'"', 1)[0]
    if not folder or not found or not name or not name.replace(b"-", b"").replace(b"_", b"").isalnum():
        return None
    return folder + b"/" + name


def is_shut(gate: bytes | None) -> bool:
    """Whether the gate file is shut; an unreadable one is, a missing one is not."""
    if not gate:
        return False
    try:
        file = posix.open(gate, posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    try:
        return b'"shut":false' not in posix.read(file, 512)
    except OSError:
        return True
    finally:
        posix.close(file)


def ask(path: bytes | None, request: bytes, deadline_s: float) -> tuple[int, bytes]:
    if not path:
        return NOBODY, b""
    sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    sock.setblocking(False)
    try:
        try:
            sock.connect(path)
        except BlockingIOError:
            return LOST, b""
        except OSError:
            return NOBODY, b""
        return converse(sock, request, deadline_s)
    finally:
        sock.close()


def converse(sock: _socket.socket, request: bytes, deadline_s: float) -> tuple[int, bytes]:
    received = b""
    sock.settimeout(deadline_s)
    try:
        sock.sendall(request)
        while True:
            *lines, received = received.split(b"\n")
            for line in lines:
                if line:
                    return (REFUSED if line.startswith(b'{"error":') else ANSWERED), line
            part = receive(sock, deadline_s)
            if not part:
                return LOST, b""
            received += part
    except TimeoutError:
        return SILENT, b""
    except OSError:
        return LOST, b""


def receive(sock: _socket.socket, deadline_s: float) -> bytes:
    """Receive data within the deadline; after a freeze, data may be waiting that arrived in time."""
    try:
        return sock.recv(CHUNK)
    except TimeoutError:
        sock.setblocking(False)
        try:
            return sock.recv(CHUNK)
        except BlockingIOError:
            raise TimeoutError from None
        finally:
            sock.settimeout(deadline_s)


def give_up(closed: bool, why: str) -> int:
    if not closed:
        return 0
    posix.write(2, b"interlock: %s, and this run is configured to fail closed. Do not try again.\n" % why.encode())
    return 2


if __name__ == "__main__":
    posix._exit(main([word.encode("utf-8", "surrogateescape") for word in sys.argv[1:]]))
