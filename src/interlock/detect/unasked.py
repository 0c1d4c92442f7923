"""Unasked: what no task means to allow by being silent about it, and that one call shows."""

from __future__ import annotations

import re

from ..core import late_pattern

_DEPLOYS = late_pattern(
    r"(?:^|[;&|]\s*|/)(?:[\w./-]*(?:deploy|release|promote|rollout)[\w.-]*|kubectl\s+(?:apply|rollout|set)"
    r"|helm\s+(?:install|upgrade)|terraform\s+apply|cap|fly(?:ctl)?\s+deploy|vercel|npm\s+run\s+deploy\S*"
    r"|make\s+deploy\S*)\s[^;&|\n]*?(?<![\w./])(?:--?[\w-]+[ =])?(prod|production|--prod)(?![\w./-])"
)
_SKIPS = late_pattern(
    r"\bgit\b[^;&|\n]*\s--no-verify\b|\bcommit\s+(?:-\w+\s+)*--no-verify\b|\bHUSKY(?:_SKIP_HOOKS)?=[01]\s+git\b"
)
_MEANT = late_pattern(r"deploy|production|\bprod\b|release|roll ?out|ship", re.IGNORECASE)


def may_be_unasked(call: bytes) -> bool:
    """Whether a command can be one of these at all: a quick look, and most have none of it."""
    return b"prod" in call or b"--no-verify" in call or b"HUSKY" in call


def unasked(task: str, command: str, written: tuple[str, ...]) -> tuple[str, str]:
    """What a call does that the task does not speak of, and the part of the call that shows it; else empty."""
    if command:
        deployed = _DEPLOYS.search(command) if "prod" in command else None
        if deployed is not None and not _MEANT.search(task):
            return "deploys to production, which the task does not mention", deployed[0].strip(" ;&|")
        skipped = _SKIPS.search(command) if "--no-verify" in command or "HUSKY" in command else None
        if skipped is not None and not re.search(r"no-verify|skip (?:the )?hooks", task, re.IGNORECASE):
            return "skips the checks that guard each commit", skipped[0]
        return "", ""
    for path in written:
        if path.startswith("../") and "../" not in task and _foreign(path, task):
            return "changes a file outside the project", path
    return "", ""


def _foreign(path: str, task: str) -> bool:
    """Whether the task names neither the file nor the folder beside the project that it lies in."""
    parts = [part for part in path.split("/") if part not in ("..", ".")]
    return not any(part in task for part in (parts[:1] + parts[-1:]))
