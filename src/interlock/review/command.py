"""Review of a single command: no run, no context, no history."""

from __future__ import annotations

from functools import lru_cache

from ..calls import extent_of, read_script, resolve, teach, zone_of
from ..config import Review as ReviewConfig
from ..core import Review
from .judgement import Circumstances, judge
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
        reading = read_script(command, cwd or "", workspace or "")
        here = Circumstances(workspace or "")
        judged = judge(reading, self._rules, lambda hit: here.counts_as(hit, reading))
        levels = self._config.risk_levels
        risk = with_additions(judged.risk, outside=False, failures=0, levels=levels)
        verdict = strongest(decide(risk, 1.0, levels, self._config.rationality_levels), judged.verdict)
        risk = max(risk, judged.rule_risk)
        return as_review(
            judged, verdict, risk, 1.0, action=judged.action, reading=reading, arguments={"command": command}
        )


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
    place = resolve(cwd, "")
    zone = zone_of(place, NOWHERE)
    return zone not in ("system", "temp", "unknown") and extent_of(f"{place}/*", zone, NOWHERE, False) != "all"


NOWHERE = "/-"
"""No folder: a workspace in which nothing is."""
