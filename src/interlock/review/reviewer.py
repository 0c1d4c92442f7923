"""Reviewer: reviews every step of one run before it runs, and remembers failures."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..calls import teach
from ..config import RationalityLevels, RiskLevels
from ..config import Review as ReviewConfig
from ..core import Context, Review, Step, Tool, Verdict, from_json, read_time_out
from .arguments import texts
from .expected_paths import ExpectedPaths, has_substance, rationality, remote_hosts
from .judgement import Judgement, ask_named, judge_script, read_text, soften, spare_named, with_rule
from .paths import resolve
from .programs import RISKS, Action
from .rules.compiled import RuleSet
from .rules.load import rule_set
from .rules.model import Rule
from .shell import Command
from .shell.names import INTERPRETERS
from .tools import MAX_NAME, ToolCall, kind_of, read_tool
from .untrusted_text import UntrustedText, is_risky, origin_of, untrusted_rule
from .verdict import as_review, decide, strongest, with_additions
from .wordlist import name_set
from .written_files import WrittenFiles

MAX_FAILURES = 256
MAX_PENDING = 64
MAX_RECENT = 64
"""Limits of what is remembered; the oldest entry is dropped first."""

MAX_SHOWN = 32
SHOWING = name_set("cat less more head tail bat batcat nl sed grep rg vim view")
"""Programs that show the contents of a file."""

WARMING = (
    "cd a && git push origin x | tee b; rm -r c; curl -d @d https://example.com/e > f",
    "python -c \"import os; os.remove('a')\"; sudo mv a b; find . -name x -delete",
    "psql -c 'select 1'; docker ps; npm test",
)
"""Commands of the usual kinds."""

CallCheck = Callable[[Tool, Callable[[str], str | None] | None], Rule | None]
"""An additional check of a call, given what earlier steps wrote: returns the rule that it breaks, if any."""

ENCODER = msgspec.json.Encoder(order="sorted")


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

    `restorable`: the workspace has checkpoints; `contained`: the agent runs in its own container; `private`: files of
    the user that no step may read.
    """

    def __init__(
        self, config: ReviewConfig, context: Context, workspace: str | None = None, rules: RuleSet | None = None,
        *, restorable: bool = False, contained: bool = False, private: tuple[Path, ...] = (),
    ) -> None:  # fmt: skip
        self._config = config
        self._restorable, self._contained = restorable, contained
        self._workspace = workspace or context.workspace
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
        call = read_tool(tool, self._workspace, state.memory)
        judged = judge_script(call.script, self._workspace, self._rules)
        if judged.hits:
            judged = soften(spare_named(judged, self._expected.is_named), self._spares)
            if any(rule.ask_if_named for rule in judged.rules):
                hosts = remote_hosts(judged.commands)
                judged = ask_named(judged, lambda command: self._expected.orders(command, hosts))
        action, base = strongest_action(call, judged)
        if self.check is not None and action == "read" and any(c.program in INTERPRETERS for c in judged.commands):
            # Where it matters which files change, do not assume that an interpreter only reads.
            action = "unknown"
        sign = signature(tool)
        failures, repeats = state.failures.get(sign, 0), state.recent.get(sign, 0)
        outside = self._expected.is_outside(judged.commands)
        self._expect(step, sign, action != "read")
        judged = self._mind_untrusted(step, call, judged, action, outside)
        broken = self.check(tool, self._written if state.memory.files else None) if self.check is not None else None
        if broken is not None:
            judged = with_rule(judged, broken)
        weight = self._scales.weigh(action, base, outside, failures, repeats)
        if not judged.rules:
            self._remember(call, step.index)
            return weight.unruled
        review = as_review(
            judged, strongest(weight.verdict, judged.verdict), max(weight.risk, judged.rule_risk), weight.rationality,
            action=action, outside=outside, failures=failures, text=call.text, arguments=tool.arguments,
            key=call.key,
        )  # fmt: skip
        if review.verdict != "block" or review.ask:
            self._remember(call, step.index)
        return review if self._config.ask or not review.ask else replace(review, ask=False)

    def warm(self) -> None:
        """Fill the caches before the first review, so that nobody waits for them."""
        for text in WARMING:
            judge_script(read_text(text, self._workspace), self._workspace, self._rules)

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

    def _mind_untrusted(
        self, step: Step, call: ToolCall, judged: Judgement, action: Action, outside: bool
    ) -> Judgement:
        """Add the rule for a call that contains untrusted text; mark a call whose own result will be untrusted."""
        assert step.tool is not None
        untrusted = self._state.untrusted
        name, kind = kind_of(step.tool.name[:MAX_NAME])
        if untrusted.marks and is_risky(judged.commands, action, judged.verdict != "allow"):
            source = untrusted.carried(text for _, text in texts(step.tool.arguments))
            if source is not None:
                judged = with_rule(judged, untrusted_rule(self._config.untrusted, source))
        origin = origin_of(step.tool.name[:MAX_NAME] if kind != "shell" else name, kind, judged.commands, outside)
        if origin:
            untrusted.expect(call_key(step), origin, MAX_PENDING)
        return judged

    def _spares(self, rule: Rule, command: Command) -> bool:
        """Whether a rule only warns: it affects only the workspace, can be undone, or stays in the container."""
        if rule.contained and self._contained:
            return True
        own = rule.in_workspace or (rule.undoable and self._restorable)
        return own and is_here(command, self._workspace)

    def _written(self, path: str) -> str | None:
        """The text of a file that an earlier step wrote."""
        file = self._state.memory.files.get(resolve(path, self._workspace))
        return file.text if file is not None else None

    def _remember(self, call: ToolCall, step: int) -> None:
        """Record the files that the call writes and those that it shows."""
        memory = self._state.memory
        if call.script.made:
            memory.learn(call.script, step)
        for write in call.writes:
            memory.write(resolve(write.path, self._workspace), write, step)
        if memory.files:
            for command in call.script.commands[:MAX_SHOWN]:
                if command.program in SHOWING:
                    memory.show(resolve(arg, command.cwd) for arg in command.args)

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


