"""HTTP on both sides of the proxy, in the shapes that clients and servers give it."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpcore
import pytest

from interlock.adapters.proxy.client_connection import ClientConnection, ClientGone, ClientRequest
from interlock.adapters.proxy.upstream import UPSTREAM_ERRORS, Upstream

OK = b"HTTP/1.1 200 OK\r\n"


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, ClientConnection]]:
    """A client's socket, and the wire at its other end."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname(), timeout=150)
        accepted, _ = listener.accept()
    wire = ClientConnection(accepted)
    with closing(client), closing(wire):
        yield client, wire


def test_two_requests_in_one_packet_are_two(ends: tuple[socket.socket, ClientConnection]) -> None:
    client, wire = ends
    client.sendall(b"GET /one HTTP/1.1\r\nHost: x\r\n\r\nPOST /two HTTP/1.1\r\ncontent-length: 2\r\n\r\nhi")
    assert wire.receive() == ClientRequest("GET", "/one", [(b"host", b"x")], b"")
    wire.answer(200, "text/plain", b"1")
    assert wire.reusable
    assert wire.receive() == ClientRequest("POST", "/two", [(b"content-length", b"2")], b"hi")


def test_a_chunked_request_is_put_together(ends: tuple[socket.socket, ClientConnection]) -> None:
    client, wire = ends
    client.sendall(b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n")
    asked = wire.receive()
    assert asked is not None and asked.body == b"abc"


def test_a_client_that_waits_for_leave_to_send_its_body_gets_it(ends: tuple[socket.socket, ClientConnection]) -> None:
    client, wire = ends
    client.sendall(b"POST / HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n")
    answer = threading.Thread(target=lambda: (client.recv(100), client.sendall(b"hi")))
    answer.start()
    asked = wire.receive()
    answer.join()
    assert asked is not None and asked.body == b"hi"


def test_an_offer_of_another_protocol_is_answered_in_this_one(ends: tuple[socket.socket, ClientConnection]) -> None:
    client, wire = ends
    offer = b"connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAAA\r\n"
    client.sendall(b"POST / HTTP/1.1\r\n" + offer + b"content-length: 2\r\n\r\nhi" + b"GET /next HTTP/1.1\r\n\r\n")
    first, second = wire.receive(), wire.receive()
    assert first is not None and first.body == b"hi"
    assert second is not None and second.target == "/next"


def test_an_old_client_sees_the_end_by_the_end_of_the_connection(ends: tuple[socket.socket, ClientConnection]) -> None:
    client, wire = ends
    client.sendall(b"GET / HTTP/1.0\r\n\r\n")
    wire.receive()
    wire.begin(200, [(b"content-type", b"text/plain")], b"OK")
    wire.end(b"whole")
    assert not wire.reusable
    wire.close()
    with client.makefile("rb") as stream:
        got = stream.read()
    assert got == OK + b"content-type: text/plain\r\nconnection: close\r\n\r\nwhole"


def test_head_and_events_go_out_together_and_what_is_written_waits_for_nobody(
    ends: tuple[socket.socket, ClientConnection],
) -> None:
    client, wire = ends
    client.sendall(b"GET / HTTP/1.1\r\n\r\n")
    wire.receive()
    wire.begin(200, [], b"OK")
    wire.write(b"one")
    wire.flush()
    assert client.recv(1000) == OK + b"transfer-encoding: chunked\r\n\r\n3\r\none\r\n"
    wire.end(b"two")
    assert client.recv(1000) == b"3\r\ntwo\r\n0\r\n\r\n"


def test_a_question_for_the_head_alone_has_no_body(ends: tuple[socket.socket, ClientConnection]) -> None:
    client, wire = ends
    client.sendall(b"HEAD / HTTP/1.1\r\n\r\n")
    wire.receive()
    wire.begin(200, [(b"content-length", b"5")], b"OK")
    wire.end()
    assert wire.reusable and client.recv(1000) == OK + b"content-length: 5\r\n\r\n"


@pytest.mark.parametrize(
    "said", (b"hello\r\n\r\n", b"GET / HTTP/1.1\r\nno colon\r\n\r\n", b"CONNECT x:1 HTTP/1.1\r\n\r\n")
)
def test_who_does_not_speak_http_is_left(ends: tuple[socket.socket, ClientConnection], said: bytes) -> None:
    client, wire = ends
    client.sendall(said)
    with pytest.raises(ClientGone):
        wire.receive()


def test_an_answer_shorter_than_was_said_ends_the_connection(ends: tuple[socket.socket, ClientConnection]) -> None:
    client, wire = ends
    client.sendall(b"GET / HTTP/1.1\r\n\r\n")
    wire.receive()
    wire.begin(200, [(b"content-length", b"5")], b"OK")
    with pytest.raises(ClientGone):
        wire.end(b"four")
    assert not wire.reusable


class Server:
    """Answers every request on every connection with the same bytes, and may hang up then."""

    def __init__(self, answer: bytes, *, hangs_up: bool = False) -> None:
        self.answer, self.hangs_up = answer, hangs_up
        self.asked: list[bytes] = []
        self.connections = 0

    def serve(self, listener: socket.socket) -> None:
        while True:
            try:
                accepted, _ = listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._talk, args=(accepted,), daemon=True).start()

    def _talk(self, sock: socket.socket) -> None:
        with sock:
            while data := sock.recv(65536):
                self.asked.append(data)
                sock.sendall(self.answer)
                if self.hangs_up:
                    return


