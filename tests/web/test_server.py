"""`interlock web` as a process: its first line, its silence about the token, and its coming back."""

from __future__ import annotations

import http.client
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from interlock.journal import Store
from interlock.runtime import Supervisor

from ..e2e.running import Place
from .runs import supervised, work

FIRST_LINE = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=([A-Za-z0-9_-]{40,})\n")


class Web:
    """A dashboard's process."""

    def __init__(self, place: Place, port: int = 0, *options: str) -> None:
        words = [sys.executable, "-m", "interlock", "web", "--no-open", "--port", str(port), *options]
        environment = {**place.environment, "INTERLOCK_STORE__DIR": str(place.store.root)}
        self.process = subprocess.Popen(
            words, env=environment, cwd=place.workspace, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline()
        found = FIRST_LINE.fullmatch(self.line)
        assert found is not None, self.line + (self.process.stderr.read() if self.process.stderr else "")
        self.port, self.token = int(found[1]), found[2]

    def ask(self, method: str, path: str, **headers: str) -> tuple[int, bytes]:
        """Ask with a path exactly as it is."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=150)
        try:
            line.putrequest(method, path, skip_accept_encoding=True)
            for name, value in headers.items():
                line.putheader(name, value)
            line.endheaders()
            answer = line.getresponse()
            return answer.status, answer.read()
        finally:
            line.close()

    def end(self) -> tuple[int, str, str]:
        """End it; gives its status and the rest of what it said."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=150)
        return self.process.returncode, out, err


@pytest.fixture(scope="module")
def place(home: Path, store: Store) -> Place:
    return Place(home, store=store.root)


@pytest.fixture
def start(place: Place) -> Iterator[Callable[..., Web]]:
    begun: list[Web] = []

    def make(*arguments: object) -> Web:
        begun.append(Web(place, *arguments))  # type: ignore[arg-type]
        return begun[-1]

    yield make
    for web in begun:
        if web.process.poll() is None:
            web.process.kill()
            web.process.communicate()


def test_the_first_line_is_the_address_and_the_token_is_in_no_log(start: Callable[..., Web]) -> None:
    web = start()
    bearer = {"Authorization": f"Bearer {web.token}"}
    assert parse_qs(urlsplit(web.line.strip()).query) == {"token": [web.token]}
    assert web.ask("GET", f"/?token={web.token}")[0] == 303
    assert web.ask("GET", f"/api/runs?token={web.token}")[0] == 401
    assert web.ask("GET", f"/nowhere?token={web.token}&x=%00%ff")[0] == 303
    assert web.ask("GET", "/api/runs", **bearer)[0] == 200
    assert web.ask("GET", "/api/runs", **bearer, Host="evil.example")[0] == 400
    assert web.ask("POST", "/api/runs/x/control", **bearer)[0] == 403
    assert web.ask("BREW", f"/?token={web.token}")[0] in (400, 403, 405)
    status, out, err = web.end()
    assert status == 0 and out == ""
    assert web.token not in err and "token" not in err


def test_paths_as_they_come_lead_nowhere(start: Callable[..., Web]) -> None:
    web = start()
    bearer = {"Authorization": f"Bearer {web.token}"}
    for path in (
        "/static/../app.py", "/static/..", "/static/../../../../../../etc/passwd", "/static//etc/passwd",
        "/api/runs/../.web-token", "/api/runs/..", "/api/runs/x/pictures/../../.web-token", "//etc/passwd",
    ):  # fmt: skip
        status, body = web.ask("GET", path, **bearer)
        assert status in (400, 404), path
        assert b"root:" not in body and web.token.encode() not in body and b"make_app" not in body


def test_a_page_comes_back_after_the_server_has_been_away(
    start: Callable[..., Web], browser: Browser, store: Store
) -> None:
    with supervised(store, "patient") as supervisor:
        work(supervisor, 1)
        first = start()
        context = browser.new_context()
        page = context.new_page()
        page.goto(first.line.strip())
        expect(page.locator("tr[data-run=patient]")).to_be_visible()
        page.goto(f"http://127.0.0.1:{first.port}/runs/patient")
        expect(page.locator(".line", has_text="make part-1")).to_be_visible()
        assert first.end()[0] == 0
        expect(page.locator(".link")).to_have_text(re.compile("reconnecting"))
        _more(supervisor)
        second = start(first.port)
        assert second.token == first.token
        expect(page.locator(".link")).to_have_text(re.compile("live"))
        expect(page.locator(".line", has_text="make part-2")).to_have_count(1)
        expect(page.locator(".line", has_text="make part-1")).to_have_count(1)
        work(supervisor, 4)
        expect(page.locator(".line", has_text="make part-4")).to_be_visible()
        context.close()


def test_a_port_that_is_taken_or_a_host_that_is_none_is_one_line(place: Place, start: Callable[..., Web]) -> None:
    web = start()
    status, out, err = place.interlock("web", "--no-open", "--port", str(web.port))
    assert (status, out) == (2, b"") and b"is in use" in err and err.count(b"\n") == 1
    status, out, err = place.interlock("web", "--no-open", "--host", "0.0.0.0")
    assert (status, out) == (2, b"") and b"every address" in err


def _more(supervisor: Supervisor) -> None:
    work(supervisor, 2)
    work(supervisor, 3)


def test_on_a_terminal_it_says_how_to_stop_it(place: Place) -> None:
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "interlock", "web", "--no-open", "--port", "0"]
    environment = {**place.environment, "INTERLOCK_STORE__DIR": str(place.store.root)}
    process = subprocess.Popen(words, env=environment, cwd=place.workspace, stdin=theirs, stdout=theirs)
    os.close(theirs)
    with os.fdopen(ours) as terminal:
        assert FIRST_LINE.fullmatch(terminal.readline())
        assert terminal.readline() == "Ctrl-C stops the dashboard; runs continue.\n"
    process.kill()
    process.wait(150)
