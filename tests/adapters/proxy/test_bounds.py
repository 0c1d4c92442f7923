"""What comes through the proxy is bounded: bombs, endless answers, calls that are cut off, clients that never ask."""

from __future__ import annotations

import gzip
import resource
import socket
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard

from interlock.adapters.proxy import body as bodies
from interlock.adapters.proxy import client_connection, server
from interlock.adapters.proxy.body import MOST_PLAIN, EventParser, plain

from ...waiting import eventually
from .conftest import TOKEN, SupervisedRun

BOMB = b"\0" * (8 * MOST_PLAIN)
REQUEST = b'{"model":"m","stream":true,"tools":[{"name":"bash"}],"messages":[{"role":"user","content":"hi"}]}'


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [("gzip", gzip.compress(BOMB)), ("deflate", zlib.compress(BOMB)), ("zstd", zstandard.compress(BOMB))],
)
def test_a_bomb_is_refused_in_bounded_memory(encoding: str, packed: bytes) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match="longer than 32 MB"):
        plain(packed, encoding)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 3 * MOST_PLAIN // 1024
    small = gzip.compress(b"hello")
    assert plain(small, "gzip") == b"hello"
    with pytest.raises(ValueError, match="cut off"):
        plain(small[:-9], "gzip")


class Server:
    """An API that says what it is told to, and hangs up."""

    def __init__(self, answer: Callable[[], Iterator[bytes]]) -> None:
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._listener.accept()
            except OSError:
                return
            with line:
                line.recv(65_536)
                try:
                    for piece in self._answer():
                        line.sendall(piece)
                except OSError:
                    continue

    def close(self) -> None:
        self._listener.close()


def ask(supervised: SupervisedRun) -> bytes:
    """One request, and everything until the connection ends."""
    with socket.create_connection(("127.0.0.1", supervised.listener.getsockname()[1])) as line:
        head = f"POST /{TOKEN}/anthropic/v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: {len(REQUEST)}\r\n\r\n"
        line.sendall(head.encode() + REQUEST)
        line.settimeout(150)
        said = bytearray()
        while data := line.recv(65_536):
            said += data
            if said.endswith(b"0\r\n\r\n") or (b"content-length" in said and said.endswith(b"}")):
                break
        return bytes(said)


def is_answered(supervised: SupervisedRun) -> bool:
    try:
        return ask(supervised).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


def event(text: str) -> bytes:
    return f"data: {text}\n\n".encode()


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
START = event('{"type":"message_start","message":{"id":"m","usage":{"input_tokens":1,"output_tokens":1}}}')
CALL = event(
    '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"bash","input":{}}}'
)
PART = event('{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\\"comm"}}')


def test_a_stream_that_is_cut_in_the_middle_of_a_call_is_cut_for_the_client_too(tmp_path: Path) -> None:
    server_ = Server(lambda: iter([HEAD, START, CALL, PART]))
    supervised = SupervisedRun(tmp_path, "healthy", upstream=server_.url)
    try:
        said = ask(supervised)
        assert b"message_start" in said and not said.endswith(b"0\r\n\r\n"), "no clean end"
        assert b"tool_use" not in said
        assert any("middle of a call" in fault["why"] for fault in supervised.records("fault"))
    finally:
        supervised.close()
        server_.close()


def test_an_endless_call_is_not_kept_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interlock.adapters.proxy.exchange.MOST_PLAIN", 1_000_000)

    def endless() -> Iterator[bytes]:
        yield from (HEAD, START, CALL)
        while True:
            yield PART * 500

    server_ = Server(endless)
    supervised = SupervisedRun(tmp_path, "healthy", upstream=server_.url)
    try:
        assert not ask(supervised).endswith(b"0\r\n\r\n")
        assert any("longer than" in fault["why"] for fault in supervised.records("fault"))
    finally:
        supervised.close()
        server_.close()


@pytest.mark.parametrize("status", [b"200 OK", b"500 Internal Server Error", b"429 Too Many Requests"])
def test_an_endless_whole_answer_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: bytes) -> None:
    monkeypatch.setattr(bodies, "MOST_PLAIN", 1_000_000)

    def endless() -> Iterator[bytes]:
        yield b"HTTP/1.1 %b\r\ncontent-type: application/json\r\n\r\n" % status
        while True:
            yield b" " * 65_536

    server_ = Server(endless)
    supervised = SupervisedRun(tmp_path, "healthy", upstream=server_.url)
    try:
        assert b"502" in ask(supervised).split(b"\r\n")[0]
    finally:
        supervised.close()
        server_.close()


@pytest.mark.parametrize(
    ("begin", "more"),
    [
        (b"HTTP/1.1 200 OK\r\n", b"x: " + b"y" * 1000 + b"\r\n"),
        (b"HTTP/1.1 200 OK\r\nx: ", b"y" * 1000),
        (b"", b"HTTP/1.1 103 Early Hints\r\nx: y\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n", b"x: " + b"y" * 1000 + b"\r\n"),
    ],
    ids=["many", "one", "early responses", "trailers"],
)
def test_endless_headers_are_refused(tmp_path: Path, begin: bytes, more: bytes) -> None:
    def endless() -> Iterator[bytes]:
        yield begin
        while True:
            yield more * 50

    server_ = Server(endless)
    supervised = SupervisedRun(tmp_path, "healthy", upstream=server_.url)
    try:
        said = ask(supervised)
        assert b"502" in said.split(b"\r\n")[0] and b"longer than 1 MB" in said
    finally:
        supervised.close()
        server_.close()


def test_events_are_the_same_in_whichever_pieces_they_come() -> None:
    stream = b"data: {}\n\ndata: {}\r\n\r\n: x\r\rdata: {}\r\n\rdata: {}\n\r\n\r\nrest"
    whole = EventParser()
    expected = [event.raw for event in whole.feed(stream)]
    for size in range(1, 8):
        parser = EventParser()
        found = [event.raw for at in range(0, len(stream), size) for event in parser.feed(stream[at : at + size])]
        assert (found, parser.rest) == (expected, whole.rest)


def test_slow_clients_are_closed_and_never_crowd_out_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 8)
    monkeypatch.setattr(client_connection, "REQUEST_S", 0.2)
    server_ = Server(
        lambda: iter([b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"])
    )
    supervised = SupervisedRun(tmp_path, "healthy", upstream=server_.url)
    address = ("127.0.0.1", supervised.listener.getsockname()[1])
    slow = [socket.create_connection(address) for _ in range(40)]
    try:
        eventually(lambda: is_answered(supervised), "somebody who asks is answered")
        late = socket.create_connection(address)
        late.sendall(b"POST / HTTP/1.1\r\nx: ")
        late.settimeout(150)
        assert late.recv(1) == b"", "a request that never ends is closed"
        late.close()
    finally:
        for each in slow:
            each.close()
        supervised.close()
        server_.close()
