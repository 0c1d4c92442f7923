"""Connections that never finish a request are closed, and the dashboard serves others all the while."""

from __future__ import annotations

import socket
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from interlock.journal import Store
from interlock.web import slow_clients
from interlock.web.background import BackgroundServer


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
    monkeypatch.setattr(slow_clients, "REQUEST_S", 0.5)
    with BackgroundServer(Store(tmp_path / "runs")) as web:
        place = urlsplit(web.address)
        with socket.create_connection((place.hostname or "", place.port or 0)) as slow:
            slow.sendall(said)
            slow.settimeout(60)
            try:
                while slow.recv(65_536):
                    pass
            except ConnectionResetError:
                pass


def test_slow_connections_crowd_out_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_clients, "MOST_CONNECTIONS", 20)
    monkeypatch.setattr(slow_clients, "REQUEST_S", 0.5)
    with BackgroundServer(Store(tmp_path / "runs")) as web:
        place = urlsplit(web.address)
        slow = [socket.create_connection((place.hostname or "", place.port or 0)) for _ in range(60)]
        try:
            for _ in range(200):
                try:
                    with urllib.request.urlopen(web.entry, timeout=30) as page:
                        assert page.status == 200
                        break
                except OSError:
                    time.sleep(0.1)
            else:
                pytest.fail("nobody is served")
        finally:
            for each in slow:
                each.close()
