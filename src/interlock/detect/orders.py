"""Orders: what a task says in so many words must not be changed, and whether a call changed it.

Only sentences of the form "do not (modify, change, touch, edit, delete) X", "only (modify, change, edit) X" and "leave
X alone", where X is a path, a glob, a named file, the tests, or configuration files. All else in a task is no order.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import lru_cache

from msgspec import Struct

from ..core import late_pattern

READ = 16_000
"""Characters of a task that are read."""
PHRASE = 160
MOST = 16
TASKS = 256

_QUOTED = late_pattern(
    r"```.*?(?:```|\Z)|<(issue\w*|pr_description|problem_statement|traceback|error|log|output|example\w*|code|pre|diff)\b[^>]*>"
    r".*?</\1\s*>",
    re.DOTALL | re.IGNORECASE,
)
"""What a task quotes rather than says."""
_CHANGE = r"(?:modify|change|touch|edit|delete)"
_ORDER = late_pattern(
    rf"\b(?:do\s+not|don['’]?t|never|must\s+not)\s+(?:{_CHANGE}\s*(?:,|/|\bor\b|\band\b)\s*)*{_CHANGE}\b:?\s+(?P<not>[^;\n]+)"
    r"|\bonly\s+(?:modify|change|edit)\b:?\s+(?P<only>[^;\n]+)"
    r"|\bleave\s+(?P<leave>[^;\n]{2,80}?)\s+alone\b",
    re.IGNORECASE,
)
_BEGINS = ("leave", "only", "do not", "don't", "never")
"""How a second order begins in one sentence."""
_HINTS = ("not", "n't", "n’t", "never", "only", "leave", "NOT", "Never", "Only", "Leave", "ONLY", "NEVER")
_CONDITION = late_pattern(r"\b(?:unless|except|until|if|when|without|beyond|more than|once)\b", re.IGNORECASE)
_END = late_pattern(r"[.!?](?:\s|$)|\s[-–—]\s|,?\s+(?:but|because|since|so that|to)\s", re.IGNORECASE)
_ITEM = late_pattern(r"\s*(?:,|\band\b|\bor\b|\bnor\b|[()])\s*", re.IGNORECASE)
_LEAD = late_pattern(
    r"^(?:(?:any|the|all|of|our|your|existing|files?|tests?(?=\s+(?:in|under)\s)|in|under|inside|within)\s+)+",
    re.IGNORECASE,
)
_TESTS = late_pattern(r"(?:unit |existing )?tests?(?: (?:files?|cases?|code|suite))?$", re.IGNORECASE)
_CONFIG = late_pattern(r"config(?:uration)? files?$", re.IGNORECASE)
_PATH = late_pattern(r"[`'\"]?([\w.@+*~-]*/[\w./@+*-]*|[\w@+*-]*\.[A-Za-z]\w{0,7}|\*\*?)[`'\"]?$")

TESTS = ("tests/", "test/", "__tests__/", "test_*.py", "*_test.*", "*.test.*", "*.spec.*", "conftest.py")
CONFIG = (
    "pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "pytest.ini", "package.json", "tsconfig.json", "*.cfg",
    ".pre-commit-config.yaml", "Cargo.toml", "go.mod", "pom.xml", "build.gradle", "Makefile", "*.ini",
)  # fmt: skip


class Order(Struct, frozen=True):
    """One order: the sentence, and the paths that must not change; with `only`, all others must not."""

    phrase: str
    globs: tuple[str, ...]
    only: bool = False

    def forbids(self, path: str) -> bool:
        """Whether changing a path of the workspace breaks the order."""
        return self.only != any(_matches(path, glob) for glob in self.globs)


def is_config(path: str) -> bool:
    """Whether a file is one of configuration, by its name."""
    return any(_matches(path, glob) for glob in CONFIG)


@lru_cache(TASKS)
def read_orders(task: str) -> tuple[Order, ...]:
    """The orders of a task."""
    task = task[:READ]
    if not any(hint in task for hint in _HINTS):
        return ()
    said = _QUOTED.sub(" ", task)
    for begin in _BEGINS:
        said = said.replace(f" and {begin} ", f"\n{begin} ")
    found = []
    for order in _ORDER.finditer(said):
        rest = order["not"] or order["only"] or order["leave"]
        end = _END.search(rest)
        what = rest[: end.start()] if end is not None else rest.rstrip(".!")
        globs = () if _CONDITION.search(what) else _globs(what, only=order["only"] is not None)
        if globs:
            found.append(Order(order[0].strip()[:PHRASE], globs, order["only"] is not None))
    return tuple(found[:MOST])


def _globs(what: str, *, only: bool) -> tuple[str, ...]:
    """The paths that a list names; none of an `only` with a part that is no path."""
    globs: list[str] = []
    for part in _ITEM.split(what):
        item = _LEAD.sub("", part.strip().rstrip(":"))
        if _TESTS.match(item):
            globs += TESTS
        elif _CONFIG.match(item):
            globs += CONFIG
        elif (path := _PATH.match(item)) is not None:
            globs.append(path[1].removeprefix("./"))
        elif item and only:
            return ()  # "only schema.prisma and application code": nobody can tell what else may change
    return tuple(dict.fromkeys(globs))


def _matches(path: str, glob: str) -> bool:
    """Whether a path is what a glob names, or below it."""
    if glob.endswith("/") and "/" not in glob[:-1] and "*" not in glob:
        return f"/{glob}" in f"/{path}"
    if "/" not in glob:
        return fnmatchcase(path.rpartition("/")[2], glob)
    glob = glob.strip("/")
    return fnmatchcase(path.strip("/"), glob) or f"/{path.strip('/')}/".find(f"/{glob.rstrip('*/')}/") >= 0
