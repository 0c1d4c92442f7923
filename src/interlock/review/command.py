"""Review of a single command: no run, no context, no history."""

from __future__ import annotations

from functools import lru_cache

from ..calls import teach
from ..config import Review as ReviewConfig
from ..core import Review
from .judgement import judge_script, read_text
from .paths import zones
from .rules import rule_set
from .verdict import as_review, decide, strongest, with_additions


class CommandReviewer:
    """Reviews single commands under one configuration; `rules_path` overrides the configuration's."""

    def __init__(self, config: ReviewConfig | None = None, *, rules_path: str | None = None) -> None:
        self._config = config or ReviewConfig()
        self._rules = rule_set(rules_path or self._config.rules_path)
        if self._config.programs_path:
            teach(self._config.programs_path)

    def review(self, command: str, *, cwd: str | None = None, workspace: str | None = None) -> Review:
        """Review one command. Without a workspace, the working directory is used if it is a project's."""
        if workspace is None and cwd is not None and is_project(cwd):
            workspace = cwd
        judged = judge_script(read_text(command, cwd), workspace, self._rules)
        levels = self._config.risk_levels
        risk = with_additions(judged.risk, outside=False, failures=0, levels=levels)
        verdict = strongest(decide(risk, 1.0, levels, self._config.rationality_levels), judged.verdict)
        return as_review(judged, verdict, max(risk, judged.rule_risk), 1.0, action=judged.action, text=command)


def review_command(
    command: str, *, cwd: str | None = None, workspace: str | None = None, rules: str | None = None
) -> Review:
    """Review one command with the shipped rules and those in the file or folder `rules`."""
    reviewer = CommandReviewer(rules_path=rules) if rules is not None else shipped_reviewer()
    return reviewer.review(command, cwd=cwd, workspace=workspace)


@lru_cache(1)
def shipped_reviewer() -> CommandReviewer:
    """The reviewer with the shipped rules and levels."""
    return CommandReviewer()


def is_project(cwd: str) -> bool:
    """Whether a working directory can serve as a workspace: not the root, a home, or a system folder."""
    return zones(cwd, None, None).isdisjoint(("root", "home", "system", "temp", "unknown"))
