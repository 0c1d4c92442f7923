"""LoopThread: an event loop in its own thread, for synchronous code."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import TypeVar

Made = TypeVar("Made")


class LoopThread:
    """Runs coroutines. `close` cancels what still runs."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def begin(self, work: Coroutine[object, object, Made]) -> Future[Made]:
        """Start a coroutine."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def run(self, work: Coroutine[object, object, Made], timeout: float | None = None) -> Made:
        """Run a coroutine to its end."""
        return self.begin(work).result(timeout)

    def close(self) -> None:
        """Stop; a second time does nothing."""
        if self.loop.is_closed():
            return
        if self._thread.is_alive():
            self.begin(self._cancel_all()).result()
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()
        self.loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    async def _cancel_all(self) -> None:
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
