"""The way out of a fence: allowed hosts work in every protocol, all others are refused, and which they were is heard."""

from __future__ import annotations

import shutil
import socket
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from interlock.adapters.proxy.egress import Egress, NotTls, read_server_name
from interlock.config.hosts import parse_host, parse_hosts

from .tls_server import PREFACE, SETTINGS, TlsServer

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")


class Way:
    """An egress on a unix socket, a TLS server behind it, and what was refused."""

    def __init__(self, root: Path) -> None:
        self.server = TlsServer(root)
        self.refused: list[tuple[str, int, str]] = []
        self.path = root / "egress"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen()
        port = self.server.port
        hosts = parse_hosts((f"localhost:{port}", f"*.localhost.test:{port}", "127.0.0.1"), (f"127.0.0.2:{port}",))
        self.egress = Egress(self.listener, hosts, lambda *what: self.refused.append(what))
        self.egress.start()

    def ask(self, words: bytes) -> socket.socket:
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(150)
        client.connect(str(self.path))
        client.sendall(words)
        return client

    def connect(self, host: str, port: int | None = None) -> tuple[bytes, socket.socket]:
        client = self.ask(f"CONNECT {host}:{port or self.server.port} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
        return client.recv(4096), client

    def tls(self, name: str, protocol: str) -> ssl.SSLSocket:
        said, client = self.connect("localhost")
        assert said.startswith(b"HTTP/1.1 200"), said
        context = ssl.create_default_context(cafile=str(self.server.certificate))
        context.set_alpn_protocols([protocol])
        return context.wrap_socket(client, server_hostname=name)


@pytest.fixture
def way(tmp_path: Path) -> Iterator[Way]:
    made = Way(tmp_path)
    yield made
    made.egress.close()
    made.listener.close()
    made.server.close()


def test_http_1_streams_through_a_tunnel(way: Way) -> None:
    with way.tls("localhost", "http/1.1") as client:
        client.sendall(b"GET /stream HTTP/1.1\r\nhost: localhost\r\n\r\n")
        said = b""
        while not said.endswith(b"one"):
            said += client.recv(4096)
        client.sendall(b"two")
        assert client.recv(4096) == b"two"
    assert way.refused == []


def test_http_2_goes_through_a_tunnel(way: Way) -> None:
    with way.tls("localhost", "h2") as client:
        assert client.selected_alpn_protocol() == "h2"
        client.sendall(PREFACE)
        assert client.recv(4096) == SETTINGS
        client.sendall(SETTINGS)
        assert client.recv(4096) == SETTINGS


def test_a_websocket_goes_through_a_tunnel(way: Way) -> None:
    with way.tls("localhost", "http/1.1") as client:
        client.sendall(b"GET /ws HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n")
        assert client.recv(4096).startswith(b"HTTP/1.1 101")
        client.sendall(b"\x81\x02hi")
        assert client.recv(4096) == b"\x81\x02hi"


@pytest.mark.parametrize("host", ["example.test", "127.0.0.3", "[::1]", "localhost.evil.test", "169.254.169.254"])
def test_a_host_that_is_not_listed_is_refused_and_heard_of(way: Way, host: str) -> None:
    said, _ = way.connect(host)
    assert said.startswith(b"HTTP/1.1 403") and b"contain.hosts" in said
    assert [one[:2] for one in way.refused] == [(host.strip("[]"), way.server.port)]
    assert way.server.connections == 0


def test_the_models_api_is_refused_even_if_it_is_listed(way: Way) -> None:
    said, _ = way.connect("127.0.0.2")
    assert said.startswith(b"HTTP/1.1 403") and b"base URL" in said


def test_a_listed_host_on_another_port_is_refused(way: Way) -> None:
    assert way.connect("localhost", 22)[0].startswith(b"HTTP/1.1 403")


def test_a_tunnel_whose_tls_is_for_another_host_is_cut_before_the_host_sees_it(way: Way) -> None:
    with pytest.raises((ssl.SSLError, OSError)):
        way.tls("other.test", "http/1.1")
    (refused,) = way.refused
    assert "other.test" in refused[2]


@pytest.mark.parametrize("words", [b"SSH-2.0-x\r\n", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x00\x02\x02\x00"])
def test_a_tunnel_that_does_not_begin_with_tls_is_cut(way: Way, words: bytes) -> None:
    said, client = way.connect("localhost")
    assert said.startswith(b"HTTP/1.1 200")
    client.sendall(words)
    assert client.recv(4096) == b""
    assert len(way.refused) == 1


def test_a_name_below_a_pattern_must_not_lead_to_this_machine(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    here = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", way.server.port))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: here)
    said, _ = way.connect("a.localhost.test")
    assert said.startswith(b"HTTP/1.1 403") and b"private address" in said


def test_one_plain_request_is_relayed_and_a_second_one_on_its_connection_is_not(way: Way) -> None:
    asked: list[str] = []

    class Plain(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(f"{self.path} {self.headers['host']} {self.rfile.read(2).decode()}")
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"fine")

        def log_message(self, *_: object) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Plain) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        hosts = parse_hosts((f"127.0.0.1:{port}",))
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(way.path) + "2")
        listener.listen()
        egress = Egress(listener, hosts, lambda *what: way.refused.append(what))
        egress.start()
        client = socket.socket(socket.AF_UNIX)
        client.connect(str(way.path) + "2")
        client.settimeout(150)
        line = f"POST http://127.0.0.1:{port}/x HTTP/1.1\r\nhost: elsewhere\r\ncontent-length: 2\r\n\r\nhi".encode()
        client.sendall(line + b"POST http://evil.test/ HTTP/1.1\r\nhost: evil.test\r\ncontent-length: 0\r\n\r\n")
        said = b""
        while data := client.recv(4096):
            said += data
        egress.close()
        listener.close()
        server.shutdown()
    assert said.startswith(b"HTTP/1.0 200") and said.endswith(b"fine")
    assert asked == [f"/x 127.0.0.1:{port} hi"]


def test_what_is_no_request_to_a_proxy_is_refused(way: Way) -> None:
    assert way.ask(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").recv(4096).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "headers",
    [
        b"x: 1\nhost: other.test",
        b"x: 1\rhost: other.test",
        b"x: 1\r\n folded: 1",
        b"host : other.test",
        b"no colon\r\nx: 1",
        b"x: 1\r\nno colon",
        b"x: \0",
    ],
)
def test_a_head_that_a_server_may_read_as_another_request_is_refused(way: Way, headers: bytes) -> None:
    line = f"GET http://localhost:{way.server.port}/ HTTP/1.1\r\n".encode()
    assert way.ask(line + headers + b"\r\n\r\n").recv(4096).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "entry", ["*", "*.com", "a b", "http://x", "x:0", "x:99999", "-x.test", "a..b", "*.127.0.0.1", ""]
)
def test_an_entry_that_is_no_host_is_an_error(entry: str) -> None:
    with pytest.raises(ValueError, match="is not a host"):
        parse_host(entry)


def test_a_hello_that_is_split_over_records_and_packets_is_joined() -> None:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="a.test")
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    whole = outgoing.read()
    body = whole[5:]
    split = b"".join(whole[:3] + len(part).to_bytes(2, "big") + part for part in (body[:50], body[50:]))
    for hello in (whole, split):
        assert read_server_name(hello) == "a.test"
        assert {read_server_name(hello[:size]) for size in range(len(hello))} == {None}
    with pytest.raises(NotTls):
        read_server_name(whole[:5] + b"\x02" + whole[6:])
