"""Forwards ports in a fenced command's own network namespace to unix sockets outside.

init_process.py loads it in an isolated interpreter, so it needs only the standard library.
"""

import socket
import threading

CHUNK = 65_536


def listen(bridges: list[str]) -> list[tuple[socket.socket, str]]:
    """A listening socket in this network namespace for each PORT=PATH."""
    found = []
    for bridge in bridges:
        port, _, path = bridge.partition("=")
        found.append((socket.create_server(("127.0.0.1", int(port)), backlog=128), path))
    return found


def serve(listeners: list[tuple[socket.socket, str]]) -> None:
    """Forward every connection to the outside socket of its port."""
    for listener, path in listeners:
        threading.Thread(target=accept, args=(listener, path), daemon=True).start()


def accept(listener: socket.socket, path: str) -> None:
    while True:
        try:
            client, _ = listener.accept()
            threading.Thread(target=bridge, args=(client, path), daemon=True).start()
        except (OSError, RuntimeError):
            # Too many connections or threads: the next one may work.
            continue


def bridge(client: socket.socket, path: str) -> None:
    server = socket.socket(socket.AF_UNIX)
    try:
        server.connect(path)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        back = threading.Thread(target=pump, args=(server, client), daemon=True)
        back.start()
        pump(client, server)
        back.join()
    except (OSError, RuntimeError):
        # Nobody listens outside: the client sees a closed connection.
        return
    finally:
        client.close()
        server.close()


def pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(CHUNK):
            target.sendall(data)
    except OSError:
        # One end is gone; the other is closed below.
        pass
    try:
        target.shutdown(socket.SHUT_WR)
    except OSError:
        return
