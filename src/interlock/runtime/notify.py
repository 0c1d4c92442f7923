"""Notifier: tells people through their channels; one that hangs or fails harms nothing."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping

from msgspec import Struct

from ..core import Clock, Notify, SystemClock

Channel = Callable[[Notify], None]
"""Sends one notification, or raises."""

QUEUE = 100
"""More than this waiting means that the channel is gone; the rest is counted as dropped."""

RATE_SECONDS = 60.0
"""The same title goes out at most once in this long: an alarm that repeats is noise."""


class Trouble(Struct, frozen=True):
    """A notification that did not get through."""

    channel: str
    title: str
    why: str


class Notifier:
    """Sends in threads of its own, one per channel, so that a slow channel delays nobody."""

    def __init__(
        self,
        channels: Mapping[str, Channel],
        *,
        on_trouble: Callable[[Trouble], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._on_trouble = on_trouble or (lambda trouble: None)
        self._clock = clock or SystemClock()
        self._sent: dict[str, float] = {}
        self._queues: dict[str, queue.Queue[Notify | None]] = {}
        self._threads = []
        for name, channel in channels.items():
            waiting: queue.Queue[Notify | None] = queue.Queue(QUEUE)
            self._queues[name] = waiting
            thread = threading.Thread(
                target=self._work, args=(name, channel, waiting), name=f"interlock-notify-{name}", daemon=True
            )
            thread.start()
            self._threads.append(thread)

    def send(self, notification: Notify) -> None:
        """Hand a notification to every channel; returns at once."""
        now = self._clock.time()
        last = self._sent.get(notification.title)
        if last is not None and now - last < RATE_SECONDS:
            return
        self._sent[notification.title] = now
        for name, waiting in self._queues.items():
            try:
                waiting.put_nowait(notification)
            except queue.Full:
                self._on_trouble(Trouble(name, notification.title, "too many notifications are waiting"))

    def close(self, timeout: float = 2.0) -> None:
        """Let what is waiting go out, for at most this long."""
        for waiting in self._queues.values():
            try:
                waiting.put_nowait(None)
            except queue.Full:
                continue
        for thread in self._threads:
            thread.join(timeout)

    def _work(self, name: str, channel: Channel, waiting: queue.Queue[Notify | None]) -> None:
        while (notification := waiting.get()) is not None:
            try:
                channel(notification)
            except Exception as error:  # noqa: BLE001  a channel is foreign code: whatever it raises must stay here
                self._on_trouble(Trouble(name, notification.title, f"{type(error).__name__}: {error}"))


def apprise_channel(url: str) -> Channel:
    """A channel of the notifications library, from its URL (mail, chat, webhooks and many more)."""

    def send(notification: Notify) -> None:
        import apprise

        target = apprise.Apprise()
        if not target.add(url):
            raise ValueError("the URL of this channel is not understood")
        kind = {"info": "info", "warning": "warning", "critical": "failure"}[notification.level]
        if not target.notify(title=notification.title, body=notification.text, notify_type=kind):
            raise ConnectionError("the channel did not take the notification")

    return send
