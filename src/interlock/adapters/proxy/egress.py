"""Egress: the forward proxy of a fenced run, which connects only to hosts on the allow-list."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import re
import socket
import ssl
import threading
from collections.abc import Callable
from urllib.parse import urlsplit

import httpcore
import httptools

from ...config import AllowedHosts, HostPattern, is_address, normal_name
from .client_connection import Acceptor
from .upstream import UPSTREAM_ERRORS, Route

log = logging.getLogger("interlock")

CHUNK = 65_536
HEAD_S = 30.0
MOST_HEAD = 65_536
MOST_CONNECTIONS = 512

NOT_PLAIN = re.compile(rb"\r(?!\n)|(?<!\r)\n|\0|\r\n[ \t]|\r\n[^\r\n:]*[ \t]+:|\r\n(?=[^\r\n])[^:\r\n]*(?:\r\n|\Z)")
"""An ambiguous request head: a line with another line end, folded, with a space before its colon, or without one."""

Refused = Callable[[str, int, str], None]
"""Called with a refused host, its port and the reason."""


class Refusal(Exception):
    """Raised for a refused request; has the HTTP status for the client, empty if none can be sent."""

    def __init__(self, host: str, port: int, why: str, status: str = "403 Forbidden") -> None:
        super().__init__(why)
        self.host, self.port, self.status = host, port, status


class Egress:
    """Serves a given listening socket, with a thread for each connection."""

    def __init__(self, listener: socket.socket, hosts: AllowedHosts, on_refused: Refused) -> None:
        self._hosts, self._on_refused = hosts, on_refused
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._acceptor = Acceptor(listener, self._accept, "egress")

    def start(self) -> None:
        self._acceptor.start()

    def close(self) -> None:
        """Accept no more requests, and cut connections."""
        self._acceptor.close()
        with self._lock:
            connections = list(self._open)
        for one in connections:
            _hang_up(one)

    def _accept(self, client: socket.socket) -> None:
        with self._lock:
            full = len(self._open) >= MOST_CONNECTIONS
            if not full:
                self._open.add(client)
        if full:
            client.close()
        else:
            self._acceptor.serve(lambda: self._serve(client))

    def _serve(self, client: socket.socket) -> None:
        try:
            client.settimeout(HEAD_S)
            self._answer(client)
        except Refusal as refusal:
            self._on_refused(refusal.host, refusal.port, str(refusal))
            _say(client, refusal.status, f"interlock: {refusal}")
        except UPSTREAM_ERRORS as error:
            _say(client, "502 Bad Gateway", f"interlock: the host cannot be reached ({type(error).__name__}: {error})")
        except (OSError, httptools.HttpParserError, ValueError):
            # The client has hung up, or does not speak HTTP.
            _say(client, "400 Bad Request", "interlock: not a request to a proxy")
        finally:
            with self._lock:
                self._open.discard(client)
            _hang_up(client)
            client.close()

    def _answer(self, client: socket.socket) -> None:
        head, rest = _read_head(client)
        line, _, headers = head.partition(b"\r\n")
        method, target, _ = line.decode("latin-1").split(" ", 2)
        if method == "CONNECT":
            parts = urlsplit(f"//{target}")
            host, port = normal_name(parts.hostname or ""), parts.port or 443
            self._tunnel(client, host, port, rest)
            return
        parts = urlsplit(target)
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError("not a request to a proxy")
        host, port = normal_name(parts.hostname), parts.port or 80
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._relay(client, host, port, f"{method} {path} HTTP/1.1".encode("latin-1"), headers, rest)

    def _tunnel(self, client: socket.socket, host: str, port: int, first: bytes) -> None:
        """Tunnel TLS to the requested host, and to no other one behind the same address."""
        upstream = self._connect(host, port)
        try:
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            name = None
            try:
                while (name := read_server_name(first)) is None:
                    data = client.recv(CHUNK)
                    if not data:
                        return
                    first += data
            except NotTls as error:
                raise Refusal(host, port, f"the tunnel to {host}:{port} is blocked: {error}", "") from None
            if normal_name(name) != host and not (not name and is_address(host)):
                why = f"the tunnel to {host}:{port} is blocked: its TLS server name is {name or 'missing'}"
                raise Refusal(host, port, why, "")
            upstream.sendall(first)
            _splice(client, upstream)
        finally:
            upstream.close()

    def _relay(self, client: socket.socket, host: str, port: int, line: bytes, headers: bytes, body: bytes) -> None:
        """Forward one plain request, and no second one on the same connection, which could be for another host."""
        kept, left = [], 0
        for header in headers.rstrip(b"\r\n").split(b"\r\n"):
            key, _, value = header.partition(b":")
            if key.lower() == b"content-length":
                left = int(value)
            if key.lower() == b"transfer-encoding":
                raise Refusal(host, port, "a request without a length is not relayed", "411 Length Required")
            if key.lower() not in (b"host", b"connection", b"keep-alive", b"upgrade") and not key.lower().startswith(
                b"proxy-"
            ):
                kept.append(header)
        authority = (f"[{host}]" if ":" in host else host) + (f":{port}" if port != 80 else "")
        upstream = self._connect(host, port)
        try:
            upstream.sendall(
                b"\r\n".join([line, b"host: " + authority.encode(), *kept, b"connection: close", b"", b""])
            )
            while True:
                upstream.sendall(body[:left])
                left -= len(body[:left])
                if left <= 0 or not (body := client.recv(CHUNK)):
                    break
            client.settimeout(None)
            while data := upstream.recv(CHUNK):
                client.sendall(data)
        finally:
            upstream.close()

    def _connect(self, host: str, port: int) -> socket.socket:
        """A connection to an allowed host, through the proxy of the user's environment, if any."""
        entry = self._hosts.find(host, port)
        if entry is None:
            denied = self._hosts.denies(host, port)
            why = "the model's API is reached through its base URL only" if denied else "it is not in contain.hosts"
            raise Refusal(host, port, f"{host}:{port} is blocked: {why}")
        route = Route("https", host, port)
        found = route.reach(None if route.proxied else _address(host, port, entry))
        sock = found.get_extra_info("socket")
        assert isinstance(sock, socket.socket)
        sock.settimeout(None)
        return sock


