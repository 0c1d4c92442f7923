"""Review of a bare command: no run, no context, no history."""

from __future__ import annotations

from ..config.model import Review as ReviewConfig
from ..core import Review
from .judgement import judge_script, read_text
from .paths import zones
from .report import as_review
from .rules.compiled import RuleSet
from .rules.load import rule_set
from .verdict import decide, strongest, with_additions

DEFAULTS = ReviewConfig()


def review_command(
    command: str, *, cwd: str | None = None, workspace: str | None = None, rules: RuleSet | None = None,
    config: ReviewConfig = DEFAULTS,
) -> Review:  # fmt: skip
    """The verdict on one shell command. Without a workspace, a working directory that is a project's serves as one."""
    if workspace is None and cwd is not None and is_project(cwd):
        workspace = cwd
    if rules is None:
        rules = rule_set(config.rules_path)
    judged = judge_script(read_text(command, cwd), workspace, rules)
    risk = with_additions(judged.risk, outside=False, failures=0, levels=config.risk_levels)
    verdict = strongest(decide(risk, 1.0, config.risk_levels, config.rationality_levels), judged.verdict)
    return as_review(judged, verdict, max(risk, judged.rule_risk), 1.0, action=judged.action, text=command)


def is_project(cwd: str) -> bool:
    """Whether a working directory can stand for a workspace: not the root, a home, or a system folder."""
    return zones(cwd, None, None).isdisjoint(("root", "home", "system", "temp", "unknown"))