@contextmanager
def served(server: Server) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=server.serve, args=(listener,), daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


def asked(upstream: Upstream, url: str, method: str = "GET", flush: Callable[[], None] = lambda: None) -> bytes:
    with upstream.ask(method, url, [(b"x-api-key", b"k")], b"", flush) as response:
        return b"".join(response.stream)


@pytest.mark.parametrize(
    ("answer", "connections"),
    (
        (OK + b"content-length: 2\r\n\r\nhi", 1),
        (OK + b"transfer-encoding: chunked\r\n\r\n1\r\nh\r\n1\r\ni\r\n0\r\n\r\n", 1),
        (b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + OK + b"content-length: 2\r\n\r\nhi", 1),
        (OK + b"connection: close\r\ncontent-length: 2\r\n\r\nhi", 2),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nhi", 2),
    ),
    ids=("length", "chunked", "hints", "close", "old"),
)
def test_a_connection_is_kept_as_the_server_wishes(answer: bytes, connections: int) -> None:
    server, upstream = Server(answer), Upstream()
    with served(server) as url:
        assert [asked(upstream, f"{url}/a?b=c"), asked(upstream, url)] == [b"hi", b"hi"]
        upstream.close()
    assert server.connections == connections
    assert server.asked[0].startswith(b"GET /a?b=c HTTP/1.1\r\nhost: 127.0.0.1:") and b"x-api-key: k" in server.asked[0]
    assert server.asked[1].startswith(b"GET / HTTP/1.1\r\n")


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    server, upstream = Server(OK + b"\r\nhi", hangs_up=True), Upstream()
    with served(server) as url:
        assert asked(upstream, url) == asked(upstream, url) == b"hi"


def test_a_kept_connection_that_was_closed_meanwhile_is_not_used() -> None:
    server, upstream = Server(OK + b"content-length: 2\r\n\r\nhi", hangs_up=True), Upstream()
    with served(server) as url:
        assert asked(upstream, url) == b"hi"
        assert asked(upstream, url) == b"hi"
    assert server.connections == 2


def test_a_head_has_no_body_that_could_be_waited_for() -> None:
    server, upstream = Server(OK + b"content-length: 2\r\n\r\n"), Upstream()
    with served(server) as url:
        assert asked(upstream, url, "HEAD") == asked(upstream, url, "HEAD") == b""


@pytest.mark.parametrize(
    "answer",
    (b"", b"what?\r\n\r\n", OK + b"content-length: 5\r\n\r\nhi", OK + b"transfer-encoding: chunked\r\n\r\n5\r\nhi"),
    ids=("nothing", "nonsense", "short", "cut"),
)
def test_an_answer_that_is_none_is_trouble(answer: bytes) -> None:
    with served(Server(answer, hangs_up=True)) as url, pytest.raises(UPSTREAM_ERRORS):
        asked(Upstream(), url)


def test_the_client_is_served_before_more_is_waited_for() -> None:
    server, upstream, seen = Server(OK + b"content-length: 2\r\n\r\n"), Upstream(), list[str]()
    with served(server) as url:

        def flush() -> None:
            seen.append("flushed")
            server.answer = b""
            raise ClientGone

        with pytest.raises(ClientGone):
            asked(upstream, url, flush=flush)
    assert seen == ["flushed"]


def test_a_proxy_of_the_environment_gets_the_whole_address(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(OK + b"content-length: 2\r\n\r\nhi")
    with served(server) as url:
        monkeypatch.setenv("http_proxy", url.replace("http://", "http://me:pa%20ss@"))
        monkeypatch.setenv("no_proxy", "")
        assert asked(Upstream(), "http://api.invalid/v1/x") == b"hi"
    assert server.asked[0].startswith(b"GET http://api.invalid/v1/x HTTP/1.1\r\nhost: api.invalid\r\n")
    assert b"proxy-authorization: Basic bWU6cGEgc3M=" in server.asked[0]


def test_a_proxy_is_asked_for_a_tunnel_and_may_refuse_it(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(b"HTTP/1.1 403 Forbidden\r\n\r\n")
    with served(server) as url:
        monkeypatch.setenv("https_proxy", url)
        monkeypatch.setenv("no_proxy", "")
        with pytest.raises(httpcore.ProxyError, match="403 Forbidden"):
            asked(Upstream(), "https://api.invalid/v1/x")
    assert server.asked[0] == b"CONNECT api.invalid:443 HTTP/1.1\r\nhost: api.invalid:443\r\n\r\n"


def test_a_tunnel_carries_a_request_in_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run([*make.split(), *names], cwd=tmp_path, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    heads = []

    def tunnel(listener: socket.socket) -> None:
        sock, _ = listener.accept()
        heads.append(sock.recv(1000))
        sock.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        with context.wrap_socket(sock, server_side=True) as secure:
            heads.append(secure.recv(1000))
            secure.sendall(OK + b"content-length: 2\r\n\r\nhi")
            secure.recv(1000)

    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    monkeypatch.setenv("no_proxy", "")
    upstream = Upstream()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{listener.getsockname()[1]}")
        thread = threading.Thread(target=tunnel, args=(listener,))
        thread.start()
        assert asked(upstream, "https://localhost/v1/x") == b"hi"
        upstream.close()
        thread.join()
    assert heads[0].startswith(b"CONNECT localhost:443 ") and heads[1].startswith(b"GET /v1/x HTTP/1.1\r\n")
