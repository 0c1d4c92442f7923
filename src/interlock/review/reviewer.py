"""Reviewer: judges every step of one run before it runs, and remembers what failed."""

from __future__ import annotations

import hashlib
from functools import lru_cache

import msgspec
from msgspec import Struct

from ..config.model import RationalityLevels, RiskLevels
from ..config.model import Review as ReviewConfig
from ..core import Context, Review, Step, Tool, Verdict
from ..core.typed import from_json
from .expected import Expected
from .judgement import Judgement, judge_script, spare_named
from .programs import RISKS, Action
from .rationality import has_substance, rationality
from .report import as_review
from .rules.compiled import RuleSet
from .rules.load import rule_set
from .tools import Call, read_tool
from .verdict import decide, strongest, with_additions

MAX_FAILURES = 256
MAX_PENDING = 64
MAX_RECENT = 64
"""Bounds of what is remembered; the oldest goes first."""

WRITES = ("create", "modify", "delete")

ENCODER = msgspec.json.Encoder(order="sorted")


class ReviewerState(Struct):
    """What a reviewer remembers: failures and repeats by action, calls that have no result yet."""

    v: int = 1
    failures: dict[str, int] = {}
    recent: dict[str, int] = {}
    pending: dict[str, tuple[str, bool]] = {}


class Reviewer:
    """One per run. `review` before a step runs, `observe` when its result is there."""

    def __init__(
        self, config: ReviewConfig, context: Context, workspace: str | None = None, rules: RuleSet | None = None
    ) -> None:
        self._config = config
        self._workspace = workspace or context.workspace
        self._rules = rules or rule_set(config.rules_path)
        self._state = ReviewerState()
        self.context = context

    @property
    def context(self) -> Context:
        return self._context

    @context.setter
    def context(self, context: Context) -> None:
        self._context = context
        self._expected = Expected(context, self._workspace)
        self._scales = scales(self._config.risk_levels, self._config.rationality_levels, has_substance(context))

    def review(self, step: Step) -> Review:
        """The verdict on a step; steps that call no tool, and our own, are allowed."""
        if step.tool is None or step.kind != "tool_call" or step.origin != "agent":
            return Review(verdict="allow", action="read")
        call = read_tool(step.tool, self._workspace)
        judged = judge_script(call.script, self._workspace, self._rules)
        if judged.hits:
            judged = spare_named(judged, self._expected.is_named)
        action, base = strongest_action(call, judged)
        sign = signature(step.tool)
        failures, repeats = self._state.failures.get(sign, 0), self._state.recent.get(sign, 0)
        outside = self._expected.is_outside(judged.commands)
        self._expect(step, sign, action in WRITES)
        weight = self._scales.weigh(action, base, outside, failures, repeats)
        if not judged.rules:
            return weight.unruled
        return as_review(
            judged, strongest(weight.verdict, judged.verdict), max(weight.risk, judged.rule_risk), weight.rationality,
            action=action, outside=outside, failures=failures, text=call.text, arguments=step.tool.arguments,
            key=call.key,
        )  # fmt: skip

    def observe(self, step: Step) -> None:
        """Learn from a result: a failure counts, a success does not, a successful write makes everything new."""
        if step.kind != "tool_result" or step.origin != "agent":
            return
        found = self._take(step)
        if found is None:
            return
        sign, writes = found
        state = self._state
        if step.error is True or (step.exit_code or 0) != 0:
            state.failures[sign] = state.failures.pop(sign, 0) + 1
            forget_oldest(state.failures, MAX_FAILURES)
        elif writes:
            state.failures.clear()
            state.recent.clear()
        else:
            state.failures.pop(sign, None)

    def save(self) -> bytes:
        """What the reviewer remembers, to go on in another process."""
        return msgspec.json.encode(self._state)

    def restore(self, saved: bytes) -> None:
        """Take up what `save` gave."""
        self._state = from_json(saved, ReviewerState)

    def _expect(self, step: Step, sign: str, writes: bool) -> None:
        state = self._state
        state.recent[sign] = state.recent.pop(sign, 0) + 1
        forget_oldest(state.recent, MAX_RECENT)
        state.pending[call_key(step)] = (sign, writes)
        forget_oldest(state.pending, MAX_PENDING)

    def _take(self, step: Step) -> tuple[str, bool] | None:
        """The call that a result belongs to: by its id, else the newest of the same agent."""
        pending = self._state.pending
        key = call_key(step)
        if key in pending:
            return pending.pop(key)
        ours = f"{step.agent or ''}#"
        for name in reversed(pending):
            if name.startswith(ours):
                return pending.pop(name)
        return None


def strongest_action(call: Call, judged: Judgement) -> tuple[Action, float]:
    """The action of a call: what the tool says of itself, or the strongest thing that its commands do."""
    if call.action is not None:
        return call.action, RISKS[call.action]
    return judged.action, judged.risk


def signature(tool: Tool) -> str:
    """What makes two calls the same action: tool and arguments, blanks aside."""
    raw = ENCODER.encode((tool.name, tool.arguments))
    if b"  " in raw:
        # In JSON the only blank that stands as itself is the space.
        raw = b" ".join(raw.split())
    return hashlib.blake2b(raw, digest_size=8).hexdigest()


def call_key(step: Step) -> str:
    """What joins a call and its result: the call's id, or its agent and place."""
    if step.tool is not None and step.tool.call_id:
        return f"id:{step.tool.call_id}"
    return f"{step.agent or ''}#{step.index}"


def forget_oldest(entries: dict[str, int] | dict[str, tuple[str, bool]], limit: int) -> None:
    while len(entries) > limit:
        del entries[next(iter(entries))]


class Weight(Struct, frozen=True):
    """What the numbers of a call say, and the review that it gets if no rule says more."""

    risk: float
    rationality: float
    verdict: Verdict
    unruled: Review


class Scales:
    """Weighs calls under one configuration; `measured` where the context says what a call is held against."""

    def __init__(self, risks: RiskLevels, rationalities: RationalityLevels, measured: bool) -> None:
        self._risks, self._rationalities, self._measured = risks, rationalities, measured
        self.weigh = lru_cache(1024)(self._weigh)

    def _weigh(self, action: Action, base: float, outside: bool, failures: int, repeats: int) -> Weight:
        risk = with_additions(base, outside=outside, failures=failures, levels=self._risks)
        sense = rationality(outside=outside, failures=failures, repeats=repeats) if self._measured else 1.0
        verdict = decide(risk, sense, self._risks, self._rationalities)
        nothing = Judgement(action, base, (), ())
        review = as_review(nothing, verdict, risk, sense, action=action, outside=outside, failures=failures)
        return Weight(risk, sense, verdict, review)


scales = lru_cache(8)(Scales)
"""The scales of a configuration, shared by all runs that have it."""
