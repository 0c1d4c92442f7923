"""Coverage: whether a change of a file makes a check that passed before it stale."""

from __future__ import annotations

import re

from ..core import late_pattern
from .model import ClaimKind

_LEFT_BY_TOOLS = late_pattern(
    r"(?:^|/)(?:\.git|__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.hypothesis|\.tox|\.nox|node_modules"
    r"|\.venv"
    r"|venv|dist|build|target|coverage|htmlcov|\.next|\.nyc_output|\.gradle|\.cache|\.idea|\.vscode|[\w.-]+\.egg-info)"
    r"(?:/|$)|\.(?:pyc|pyo|log|tmp|swp|o|class|coverage|tsbuildinfo)$|(?:^|/)\.coverage[\w.]*$|^/tmp/|^/dev/|^/var/"
)
_PROSE = late_pattern(
    r"\.(?:md|rst|adoc|png|jpe?g|gif|svg|pdf)$|(?:^|/)(?:docs?|LICENSE|CHANGELOG)(?:/|$)|\.txt$", re.I
)
_NEEDED_TEXT = late_pattern(r"(?:requirements|constraints|CMakeLists)[\w.-]*\.txt$", re.I)


def covers(kind: ClaimKind, path: str) -> bool:
    """Whether a check of this kind depends on a file."""
    if not path or _LEFT_BY_TOOLS.search(path):
        return False
    if kind in ("commit", "push"):
        return True
    return _PROSE.search(path) is None or _NEEDED_TEXT.search(path) is not None