def is_here(command: Command, workspace: str | None) -> bool:
    """Whether a git command works on the workspace itself."""
    if workspace is None or not ELSEWHERE.isdisjoint(command.via):
        return False
    if any(arg.partition("=")[0] in OTHER_TREE for arg in command.args):
        return False
    if any(name.startswith(("GIT_", "DOCKER_", "COMPOSE_")) for name, _ in command.assignments):
        return False
    return command.cwd is None or f"{resolve(command.cwd, None)}/".startswith(f"{workspace.rstrip('/')}/")


ELSEWHERE = name_set("ssh docker podman kubectl sudo chroot su nsenter")
OTHER_TREE = name_set("-C --git-dir --work-tree --project-directory -H --host --context --env-file -r --remotes")


def strongest_action(call: ToolCall, judged: Judgement) -> tuple[Action, float]:
    """The action of a call: the tool's own, or the strongest action of its commands."""
    if call.action is not None:
        return call.action, RISKS[call.action]
    return judged.action, judged.risk


def signature(tool: Tool) -> str:
    """A hash of the tool and its arguments, ignoring whitespace: equal for the same action."""
    raw = ENCODER.encode((tool.name, tool.arguments))
    if raw.find(b"  ") >= 0:  # `in` is slower: it tries the bytes as an integer first
        # In JSON the only unescaped whitespace is the space.
        raw = b" ".join(raw.split())
    return hashlib.blake2b(raw, digest_size=8).hexdigest()


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
        nothing = Judgement(action, base, (), ())
        review = as_review(nothing, verdict, risk, sense, action=action, outside=outside, failures=failures)
        return CallWeight(risk, sense, verdict, review)


scales = lru_cache(8)(Scales)
"""The scales of a configuration, shared by all runs that use it."""
