"""Reviewer: reviews every step of one run before it runs, and remembers failures."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..calls import CallReading, read_call, read_script, resolve, teach
from ..config import RationalityLevels, RiskLevels
from ..config import Review as ReviewConfig
from ..core import Context, Review, Step, Tool, Verdict, from_json, read_time_out
from .expected_paths import ExpectedPaths, has_substance, rationality
from .judgement import Action, Circumstances, Judgement, judge, with_rule
from .rules import Hit, Rule, RuleSet, rule_set
from .untrusted_text import UntrustedText, is_risky, origin_of, texts, untrusted_rule
from .verdict import as_review, decide, strongest, with_additions
from .written_files import WrittenFiles

MAX_FAILURES = 256
MAX_PENDING = 64
MAX_RECENT = 64
"""Limits of what is remembered; the oldest entry is dropped first."""

WARMING = (
    "cd a && git push origin x | tee b; rm -r c; curl -d @d https://example.com/e > f",
    "python -c \"import os; os.remove('a')\"; sudo mv a b; find . -name x -delete",
    "psql -c 'select 1'; docker ps; npm test",
)
"""Commands of the usual kinds."""

CallCheck = Callable[[Tool, Callable[[str], str | None] | None], Rule | None]
"""An additional check of a call, given what earlier steps wrote: returns the rule that it breaks, if any."""

Level = Literal["off", "guard", "fence"]
HELD: dict[Level, tuple[str, ...]] = {"off": (), "guard": ("guard",), "fence": ("guard", "fence")}
"""Rules that the kernel makes needless, by level of containment."""


class ReviewerState(Struct):
    """A reviewer's state: failures and repeats by action, calls without a result, files and untrusted text."""

    v: int = 1
    failures: dict[str, int] = {}
    recent: dict[str, int] = {}
    pending: dict[str, tuple[str, bool]] = {}
    memory: WrittenFiles = msgspec.field(default_factory=WrittenFiles)
    untrusted: UntrustedText = msgspec.field(default_factory=UntrustedText)


