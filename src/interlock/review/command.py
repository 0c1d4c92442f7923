"""Review of a bare command: no run, no context, no history."""

from __future__ import annotations

from ..config.model import Review as ReviewConfig
from ..core import Review
from .judgement import Judgement, judge_text
from .paths import zones
from .rewrite import rewrite_command
from .rules.compiled import RuleSet
from .rules.load import rule_set
from .verdict import decide, strongest

DEFAULTS = ReviewConfig()


def review_command(
    command: str, *, cwd: str | None = None, workspace: str | None = None, rules: RuleSet | None = None,
    config: ReviewConfig = DEFAULTS,
) -> Review:  # fmt: skip
    """The verdict on one shell command. Without a workspace, a working directory that is a project's serves as one."""
    if workspace is None and cwd is not None and is_project(cwd):
        workspace = cwd
    judged = judge_text(command, cwd, workspace, rules or rule_set(config.rules_path))
    risk = min(judged.risk, config.risk_levels.critical - 0.01)
    verdict = decide(risk, 1.0, config.risk_levels, config.rationality_levels)
    return as_review(judged, strongest(verdict, judged.verdict), max(risk, judged.rule_risk), 1.0, command)


def as_review(judged: Judgement, verdict: str, risk: float, rationality: float, command: str | None) -> Review:
    """The review that a judgement leads to."""
    first = judged.rules[0] if judged.rules else None
    rewritten = rewrite_command(command, judged) if command is not None and verdict == "modify" else None
    return Review(
        verdict=verdict,  # type: ignore[arg-type]
        risk=risk,
        rationality=rationality,
        rules=tuple(rule.id for rule in judged.rules),
        reason=first.why if first else reason_of(judged),
        instead=first.instead if first else "",
        rewrite=None if rewritten is None else {"command": rewritten},
    )


def reason_of(judged: Judgement) -> str:
    """Why a step has its risk when no rule speaks."""
    return REASONS[judged.action]


REASONS = {
    "delete": "It deletes files.", "network": "It uses the network.", "modify": "It changes files or state.",
    "create": "It creates files.", "read": "It only reads.", "unknown": "The program is not known here.",
    "unparsable": "It could not be read in full.",
}  # fmt: skip


def is_project(cwd: str) -> bool:
    """Whether a working directory can stand for a workspace: not the root, a home, or a system folder."""
    return zones(cwd, None, None).isdisjoint(("root", "home", "system", "temp", "unknown"))
