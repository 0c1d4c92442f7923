"""Where the pages of a run are, and what is on them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from interlock.runtime import Supervisor

OpenPage = Callable[..., Page]
expect.set_options(timeout=150_000)


def run_page(supervisor: Supervisor, tab: str = "") -> str:
    return f"/runs/{supervisor.run.spec.run_id}{tab}"


def newest(page: Page, command: str) -> Locator:
    """The newest request of a command in the control history."""
    return page.locator(f".controls .way[data-command={command}]").first


def press_until_focused(page: Page, key: str, button: Locator) -> None:
    """A page that has just come up may hear its first keys late."""
    for _ in range(10):
        page.keyboard.press(key)
        with contextlib.suppress(AssertionError):
            expect(button).to_be_focused(timeout=1500)
            return
    expect(button).to_be_focused()
