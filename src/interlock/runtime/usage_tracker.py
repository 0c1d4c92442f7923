"""UsageTracker: a run's usage and cost, how fast they grow, and the run's success rate; memory is bounded."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterable

import msgspec
from msgspec import Struct, field

from ..config import ModelInfo
from ..core import HISTORY, Action, Growth, Spend, Step, Totals, Usage, from_json

HEALTH_WINDOW = 20
"""The success rate covers this many tool results."""

ACTION_TEXT = 160
READ_TEXT = 8 * ACTION_TEXT
"""Characters of an argument that are read for an action's text: enough even if it is indented."""


class UsageBucket(Struct):
    """The usage within one second."""

    second: int
    tokens: int = 0
    file_operations: int = 0
    execution_time: float = 0.0
    memory_mb: float = 0.0
    calls: int = 0


class UsageState(Totals):
    """The tracker's state; plain data, so that it can be stored and restored."""

    unnamed: int = 0
    started: float | None = None
    now: float = 0.0
    last_error_time: float | None = None
    results: list[bool] = field(default_factory=list)
    buckets: list[UsageBucket] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)


class UsageTracker:
    """Counts the usage of one run. `window` is the number of seconds over which growth is measured."""

    def __init__(self, window: float = 60.0) -> None:
        self.window = window
        self._s = UsageState()
        self._undescribed: list[tuple[int, str | None, str, bool | None, float | None]] = []

    def count(self, step: Step, now: float, cost_usd: float | None = 0.0) -> None:
        """Count one step; `cost_usd` applies if the step does not state its cost, None if it is unknown."""
        s = self._s
        if s.started is None:
            s.started = now
        if now > s.now:
            s.now = now
        s.steps += 1
        bucket = self._bucket(now)
        if step.usage is not None:
            s.input_tokens += step.usage.input_tokens
            s.output_tokens += step.usage.output_tokens
            if cost_usd is None:
                s.unpriced_tokens += step.usage.tokens
            else:
                s.cost_usd += step.usage.cost_usd or cost_usd
            bucket.tokens += step.usage.tokens
        if step.duration_ms:
            bucket.execution_time += step.duration_ms / 1000
        if step.kind == "tool_call":
            s.calls += 1
            bucket.calls += 1
            self._act(step)
        elif step.kind == "tool_result":
            failed = bool(step.error) or bool(step.exit_code)
            s.results.append(not failed)
            del s.results[:-HEALTH_WINDOW]
            if failed:
                s.last_error_time = now
        if step.paths is not None:
            touched = len(step.paths.read) + len(step.paths.written) + len(step.paths.deleted)
            # The call that this result belongs to has already been counted.
            self._touch(bucket, max(0, touched - s.unnamed))
        if step.kind == "tool_result":
            s.unnamed = 0

    def touch(self, files: int) -> None:
        """Count files that the last step touches without naming them."""
        if files:
            self._s.unnamed += files
            self._touch(self._bucket(self._s.now), files)

    def measure_memory(self, memory_mb: float, now: float) -> None:
        """Record a sample of the process tree's memory."""
        self._s.memory_mb = max(self._s.memory_mb, memory_mb)
        bucket = self._bucket(now)
        bucket.memory_mb = max(bucket.memory_mb, memory_mb)

    @property
    def spend(self) -> Spend:
        """The run's usage so far."""
        s = self._s
        return Spend(
            input_tokens=s.input_tokens,
            output_tokens=s.output_tokens,
            cost_usd=s.cost_usd,
            unpriced_tokens=s.unpriced_tokens,
            steps=s.steps,
            calls=s.calls,
            file_operations=s.file_operations,
            memory_mb=s.memory_mb,
            execution_time=s.now - s.started if s.started is not None else 0.0,
        )

    @property
    def success_rate(self) -> float:
        """The share of recent tool results without an error; 1 if there are none."""
        results = self._s.results
        return sum(results) / len(results) if results else 1.0

    @property
    def last_error_time(self) -> float | None:
        return self._s.last_error_time

    @property
    def started(self) -> float | None:
        return self._s.started

    @property
    def last(self) -> float:
        """The time of the last step."""
        return self._s.now

    @property
    def actions(self) -> tuple[Action, ...]:
        self._describe_actions()
        return tuple(self._s.actions[-HISTORY:])

    def calls_since(self, since: float) -> tuple[int, float | None]:
        """The number of calls since then, and the second of the oldest one."""
        recent = [b for b in self._s.buckets if b.second > since and b.calls]
        return sum(b.calls for b in recent), recent[0].second if recent else None

    def growth(self, now: float) -> Growth:
        """The last window compared with the one before; 1.0 if there is nothing to compare with."""
        last = self._use(now - self.window, now)
        before = self._use(now - 2 * self.window, now - self.window)
        return Growth(
            tokens=_ratio(last.tokens, before.tokens),
            file_operations=_ratio(last.file_operations, before.file_operations),
            memory_mb=_ratio(last.memory_mb, before.memory_mb),
            execution_time=_ratio(last.execution_time, before.execution_time),
            last_window=last,
        )

    def room_after(self, counted: str, allowed: float, now: float) -> float:
        """Seconds until the usage of `counted` within the window falls below `allowed`."""
        within = [b for b in self._s.buckets if b.second > now - self.window]
        left = sum(getattr(b, counted) for b in within)
        for bucket in within:
            left -= getattr(bucket, counted)
            if left < allowed:
                return min(self.window, max(0.0, bucket.second + self.window - now))
        return self.window

    def save(self) -> bytes:
        self._describe_actions()
        return msgspec.json.encode(self._s)

    def restore(self, state: bytes) -> None:
        self._s = from_json(state, UsageState)
        self._undescribed.clear()

    def forget_growth(self, since: float) -> None:
        """Discard growth samples after a rollback; what was spent stays spent."""
        self._s.buckets = [b for b in self._s.buckets if b.second <= since]

    def _use(self, since: float, until: float) -> Spend:
        tokens = calls = files = 0
        memory, seconds = 0.0, 0.0
        for bucket in self._s.buckets:
            if since < bucket.second <= until:
                tokens += bucket.tokens
                calls += bucket.calls
                files += bucket.file_operations
                memory = max(memory, bucket.memory_mb)
                seconds += bucket.execution_time
        return Spend(output_tokens=tokens, calls=calls, file_operations=files, memory_mb=memory, execution_time=seconds)

    def _bucket(self, now: float) -> UsageBucket:
        buckets, second = self._s.buckets, int(now)
        if not buckets or buckets[-1].second < second:
            buckets.append(UsageBucket(second))
            horizon = second - 2 * self.window
            while buckets[0].second < horizon:
                del buckets[0]
        return buckets[-1]

    def _touch(self, bucket: UsageBucket, files: int) -> None:
        self._s.file_operations += files
        bucket.file_operations += files

    def _act(self, step: Step) -> None:
        """Keep what describes a call; its text is made when somebody asks for it, which is rare."""
        tool = step.tool
        shown = step.content[:ACTION_TEXT] if tool is None else _shown(tool.arguments)
        kept = self._undescribed
        kept.append((step.index, None if tool is None else tool.name, shown, step.error, step.time))
        if len(self._s.actions) + len(kept) > 2 * HISTORY:
            del self._s.actions[: -HISTORY + len(kept) if len(kept) < HISTORY else None]
            del kept[:-HISTORY]

    def _describe_actions(self) -> None:
        while self._undescribed:
            index, tool, shown, error, time = self._undescribed.pop(0)
            self._s.actions.append(Action(index, shown if tool is None else _describe(tool, shown), error, time))


