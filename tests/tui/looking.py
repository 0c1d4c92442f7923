"""Playing with the terminal UI as a person would: press keys, look at the screen, wait until something is there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from textual.pilot import Pilot

from interlock.tui import Top

PATIENCE_S = 150.0

Act = Callable[["Seat"], Awaitable[None]]


class Seat:
    """Before the screen."""

    def __init__(self, app: Top, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def text(self) -> str:
        """What the terminal shows."""
        return "\n".join(strip.text.rstrip() for strip in self.app.screen._compositor.render_strips())

    def line(self, word: str) -> str:
        """The first row with a word in it."""
        return next((row for row in self.text.split("\n") if word in row), "")

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def write(self, text: str) -> None:
        await self.pilot.press(*("space" if each == " " else each for each in text))

    async def sees(self, *words: str) -> None:
        """Wait until all the words are on the screen."""
        await self.until(lambda: all(word in self.text for word in words), f"{words} on the screen")

    async def sees_not(self, word: str) -> None:
        await self.until(lambda: word not in self.text, f"{word!r} gone")

    async def until(self, is_so: Callable[[], object], what: str = "it") -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not is_so():
            assert time.monotonic() < deadline, f"never: {what}\n{self.text}"
            await self.pilot.pause(0.02)


def watch(app: Top, act: Act, size: tuple[int, int] = (80, 24)) -> None:
    """Sit down before the terminal UI, and play."""

    async def play() -> None:
        async with app.run_test(size=size, notifications=True) as pilot:
            await act(Seat(app, pilot))

    asyncio.run(play())
