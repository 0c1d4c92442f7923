"""Notifier: tells people through their channels; one that hangs or fails harms nothing."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from functools import cache

from msgspec import Struct

from ..core import Clock, MissingExtra, Notify, SystemClock
from ..redact import redact_text

Channel = Callable[[Notify], None]
"""Sends one notification, or raises."""

QUEUE = 100
"""More than this waiting means that the channel is gone; the rest is counted as dropped."""

REPEAT_SECONDS = 60.0
"""The same title goes out at most once in this long, unless it is about something else: repetition is noise."""

MOST_PER_HOUR = 30
"""Notifications in an hour, whatever their titles; what is critical always goes out."""

HOUR = 3600.0

TITLES = 1000
"""Titles remembered; the oldest go first."""


class DeliveryFailure(Struct, frozen=True):
    """A notification that did not get through."""

    channel: str
    title: str
    why: str


class Notifier:
    """Sends in threads of its own, one per channel, so that a slow channel delays nobody. Thread-safe."""

    def __init__(
        self,
        channels: Mapping[str, Channel],
        *,
        on_trouble: Callable[[DeliveryFailure], None] | None = None,
        clock: Clock | None = None,
        repeat_s: float = REPEAT_SECONDS,
        most_per_hour: int = MOST_PER_HOUR,
    ) -> None:
        self._on_trouble = on_trouble or (lambda trouble: None)
        self._clock = clock or SystemClock()
        self._repeat_s, self._most_per_hour = repeat_s, most_per_hour
        self._sent: dict[str, float] = {}
        self._recent: deque[float] = deque()
        self._held_back = 0
        self._lock = threading.Lock()
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

    def send(self, notification: Notify, to: Collection[str] | None = None, about: str = "") -> None:
        """Hand a notification to some channels, or to all; returns at once. Nothing in it is a secret.

        `about` tells two with the same title apart: another question does not repeat the one before.
        """
        passed = self._pass(notification, about)
        if passed is None:
            return
        for name, waiting in self._queues.items():
            if to is None or name in to:
                try:
                    waiting.put_nowait(passed)
                except queue.Full:
                    self._on_trouble(DeliveryFailure(name, passed.title, "too many notifications are waiting"))

    def close(self, timeout: float = 2.0) -> None:
        """Let what is waiting go out, for at most this long altogether."""
        until = time.monotonic() + timeout
        for waiting in self._queues.values():
            try:
                waiting.put_nowait(None)
            except queue.Full:
                continue
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _pass(self, notification: Notify, about: str) -> Notify | None:
        """The notification as it goes out, or None where it would be one too many."""
        now = self._clock.time()
        title, text = redact_text(notification.title), redact_text(notification.text)
        key = f"{title}\n{about}"
        with self._lock:
            last = self._sent.get(key)
            while self._recent and now - self._recent[0] >= HOUR:
                self._recent.popleft()
            repeated = last is not None and now - last < self._repeat_s
            crowded = len(self._recent) >= self._most_per_hour and notification.level != "critical"
            if repeated or crowded:
                self._held_back += 1
                return None
            self._sent.pop(key, None)
            self._sent[key] = now
            if len(self._sent) > TITLES:
                del self._sent[next(iter(self._sent))]
            self._recent.append(now)
            held, self._held_back = self._held_back, 0
        more = f" ({held} more held back since the last one)" if held else ""
        return Notify(title, f"{text}{more}", notification.level)

    def _work(self, name: str, channel: Channel, waiting: queue.Queue[Notify | None]) -> None:
        while (notification := waiting.get()) is not None:
            try:
                channel(notification)
            except Exception as error:  # noqa: BLE001  a channel is foreign code: whatever it raises must stay here
                why = redact_text(f"{type(error).__name__}: {error}")
                self._on_trouble(DeliveryFailure(name, notification.title, why))


def apprise_channel(url: str) -> Channel:
    """A channel of the notifications library, from its URL (mail, chat, webhooks and many more)."""

    def send(notification: Notify) -> None:
        try:
            import apprise
        except ImportError:
            raise MissingExtra("apprise is", "notify") from None

        _silence_logging()
        target = apprise.Apprise()
        if not target.add(url):
            raise ValueError("the URL of this channel is invalid")
        kind = {"info": "info", "warning": "warning", "critical": "failure"}[notification.level]
        if not target.notify(title=notification.title, body=notification.text, notify_type=kind):
            raise ConnectionError("the channel did not accept the notification")

    return send


@cache
def _silence_logging() -> None:
    """The library tells of failures with the address in its words: not to stderr, unless the program wants its log."""
    logging.getLogger("apprise").addHandler(logging.NullHandler())