def _ratio(last: float, before: float) -> float:
    return last / before if before > 0 else 1.0


def _shown(arguments: dict[str, object]) -> str:
    shown = None
    for key in SALIENT:
        if key in arguments:
            shown = arguments[key]
            break
    if shown is None:
        shown = next(iter(arguments.values()), "")
    return str(shown)[:READ_TEXT]


def _describe(tool: str, shown: str) -> str:
    # A word takes at least two characters, so that no more than these can be shown.
    return " ".join(f"{tool} {shown}".split(None, ACTION_TEXT // 2))[:ACTION_TEXT]


SALIENT = ("command", "cmd", "file_path", "path", "url", "query", "code")
"""Argument names, from most to least informative, for the text that describes a call."""


MILLION = 1_000_000


class Price(Struct, frozen=True):
    """US dollars per token."""

    input: float
    output: float
    cache_read: float
    cache_write: float


class Prices:
    """Looks up each model once and multiplies from then on: the price list is slow, and steps are many."""

    def __init__(self, models: Iterable[ModelInfo] = ()) -> None:
        self._own = {model.name: model for model in models}
        self._known: dict[str, Price | None] = {}
        self._warm = False

    def warm(self) -> None:
        """Load the price list in the background, once: it takes longer than a step may, and much memory."""
        if self._warm:
            return
        self._warm = True
        threading.Thread(target=lambda: importlib.import_module("genai_prices"), name="prices", daemon=True).start()

    def cost(self, model: str | None, usage: Usage) -> float | None:
        """The cost of this usage in US dollars; None if the model is unknown."""
        if model is None:
            return None
        if model not in self._known:
            self._known[model] = self._own_price(model) or _listed_price(model)
        price = self._known[model]
        if price is None:
            return None
        fresh = usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens
        return (
            max(0, fresh) * price.input
            + usage.output_tokens * price.output
            + usage.cache_read_tokens * price.cache_read
            + usage.cache_write_tokens * price.cache_write
        )

    def _own_price(self, model: str) -> Price | None:
        info = self._own.get(model)
        if info is None or info.input_usd_per_million is None or info.output_usd_per_million is None:
            return None
        per_input, per_output = info.input_usd_per_million / MILLION, info.output_usd_per_million / MILLION
        return Price(per_input, per_output, per_input, per_input)


def _listed_price(model: str) -> Price | None:
    import genai_prices

    def per_token(**tokens: int) -> float:
        count = max(tokens.values())
        return float(genai_prices.calc_price(genai_prices.Usage(**tokens), model_ref=model).total_price) / count

    try:
        # Small amounts, so that tiered prices yield their first tier.
        return Price(
            per_token(input_tokens=1000),
            per_token(output_tokens=1000),
            per_token(input_tokens=1000, cache_read_tokens=1000),
            per_token(input_tokens=1000, cache_write_tokens=1000),
        )
    except LookupError:
        return None
