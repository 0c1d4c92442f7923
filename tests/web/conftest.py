"""A dashboard over runs of a test's own, and a browser to look at them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from starlette.testclient import TestClient

from interlock.journal import Store
from interlock.runtime import Supervisor
from interlock.web.serve import make_app
from interlock.web.source import Source
from tests.web.background_server import BackgroundServer

from .runs import supervised, work

TOKEN = "a-token-that-only-these-tests-know-0123456789"
BASE = "http://127.0.0.1:7717"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A user's folders of one's own: state, sockets, workspaces."""
    root = tmp_path_factory.mktemp("home")
    (root / "run").mkdir(mode=0o700)
    mine = {
        "XDG_STATE_HOME": str(root / "state"),
        "XDG_RUNTIME_DIR": str(root / "run"),
        "XDG_CONFIG_HOME": str(root / "config"),
    }
    before = {name: os.environ.get(name) for name in mine}
    os.environ.update(mine)
    yield root
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


@pytest.fixture(scope="module")
def store(home: Path) -> Store:
    return Store(home / "runs")


@pytest.fixture
def client(store: Store) -> Iterator[TestClient]:
    """Somebody who has the token."""
    app = make_app(Source(store), TOKEN, control_timeout=150)
    with TestClient(app, base_url=BASE, headers={"authorization": f"Bearer {TOKEN}"}) as made:
        yield made


@pytest.fixture
def stranger(store: Store) -> Iterator[TestClient]:
    """Somebody who has nothing."""
    with TestClient(make_app(Source(store), TOKEN), base_url=BASE, follow_redirects=False) as made:
        yield made


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for each file: as long as Playwright is open it occupies this thread's event loop."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("there is no Chromium here: install Debian's chromium")
    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def dashboard(store: Store) -> Iterator[BackgroundServer]:
    with BackgroundServer(store, control_timeout=1.0) as served:
        yield served


@pytest.fixture
def complaints() -> list[str]:
    """What the pages of a test complained about."""
    return []


@pytest.fixture
def open_page(browser: Browser, dashboard: BackgroundServer, complaints: list[str]) -> Iterator[Callable[..., Page]]:
    """Open a page of the dashboard in a window of its own; whatever the page complains about fails the test."""
    contexts = []

    def make(path: str = "/", **options: Any) -> Page:
        context = browser.new_context(**{"reduced_motion": "reduce", **options})
        context.set_default_timeout(150_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.goto(dashboard.address + path + ("&" if "?" in path else "?") + f"token={dashboard.token}")
        return page

    yield make
    for context in contexts:
        context.close()
    assert [each for each in complaints if "Failed to load resource" not in each] == []


@pytest.fixture
def live(store: Store, request: pytest.FixtureRequest) -> Iterator[Supervisor]:
    """A run whose owner is this process."""
    with supervised(store, re.sub(r"\W+", "-", request.node.name)[:60]) as supervisor:
        work(supervisor, 1)
        yield supervisor