class Reviewer:
    """One per run. Call `review` before a step runs, `observe` when its result arrives; `check` adds a custom rule.

    `restorable`: the workspace has checkpoints; `contained`: the agent runs in its own container; `level`: how the run
    is contained by Interlock; `private`: files of the user that no step may read.
    """

    def __init__(
        self, config: ReviewConfig, context: Context, workspace: str | None = None, rules: RuleSet | None = None,
        *, restorable: bool = False, contained: bool = False, level: Level = "off", private: tuple[Path, ...] = (),
    ) -> None:  # fmt: skip
        self._config = config
        self._workspace = workspace or context.workspace or ""
        self._here = Circumstances(self._workspace, restorable, contained, HELD[level])
        self._rules = rules or rule_set(config.rules_path, private)
        if config.programs_path:
            teach(config.programs_path)
        self._state = ReviewerState()
        self.check: CallCheck | None = None
        self.context = context

    @property
    def context(self) -> Context:
        return self._context

    @context.setter
    def context(self, context: Context) -> None:
        self._context = context
        self._expected = ExpectedPaths(context, self._workspace)
        self._scales = scales(self._config.risk_levels, self._config.rationality_levels, has_substance(context))

    def review(self, step: Step) -> Review:
        """Review a step; steps without a tool call, and Interlock's own, are allowed."""
        tool = step.tool
        if tool is None or step.kind != "tool_call" or step.origin != "agent":
            return Review(verdict="allow", action="read")
        state = self._state
        reading = self._read(tool)
        judged = judge(reading, self._rules, lambda hit: self._counts_as(hit, reading))
        action, base = judged.action, judged.risk
        sign = reading.key
        failures, repeats = state.failures.get(sign, 0), state.recent.get(sign, 0)
        outside = self._expected.is_outside(reading)
        self._expect(step, sign, action != "read")
        judged = self._mind_untrusted(step, reading, judged, action, outside)
        broken = self.check(tool, self._written if state.memory.files else None) if self.check else None
        if broken is not None:
            judged = with_rule(judged, broken)
        weight = self._scales.weigh(action, base, outside, failures, repeats)
        if not judged.hits:
            state.memory.learn(reading)
            return weight.unruled
        review = as_review(
            judged, strongest(weight.verdict, judged.verdict), max(weight.risk, judged.rule_risk), weight.rationality,
            action=action, outside=outside, failures=failures, reading=reading, arguments=tool.arguments,
        )  # fmt: skip
        if review.verdict != "block" or review.ask:
            state.memory.learn(reading)
        return review if self._config.ask or not review.ask else replace(review, ask=False)

    def warm(self) -> None:
        """Fill the caches before the first review, so that nobody waits for them."""
        for text in WARMING:
            reading = read_script(text, self._workspace, self._workspace)
            judge(reading, self._rules, lambda hit: hit.rule)

    def observe(self, step: Step) -> None:
        """Learn from a result: a failure is counted, a success clears its count, one that may change something all."""
        if step.kind != "tool_result" or step.origin != "agent":
            return
        taken = self._pop_call(step)
        if taken is None:
            return
        key, (sign, writes) = taken
        state = self._state
        if state.untrusted.waiting.pop(key, None) is not None:
            state.untrusted.learn(step.content, step.index, f"{self._context.task} {self._context.primary_goal}")
        if read_time_out(step.exit_code, step.content, ""):
            return  # a call that was cut off did not fail by itself
        if step.error is True or (step.exit_code or 0) != 0:
            state.failures[sign] = state.failures.pop(sign, 0) + 1
            forget_oldest(state.failures, MAX_FAILURES)
        elif writes:
            state.failures.clear()
            state.recent.clear()
        else:
            state.failures.pop(sign, None)

    def save(self) -> bytes:
        """The reviewer's state, for continuing in another process."""
        return msgspec.json.encode(self._state)

    def restore(self, saved: bytes) -> None:
        """Continue from the result of `save`."""
        self._state = from_json(saved, ReviewerState)

    def _read(self, tool: Tool) -> CallReading:
        """The reading of a call, with the texts of files that earlier steps wrote where it names one."""
        memory = self._state.memory
        known = self._written if memory.is_named(tool.arguments) else None
        return read_call(tool.name, tool.arguments, self._workspace, self._workspace, known)

    def _written(self, path: str) -> str | None:
        """The text of a file that an earlier step wrote."""
        return self._state.memory.text_of(resolve(path, self._workspace))

    def _counts_as(self, hit: Hit, reading: CallReading) -> Rule | None:
        """The rule that a hit counts as in this run: none or a question where the task orders it."""
        rule = self._here.counts_as(hit, reading)
        if rule is None or hit.effect is None:
            return rule
        if rule.unless_named and self._expected.asks_to_remove(hit.effect):
            return None
        return replace(rule, ask=True) if rule.ask_if_named and self._expected.orders(hit.effect, reading) else rule

    def _mind_untrusted(
        self, step: Step, reading: CallReading, judged: Judgement, action: Action, outside: bool
    ) -> Judgement:
        """Add the rule for a call that contains untrusted text; mark a call whose own result will be untrusted."""
        assert step.tool is not None
        untrusted = self._state.untrusted
        if untrusted.marks and is_risky(reading, action, judged.verdict != "allow"):
            source = untrusted.carried(texts(step.tool.arguments))
            if source is not None:
                judged = with_rule(judged, untrusted_rule(self._config.untrusted, source))
        if origin_of(step.tool.name, reading, outside):
            untrusted.expect(call_key(step), MAX_PENDING)
        return judged

    def _expect(self, step: Step, sign: str, writes: bool) -> None:
        state = self._state
        recent, pending = state.recent, state.pending
        recent[sign] = recent.pop(sign, 0) + 1
        if len(recent) > MAX_RECENT:
            forget_oldest(recent, MAX_RECENT)
        pending[call_key(step)] = (sign, writes)
        if len(pending) > MAX_PENDING:
            forget_oldest(pending, MAX_PENDING)

    def _pop_call(self, step: Step) -> tuple[str, tuple[str, bool]] | None:
        """The call that a result belongs to: by its id, otherwise the newest of the same agent."""
        pending = self._state.pending
        key = call_key(step)
        if key in pending:
            return key, pending.pop(key)
        ours = f"{step.agent or ''}#"
        for name in reversed(pending):
            if name.startswith(ours):
                return name, pending.pop(name)
        return None


def call_key(step: Step) -> str:
    """The key that links a call and its result: the call's id, or its agent and index."""
    if step.tool is not None and step.tool.call_id:
        return f"id:{step.tool.call_id}"
    return f"{step.agent or ''}#{step.index}"


def forget_oldest(entries: dict[str, int] | dict[str, tuple[str, bool]], limit: int) -> None:
    while len(entries) > limit:
        del entries[next(iter(entries))]


class CallWeight(Struct, frozen=True):
    """The scores of a call, and its review if no rule matches."""

    risk: float
    rationality: float
    verdict: Verdict
    unruled: Review


class Scales:
    """Scores calls under one configuration; `measured` if the context gives something to compare a call with."""

    def __init__(self, risks: RiskLevels, rationalities: RationalityLevels, measured: bool) -> None:
        self._risks, self._rationalities, self._measured = risks, rationalities, measured
        self.weigh = lru_cache(1024)(self._weigh)

    def _weigh(self, action: Action, base: float, outside: bool, failures: int, repeats: int) -> CallWeight:
        risk = with_additions(base, outside=outside, failures=failures, levels=self._risks)
        sense = rationality(outside=outside, failures=failures, repeats=repeats) if self._measured else 1.0
        verdict = decide(risk, sense, self._risks, self._rationalities)
        nothing = Judgement(action, base)
        review = as_review(nothing, verdict, risk, sense, action=action, outside=outside, failures=failures)
        return CallWeight(risk, sense, verdict, review)


scales = lru_cache(8)(Scales)
"""The scales of a configuration, shared by all runs that use it."""
