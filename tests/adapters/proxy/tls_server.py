"""A TLS server on loopback that answers in the protocol that its client speaks: HTTP/1.1, HTTP/2, WebSocket."""

from __future__ import annotations

import contextlib
import shlex
import socket
import ssl
import subprocess
import threading
from pathlib import Path

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = b"\0\0\0\4\0\0\0\0\0"
MAKE = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    " -addext subjectAltName=DNS:localhost,DNS:other.test -keyout key.pem -out cert.pem"
)


class TlsServer:
    """Streams an answer in two parts: the second one when the client has said that it has the first."""

    def __init__(self, root: Path) -> None:
        subprocess.run(shlex.split(MAKE), cwd=root, check=True, capture_output=True)
        self.certificate = root / "cert.pem"
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(self.certificate, root / "key.pem")
        self._context.set_alpn_protocols(["h2", "http/1.1"])
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, raw: socket.socket) -> None:
        with contextlib.suppress(OSError), self._context.wrap_socket(raw, server_side=True) as client:
            if client.selected_alpn_protocol() == "h2":
                assert client.recv(1024).startswith(PREFACE)
                client.sendall(SETTINGS)
                client.sendall(client.recv(1024))
                return
            asked = client.recv(65536)
            if b"upgrade: websocket" in asked.lower():
                client.sendall(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n")
                client.sendall(client.recv(1024))
                return
            client.sendall(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\none")
            if b"/stream" in asked:
                client.sendall(client.recv(1024))
