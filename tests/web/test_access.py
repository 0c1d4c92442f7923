"""Only whoever has the token, on this address, from this page, is answered."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from interlock.journal import Store
from interlock.link.requests import Requests
from interlock.web.access import HEADERS, cookie_name
from interlock.web.routes import Routes
from interlock.web.serve import make_app
from interlock.web.source import Source

from .conftest import BASE, TOKEN

CHANGE = {"x-interlock": "1", "content-type": "application/json"}
POSTS = ("/api/runs/r/control", "/api/runs/r/rollback", "/api/incidents/i/continue")


def addresses(store: Store) -> list[tuple[str, str]]:
    """Every route that gives or changes data, with something for each of its places."""
    found = []
    source = Source(store)
    for route in Routes(source, Requests(source)).all():
        if route.path.startswith(("/api", "/metrics")):
            path = route.path.replace("{seq:int}", "1")
            for place in ("run_id", "wanted", "name", "incident_id"):
                path = path.replace("{" + place + "}", "x")
            found += [(method, path) for method in sorted(route.methods or ()) if method != "HEAD"]
    return found


def test_nothing_is_told_without_the_token(stranger: TestClient, store: Store) -> None:
    asked = addresses(store)
    assert len(asked) >= 17 and ("GET", "/metrics") in asked and ("GET", "/api/runs") in asked
    for method, path in asked:
        answer = stranger.request(method, path, headers={**CHANGE, "origin": BASE})
        assert answer.status_code == 401, (method, path)
        assert set(answer.json()) == {"error", "todo"}


@pytest.mark.parametrize("wrong", ["", "wrong", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "tökèn"])
def test_a_wrong_token_is_no_token(stranger: TestClient, wrong: str) -> None:
    for name, value in (("authorization", f"Bearer {wrong}"), ("cookie", f"{cookie_name(TOKEN)}={wrong}")):
        assert stranger.get("/api/runs", headers={name: value.encode()}).status_code == 401
    assert stranger.get("/api/runs", params={"token": TOKEN}).status_code == 401


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:7717", "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.1@evil.example",
     "evil.example/127.0.0.1", "[::2]:7717", "0.0.0.0:7717", "", "127.0.0.1 evil.example"],
)  # fmt: skip
def test_a_foreign_host_gets_nothing_at_all(client: TestClient, host: str) -> None:
    for path in ("/", "/api/runs", "/static/app.js", "/metrics", f"/?token={TOKEN}"):
        assert client.get(path, headers={"host": host}).status_code == 400


@pytest.mark.parametrize(("name", "own"), [("host", "127.0.0.1:7717"), ("origin", "http://127.0.0.1:7717")])
def test_a_header_that_says_who_it_is_may_not_be_there_twice(client: TestClient, name: str, own: str) -> None:
    for values in ((own, "evil.example"), ("evil.example", own), (own, own)):
        answer = client.get(
            "/api/runs", headers=[("host", "127.0.0.1:7717")] * (name != "host") + [(name, v) for v in values]
        )
        assert answer.status_code == 400


@pytest.mark.parametrize("host", ["127.0.0.1:7717", "localhost:7717", "[::1]:7717", "LOCALHOST:9999", "127.0.0.1"])
def test_loopback_is_known_by_all_its_names(client: TestClient, host: str) -> None:
    assert client.get("/api/runs", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://127.0.0.1:9999",
        "http://127.0.0.1",
        "https://localhost:7717",
        "file://",
        "x",
    ],
)
def test_a_foreign_origin_may_neither_read_nor_change(client: TestClient, origin: str) -> None:
    assert client.get("/api/runs", headers={"origin": origin}).status_code == 403
    for path in POSTS:
        assert client.post(path, headers={**CHANGE, "origin": origin}, content="{}").status_code == 403


def test_a_page_of_another_site_cannot_read_through_the_browser(client: TestClient) -> None:
    for site in ("cross-site", "same-site"):
        assert client.get("/api/runs", headers={"sec-fetch-site": site}).status_code == 403
    assert client.get("/api/runs", headers={"sec-fetch-site": "same-origin"}).status_code == 200


def test_a_change_needs_our_header_our_origin_and_json(stranger: TestClient) -> None:
    cookie = {"cookie": f"{cookie_name(TOKEN)}={TOKEN}"}
    for path in POSTS:
        assert (
            stranger.post(path, headers={**cookie, "origin": BASE, "content-type": "application/json"}).status_code
            == 403
        )
        assert stranger.post(path, headers={**cookie, **CHANGE}).status_code == 403
        form = {**cookie, **CHANGE, "origin": BASE, "content-type": "application/x-www-form-urlencoded"}
        assert stranger.post(path, headers=form).status_code == 415
        whole = stranger.post(path, headers={**cookie, **CHANGE, "origin": BASE}, content="{}")
        assert whole.status_code in (400, 404), whole.text


def test_the_token_leaves_the_address_and_becomes_a_cookie_for_this_page_alone(stranger: TestClient) -> None:
    answer = stranger.get("/runs/some", params={"find": "a b", "token": TOKEN})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/runs/some?find=a+b"
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{cookie_name(TOKEN)}={TOKEN};")
    assert "httponly" in cookie.lower() and "samesite=strict" in cookie.lower() and "domain" not in cookie.lower()
    assert stranger.get("/api/runs").status_code == 200


def test_a_wrong_token_in_the_address_sets_nothing(stranger: TestClient) -> None:
    answer = stranger.get("/", params={"token": "wrong"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "set-cookie" not in answer.headers


def test_an_address_for_one_visit_is_good_for_one_visit(store: Store) -> None:
    with TestClient(make_app(Source(store), TOKEN, once={"pass"}), base_url=BASE, follow_redirects=False) as visitor:
        assert TOKEN in visitor.get("/?token=pass").headers["set-cookie"]
        assert visitor.get("/api/runs").status_code == 200
        visitor.cookies.clear()
        assert "set-cookie" not in visitor.get("/?token=pass").headers
        assert visitor.get("/api/runs", headers={"authorization": "Bearer pass"}).status_code == 401


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example/", "///evil.example", "/%5Cevil.example"])
def test_the_way_in_leads_nowhere_else(stranger: TestClient, path: str) -> None:
    location = stranger.get(f"{BASE}{path}?token={TOKEN}").headers.get("location", "/")
    assert location.startswith("/") and not location.startswith(("//", "/\\"))


def test_every_answer_forbids_what_a_page_must_not_do(client: TestClient, stranger: TestClient) -> None:
    answers = [client.get(path) for path in ("/", "/api/runs", "/static/app.js", "/nowhere", "/api/runs/none")]
    answers += [stranger.get("/api/runs"), stranger.get("/", headers={"host": "evil.example"})]
    for answer in answers:
        for name, value in HEADERS.items():
            assert answer.headers[name] == value
    policy = HEADERS["content-security-policy"]
    assert "unsafe" not in policy and "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert "access-control-allow-origin" not in answers[0].headers


def test_a_mistake_of_ours_is_an_answer_like_any_other(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source(store)
    monkeypatch.setattr(source, "rows", lambda: 1 / 0)
    app = make_app(source, TOKEN)
    with TestClient(app, base_url=BASE, raise_server_exceptions=False) as visitor:
        answer = visitor.get("/api/runs", headers={"authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 500 and "ZeroDivisionError" in answer.json()["error"]
    assert answer.headers["content-security-policy"] == HEADERS["content-security-policy"]


def test_nothing_with_data_is_kept_by_the_browser(client: TestClient) -> None:
    assert client.get("/api/runs").headers["cache-control"] == "no-store"
    assert client.get("/api/about").headers["cache-control"] == "no-store"


def test_a_body_that_is_too_long_or_no_json_is_refused(client: TestClient, store: Store) -> None:
    headers = {**CHANGE, "origin": BASE}
    assert client.post(POSTS[0], headers=headers, content=b"x" * 100_000).status_code == 400
    assert client.post(POSTS[0], headers=headers, content=b"{").status_code == 400
    assert client.post(POSTS[0], headers=headers, content=b'{"command": "format"}').status_code == 400
