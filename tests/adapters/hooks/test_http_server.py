"""Hooks that are posted: on loopback, with a token."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator

import pytest

from interlock.adapters.hooks.http_server import serve_hooks
from interlock.adapters.steps.step_numbering import WaitingClient
from interlock.link import LocalHttpServer

TOKEN = "t" * 32


@pytest.fixture
def door() -> Iterator[LocalHttpServer]:
    def answer(line: bytes, client: WaitingClient) -> bytes:
        assert client.waits()
        told = json.loads(line)["hook"]
        if told["payload"].get("bad"):
            return b'{"error":"no"}'
        return json.dumps({"client": told["client"], "was": told["payload"]}).encode()

    door = serve_hooks(TOKEN, answer)
    yield door
    door.close()


def post(
    door: LocalHttpServer, path: str = "/hooks/claude-code", body: bytes = b'{"a":\n1}', **headers: str
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(door.url.removeprefix("http://"))
    given = {"Authorization": f"Bearer {TOKEN}", **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection.request("POST", path, body, given)
    response = connection.getresponse()
    try:
        return response.status, response.read()
    finally:
        connection.close()


def test_a_payload_is_answered(door: LocalHttpServer) -> None:
    status, body = post(door)
    assert (status, json.loads(body)) == (200, {"client": "claude-code", "was": {"a": 1}})


def test_without_the_token_nothing_is_said(door: LocalHttpServer) -> None:
    assert post(door, Authorization="Bearer wrong")[0] == 401
    assert post(door, Authorization="")[0] == 401


def test_browsers_and_foreign_names_are_turned_away(door: LocalHttpServer) -> None:
    assert post(door, Host="evil.example")[0] == 400
    assert post(door, Origin="http://localhost")[0] == 400
    assert post(door, Host="localhost:1")[0] == 200


def test_what_is_no_hook_is_refused(door: LocalHttpServer) -> None:
    assert post(door, "/hooks/a/b")[0] == 400
    assert post(door, "/")[0] == 400
    assert post(door, body=b'{"bad": 1}')[0] == 400


def test_a_connection_serves_many(door: LocalHttpServer) -> None:
    connection = http.client.HTTPConnection(door.url.removeprefix("http://"))
    for _ in range(3):
        connection.request("POST", "/hooks/codex", b"{}", {"Authorization": f"Bearer {TOKEN}"})
        response = connection.getresponse()
        assert (response.status, response.read()) == (200, b'{"client": "codex", "was": {}}')
    connection.close()
