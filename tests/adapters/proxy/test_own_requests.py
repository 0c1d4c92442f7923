"""In a fence only the requests of the client's own conversation pass, with the worthless key and no other."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from .conftest import SupervisedRun
from .test_traffic import Make

REAL, OURS, FOREIGN = "sk-real-1234567890", "interlock-worthless", "sk-foreign-0987654321"
KEYS = {api: {OURS: REAL} for api in ("anthropic", "openai", "gemini")}
BODY = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def ask(
    supervised: SupervisedRun, method: str, api: str, path: str, headers: dict[str, str], body: Any = None
) -> tuple[int, bytes]:
    url = urlsplit(supervised.url(api))
    connection = http.client.HTTPConnection(url.hostname or "", url.port or 0, timeout=60)
    data = json.dumps(BODY if body is None else body).encode() if method in ("POST", "PUT", "PATCH") else None
    connection.putrequest(method, f"{url.path}/{path}", skip_accept_encoding=True)
    for name, value in headers.items():
        for each in value.split("|"):
            connection.putheader(name, each)
    connection.putheader("content-length", str(len(data or b"")))
    connection.endheaders(data)
    answer = connection.getresponse()
    return answer.status, answer.read()


@pytest.fixture
def fenced(supervised_with: Make) -> SupervisedRun:
    return supervised_with("healthy", keys=KEYS, fenced=True)


@pytest.mark.parametrize(
    ("method", "api", "path", "headers"),
    [
        ("POST", "anthropic", "v1/messages", {"x-api-key": OURS}),
        ("POST", "anthropic", "v1/messages?beta=true", {"authorization": f"Bearer {OURS}"}),
        ("POST", "anthropic", "v1/messages/count_tokens", {"x-api-key": OURS, "idempotency-key": "7"}),
        ("GET", "anthropic", "v1/models", {"x-api-key": OURS}),
        ("HEAD", "anthropic", "", {}),
        ("POST", "openai", "chat/completions", {"authorization": f"Bearer {OURS}"}),
        ("POST", "openai", "responses", {"authorization": f"Bearer {OURS}"}),
        ("GET", "openai", "models", {"authorization": f"Bearer {OURS}"}),
        ("POST", "gemini", "v1beta/models/gemini-2.5-pro:generateContent", {"x-goog-api-key": OURS}),
        ("POST", "gemini", f"v1beta/models/gemini-2.5-pro:countTokens?key={OURS}", {}),
    ],
)
def test_the_clients_own_requests_pass(
    fenced: SupervisedRun, method: str, api: str, path: str, headers: dict[str, str]
) -> None:
    status, said = ask(fenced, method, api, path, headers)
    assert status == 200, said
    assert OURS not in str(fenced.model.requests)


@pytest.mark.parametrize(
    ("method", "api", "path", "headers"),
    [
        ("POST", "anthropic", "v1/messages", {"x-api-key": FOREIGN}),
        ("POST", "anthropic", "v1/messages", {"x-api-key": f"{OURS}|{FOREIGN}"}),
        ("POST", "anthropic", "v1/messages", {"x-api-key": OURS, "authorization": f"Bearer {FOREIGN}"}),
        ("POST", "anthropic", "v1/messages", {"x-api-key": OURS, "cookie": "session=1"}),
        ("POST", "anthropic", "v1/messages", {"x-api-key": OURS + FOREIGN}),
        ("POST", "anthropic", "v1/messages", {}),
        ("POST", "anthropic", f"v1/messages?api_key={FOREIGN}", {"x-api-key": OURS}),
        ("POST", "anthropic", "v1/files", {"x-api-key": OURS}),
        ("GET", "anthropic", "v1/files/file_1/content", {"x-api-key": OURS}),
        ("POST", "anthropic", "v1/messages/batches", {"x-api-key": OURS}),
        ("GET", "anthropic", "v1/organizations/api_keys", {"x-api-key": OURS}),
        ("POST", "anthropic", "v1/messages/../files", {"x-api-key": OURS}),
        ("POST", "anthropic", "v1/%66iles", {"x-api-key": OURS}),
        ("POST", "anthropic", "/v1/messages", {"x-api-key": OURS}),
        ("POST", "anthropic", "@example.org/v1/messages", {"x-api-key": OURS}),
        ("TRACE", "anthropic", "v1/messages", {"x-api-key": OURS}),
        ("PUT", "anthropic", "v1/messages", {"x-api-key": OURS}),
        ("DELETE", "openai", "models/ft:mine", {"authorization": f"Bearer {OURS}"}),
        ("POST", "openai", "files", {"authorization": f"Bearer {OURS}"}),
        ("POST", "openai", "chat/completions", {"authorization": f"Bearer {FOREIGN}"}),
        ("POST", "openai", "chat/completions", {"authorization": f"Bearer {OURS}", "api-key": FOREIGN}),
        ("POST", "gemini", f"v1beta/models/m:generateContent?key={FOREIGN}", {}),
        ("POST", "gemini", "v1beta/files", {"x-goog-api-key": OURS}),
        ("POST", "gemini", "upload/v1beta/files", {"x-goog-api-key": OURS}),
    ],
)
def test_nothing_else_passes(fenced: SupervisedRun, method: str, api: str, path: str, headers: dict[str, str]) -> None:
    refused: list[tuple[str, int, str]] = []
    fenced.proxy.on_refused = lambda *given: refused.append(given)
    status, said = ask(fenced, method, api, path, headers)
    assert (status, fenced.model.requests) == (403, []), said
    assert [host for host, _, _ in refused] == ["127.0.0.1"]
    assert REAL.encode() not in said


def test_an_api_whose_client_a_file_logs_in_gets_its_own_credentials_only(supervised_with: Make) -> None:
    supervised = supervised_with("healthy", fenced=True, login=("anthropic",))
    assert ask(supervised, "POST", "anthropic", "v1/messages", {"authorization": "Bearer of a file"})[0] == 200
    assert ask(supervised, "POST", "anthropic", "v1/files", {"authorization": "Bearer of a file"})[0] == 403
    assert ask(supervised, "POST", "openai", "chat/completions", {"authorization": "Bearer of a file"})[0] == 403
    assert ask(supervised, "POST", "openai", "chat/completions", {})[0] == 200


def test_without_a_fence_everything_passes(supervised_with: Make) -> None:
    supervised = supervised_with("healthy", keys=KEYS)
    assert ask(supervised, "POST", "anthropic", "v1/files", {"x-api-key": FOREIGN})[0] != 403