def _address(host: str, port: int, entry: HostPattern) -> str:
    """The address of a host. A name that only a pattern allows must not resolve to a private address."""
    try:
        found = [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except OSError as error:
        raise httpcore.ConnectError(str(error)) from None
    allowed = [one for one in found if not entry.below or ipaddress.ip_address(one.partition("%")[0]).is_global]
    if not allowed:
        raise Refusal(host, port, f"{host}:{port} is blocked: it leads to a private address")
    return allowed[0]


def _read_head(client: socket.socket) -> tuple[bytes, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        more = client.recv(CHUNK)
        if not more or len(data) > MOST_HEAD:
            raise ValueError("no request header")
        data += more
    head, _, rest = data.partition(b"\r\n\r\n")
    if NOT_PLAIN.search(head):
        # The server might parse it as another request, or one to another host.
        raise ValueError("an ambiguous request header")
    return head, rest


def _splice(one: socket.socket, other: socket.socket) -> None:
    """Copy bytes in both directions until both ends have finished."""
    one.settimeout(None)

    def pump(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(CHUNK):
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    back = threading.Thread(target=pump, args=(other, one), name="interlock-tunnel", daemon=True)
    back.start()
    pump(one, other)
    back.join()


def _say(client: socket.socket, status: str, words: str) -> None:
    body = words.encode() + b"\n"
    head = f"HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
    with contextlib.suppress(OSError):
        if status:
            client.sendall(head.encode("latin-1") + body)


def _hang_up(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


RECORD_HEADER, CLIENT_HELLO = 5, b"\1"


class NotTls(ValueError):
    """Raised for bytes that are not the beginning of a TLS connection."""


def read_server_name(data: bytes) -> str | None:
    """The TLS server name, empty if there is none; None while the ClientHello is incomplete."""
    if data[RECORD_HEADER : RECORD_HEADER + 1] not in (b"", CLIENT_HELLO):
        # OpenSSL would wait for the rest of the message.
        raise NotTls("it does not begin with a ClientHello")
    names: list[str] = []

    def refuse(connection: object, name: str | None, context: object) -> int:
        names.append(name or "")
        return ssl.ALERT_DESCRIPTION_HANDSHAKE_FAILURE

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # The server decides which versions it accepts.
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    context.sni_callback = refuse
    hello = ssl.MemoryBIO()
    hello.write(data)
    try:
        context.wrap_bio(hello, ssl.MemoryBIO(), server_side=True).do_handshake()
    except ssl.SSLWantReadError:
        return None
    except ssl.SSLError:
        if not names:
            raise NotTls("it does not begin with a ClientHello") from None
    return names[0]
