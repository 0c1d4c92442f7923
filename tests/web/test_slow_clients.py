"""Connections that never finish a request are closed, and the dashboard serves others all the while."""

from __future__ import annotations

import socket
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from interlock.journal import Store
from interlock.web import serve
from tests.web.background_server import BackgroundServer

from ..waiting import eventually


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"GET / HT",
        b"GET / HTTP/1.1\r\nhost: x\r\nx-slow: ",
        b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhal",
    ],
)
def test_a_request_that_never_ends_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: bytes) -> None:
    monkeypatch.setattr(serve, "REQUEST_S", 0.5)
    with BackgroundServer(Store(tmp_path / "runs")) as web:
        address = urlsplit(web.address)
        with socket.create_connection((address.hostname or "", address.port or 0)) as slow:
            slow.sendall(said)
            slow.settimeout(150)
            try:
                while slow.recv(65_536):
                    pass
            except ConnectionResetError:
                pass


def is_served(web: BackgroundServer) -> bool:
    try:
        with urllib.request.urlopen(web.entry, timeout=150) as page:
            return bool(page.status == 200)
    except OSError:
        return False


def test_slow_connections_crowd_out_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "MOST_CONNECTIONS", 20)
    monkeypatch.setattr(serve, "REQUEST_S", 0.5)
    with BackgroundServer(Store(tmp_path / "runs")) as web:
        address = urlsplit(web.address)
        slow = [socket.create_connection((address.hostname or "", address.port or 0)) for _ in range(60)]
        try:
            eventually(lambda: is_served(web), "somebody is served")
        finally:
            for each in slow:
                each.close()
