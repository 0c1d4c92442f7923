"""Judgement: the risk of what a call does, and which rules hold for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from ..calls import CallReading, Effect
from ..core import VERDICTS, Verdict
from .purposes import is_for_tests
from .rules import Hit, Rule, RuleSet
from .rules.model import RISKS as RULE_RISKS
from .rules.model import warning

MAX_RULES = 16
"""Rules named in one review."""

Action = Literal["delete", "network", "modify", "create", "read", "unknown", "unparsable"]

RISKS: dict[Action, float] = {
    "delete": 0.8, "network": 0.6, "modify": 0.4, "create": 0.3, "read": 0.1, "unknown": 0.4, "unparsable": 0.7,
}  # fmt: skip
"""Base risk by action; .4 for an unknown program, .7 for what cannot be read."""

ACTIONS: dict[str, Action] = {
    "read": "read", "write": "create", "append": "create", "delete": "delete", "move": "modify",
    "execute": "unknown", "fetch": "network", "send": "network", "administer": "modify", "arrange": "modify",
}  # fmt: skip
CREATING = frozenset(
    ("tool", ">", "tee", "mkdir", "touch", "cp", "ln", "install", "curl", "wget", "tar", "unzip", "git")
)
"""What makes new files; other writers change those that are there."""

Adjust = Callable[[Hit], Rule | None]
"""The rule that a hit counts as here; None if it does not count."""


class Circumstances(Struct, frozen=True):
    """Where a call runs: in which workspace, whether checkpoints can undo what it does there, and what holds it.

    `contained`: the agent has its own container; `held`: levels of containment that are reached.
    """

    workspace: str = ""
    restorable: bool = False
    contained: bool = False
    held: tuple[str, ...] = ()

    def counts_as(self, hit: Hit, reading: CallReading) -> Rule | None:
        """The rule that a hit counts as here: none where the kernel holds it, softer where it harms nothing else."""
        rule, effect = hit.rule, hit.effect
        if rule.held in self.held:
            return None
        if rule.verdict != "block":
            return rule
        own = rule.in_workspace or (rule.undoable and self.restorable)
        if (
            (rule.contained and self.contained)
            or (own and self.workspace and effect is not None and effect.zone == "workspace")
            or (rule.spares == "tests" and effect is not None and is_for_tests(reading, effect))
        ):
            return warning(rule)
        return rule


class Judgement(Struct, frozen=True):
    """The strongest action, its base risk, and the rules that hold, strongest and most specific first."""

    action: Action
    risk: float
    hits: tuple[Hit, ...] = ()

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple({hit.rule.id: hit.rule for hit in reversed(self.hits)}.values())[::-1][:MAX_RULES]

    @property
    def verdict(self) -> Verdict:
        return self.hits[0].rule.verdict if self.hits else "allow"

    @property
    def rule_risk(self) -> float:
        return max(rule_risk(hit.rule) for hit in self.hits) if self.hits else 0.0


def judge(reading: CallReading, rules: RuleSet, adjust: Adjust) -> Judgement:
    """Judge a call; `adjust` says what each rule that holds counts as here."""
    action, risk = strongest_action(reading)
    hits = [Hit(rule, hit.effect, hit.program) for hit in rules.hits(reading) if (rule := adjust(hit)) is not None]
    hits.sort(key=lambda hit: (*strength(hit.rule), rules.order.get(hit.rule.id, 0)))
    return Judgement(action, risk, tuple(hits))


def with_rule(judged: Judgement, rule: Rule) -> Judgement:
    """The judgement with one more rule, first among equals."""
    hits = sorted((Hit(rule), *judged.hits), key=lambda hit: -VERDICTS.index(hit.rule.verdict))
    return Judgement(judged.action, judged.risk, tuple(hits))


def strength(rule: Rule) -> tuple[int, float]:
    """Sort key: strongest first."""
    return -VERDICTS.index(rule.verdict), -rule_risk(rule)


def rule_risk(rule: Rule) -> float:
    """The risk of a rule: critical for a block."""
    return RULE_RISKS[rule.verdict] if rule.risk is None else rule.risk


def strongest_action(reading: CallReading) -> tuple[Action, float]:
    """The strongest action of a call, with its base risk."""
    if reading.concealed or reading.unread:
        found: Action = "unparsable"
    elif reading.inline or (not reading.effects and (reading.kind == "other" or _is_unknown(reading))):
        found = "unknown"
    else:
        found = "read"
    risk = RISKS[found] if found != "read" or reading.kind != "shell" or reading.programs else 0.0
    for effect in reading.effects:
        action = action_of(effect)
        if RISKS[action] > risk:
            found, risk = action, RISKS[action]
    return found, risk


def _is_unknown(reading: CallReading) -> bool:
    """Whether a call runs a program that nobody knows, and does not just ask for its version."""
    return any(program.executes and program.words[1:] not in ASKING for program in reading.programs)


ASKING = (("--version",), ("-V",), ("--help",), ("-h",), ("version",), ("help",))


@lru_cache(2_048)
def action_of(effect: Effect) -> Action:
    """The action that an effect amounts to."""
    if effect.by == "git" and effect.zone == "service":
        return "network"
    if effect.verb == "execute" and effect.zone == "workspace" and not effect.file:
        return "modify"  # the project's own tests and builds
    if effect.verb == "fetch" and effect.target == "database":
        return "read"
    if effect.verb in ("write", "append") and effect.by not in CREATING:
        return "modify"
    return ACTIONS[effect.verb]
