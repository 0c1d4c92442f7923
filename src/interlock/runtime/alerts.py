"""Alerts: decides which messages about a run are sent; Notifier: sends them through channels without blocking."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from ..config import Config, NotifyEvent
from ..core import Clock, Issue, Limits, MissingExtra, Notify, Spend, SystemClock, install_command
from ..journal_records import EndRecord
from ..redact import redact_text
from .run import Run

BUDGETS = (("max_cost_usd", "cost_usd"), ("max_tokens", "tokens"))
"""The limits that are budgets, and the usage that counts against each."""


class Alerts:
    """Decides what is worth an alert. The notifier limits their number and never blocks."""

    def __init__(self, notifier: Notifier, config: Config, run: Run) -> None:
        self._notifier = notifier
        self._settings = config.notifications
        self._stop_channels = config.interventions.emergency_stop.notification_channels
        self._run = run
        self._alerted: set[tuple[str, float]] = set()
        run.on_waiting, run.on_ended = self.waiting, self.ended

    def send(self, order: Notify) -> None:
        """Send the alert for an intervention: an emergency stop, or a pause for a person."""
        self._send("emergency_stop" if order.level == "critical" else "waiting", order)

    def tampered(self, notification: Notify) -> None:
        """Alert that the agent tampered with its supervision."""
        self._send("tampered", notification)

    def found(self, issues: Iterable[Issue]) -> None:
        """Alert about critical issues."""
        for issue in issues:
            if issue.severity == "critical":
                title = f"Critical issue in run {self._name}: {issue.type.replace('_', ' ')}"
                text = f"{issue.description} (step {issue.step}). See: interlock show {self._run.spec.run_id}"
                self._send("critical_issue", Notify(title, text, "critical"))

    def spent(self, spend: Spend, limits: Limits) -> None:
        """Alert when a share of a budget has been used, once for each share."""
        for limit, used in BUDGETS:
            most, now = getattr(limits, limit), getattr(spend, used)
            if not most:
                continue
            reached = [share for share in self._settings.budget_thresholds if now >= share * most]
            new = [share for share in reached if (limit, share) not in self._alerted]
            if new:
                self._alerted.update((limit, share) for share in new)
                title = f"Run {self._name} has used {max(new):.0%} of {limit}"
                self._send("budget", Notify(title, f"{now:,.10g} of {most:,.10g} so far.", "warning"))

    def budget(self, words: str) -> None:
        """Alert that a budget of several runs is used up."""
        self._send("budget", Notify(f"Run {self._name} exceeds a budget", f"{words[0].upper()}{words[1:]}.", "warning"))

    def blind(self, words: str) -> None:
        """Alert that a cost limit cannot be enforced."""
        text = f"{words[0].upper()}{words[1:]}. Add its price under models in the configuration, or limit max_tokens."
        self._send("budget", Notify(f"Run {self._name} may cost more than allowed", text, "warning"))

    def waiting(self, step: int, what: str) -> None:
        """Alert that a person is needed."""
        run_id = self._run.spec.run_id
        text = f"{what.rstrip('.')}. See: interlock show {run_id}. To answer: interlock inbox"
        self._send("waiting", Notify(f"Run {self._name} needs a person", text, "warning"), about=what)

    def ended(self, record: EndRecord) -> None:
        """Alert how the run ended, with the most serious things that did not happen."""
        event = END_EVENTS.get(record.ending or "")
        if event is None:
            return
        lines = [*filter(None, [record.message]), *(each.words for each in record.not_done[:ALERT_LINES])]
        text = "\n".join((*lines, f"See: interlock show {self._run.spec.run_id}"))
        title = f"Run {self._name} {TITLES_OF[event] or f'is {record.ending}'}"
        self._send(event, Notify(title, text, "info" if event == "finished" else "warning"))

    def close(self) -> None:
        """Flush queued notifications, with a short timeout."""
        self._notifier.close()

    def _send(self, event: NotifyEvent, notification: Notify, about: str = "") -> None:
        if event in self._settings.events:
            only = self._stop_channels if event == "emergency_stop" else ()
            if self._settings.link:
                where = f"{self._settings.link.rstrip('/')}/runs/{quote(self._run.spec.run_id)}"
                notification = replace(notification, text=f"{notification.text}\n{where}")
            self._notifier.send(notification, only or None, about)

    @property
    def _name(self) -> str:
        spec = self._run.spec
        return f"{spec.name} ({spec.run_id})" if spec.name else spec.run_id


END_EVENTS: dict[str, NotifyEvent] = {
    "proven": "finished", "done": "finished", "unproven": "unproven", "contradicted": "contradicted",
    "broken": "broken", "refused": "unproven", "limit": "limit", "failed": "failed",
}  # fmt: skip
"""The event of each ending. Whoever cancelled a run knows it, and an emergency stop has its own alert."""

TITLES_OF: dict[NotifyEvent, str] = {
    "finished": "", "unproven": "ended unproven", "contradicted": "ended, but a check contradicts it",
    "broken": "broke its contract", "limit": "was ended by a limit", "failed": "failed",
}  # fmt: skip

ALERT_LINES = 4
"""What did not happen, in an alert."""


def find_alert_problem(channels: Mapping[str, str]) -> str:
    """Why alerts cannot be sent through these channels; empty if nothing is known against it."""
    if not channels:
        return ""
    if find_spec("apprise") is None:
        return f"alerts cannot be sent: apprise is not installed. Run: {install_command('notify')}"
    wrong = [name for name, url in channels.items() if "://" not in url]
    return f"alerts cannot be sent through {', '.join(wrong)}: its address is not one" if wrong else ""


Channel = Callable[[Notify], None]
"""Sends one notification, or raises."""

QUEUE = 100
"""If this many are queued, the channel is considered dead, and further notifications are dropped."""

REPEAT_SECONDS = 60.0
"""A title is sent at most once within this time, unless it is about something else."""

MOST_PER_HOUR = 30
"""Notifications per hour, across all titles; critical ones are always sent."""

HOUR = 3600.0

TITLES = 1000
"""How many titles are remembered; the oldest are dropped first."""


class DeliveryFailure(Struct, frozen=True):
    """A notification that could not be delivered."""

    channel: str
    title: str
    why: str


class Notifier:
    """Sends in one thread per channel, so that a slow channel does not delay the others. Thread-safe."""

    def __init__(
        self,
        channels: Mapping[str, Channel],
        *,
        on_failure: Callable[[DeliveryFailure], None] | None = None,
        clock: Clock | None = None,
        repeat_s: float = REPEAT_SECONDS,
        most_per_hour: int = MOST_PER_HOUR,
    ) -> None:
        self._on_failure = on_failure or (lambda failure: None)
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
        """Send a notification to some or all channels, without waiting. Secrets are redacted.

        `about` distinguishes notifications with the same title: a different question is not a repetition.
        """
        passed = self._pass(notification, about)
        if passed is None:
            return
        for name, waiting in self._queues.items():
            if to is None or name in to:
                try:
                    waiting.put_nowait(passed)
                except queue.Full:
                    self._on_failure(DeliveryFailure(name, passed.title, "too many notifications are waiting"))

    def close(self, timeout: float = 2.0) -> None:
        """Flush queued notifications, for at most this long in total."""
        until = time.monotonic() + timeout
        for waiting in self._queues.values():
            try:
                waiting.put_nowait(None)
            except queue.Full:
                continue
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _pass(self, notification: Notify, about: str) -> Notify | None:
        """The redacted notification, or None if it is a repetition or exceeds the rate limit."""
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
                self._on_failure(DeliveryFailure(name, notification.title, why))


def apprise_channel(url: str) -> Channel:
    """A channel of the apprise library, from its URL (mail, chat, webhooks and many more)."""

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
    """Keep apprise's log, which contains addresses, off stderr unless the program configures logging."""
    logging.getLogger("apprise").addHandler(logging.NullHandler())
