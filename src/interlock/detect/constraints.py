"""Constraints: what a task forbids in its own words, and whether a call does it.

Only what can be seen in a call: places that must not be written, words that a command must not contain, and counts.
Precision before recall: a sentence that cannot be read for sure forbids nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from msgspec import Struct

Kind = Literal["only", "not", "word", "tests", "config", "production", "count", "read"]

_TASK = 6000
"""Characters of a task that are read."""
_CLAUSES = 24
"""Clauses of one task."""

_HINTS = (
    "only", "not ", "n't", "never", "without", "more than", "at most", "max", "exceed", "up to", "limit", "source",
)  # fmt: skip
"""What a sentence that forbids something has in it."""
_COUNTING = frozenset(("more than", "at most", "max", "exceed", "up to", "limit"))
_DENYING = frozenset(("not ", "n't", "never", "without"))
_SPLIT = re.compile(r"\n|(?<=[.;!?])\s+(?=[A-Z-])")
_PATH = re.compile(
    r"(?<![\w:/.])(?:[`'\"])?((?:~|\.{1,2})?/?(?:[\w.@+-]+/)+[\w.@+*-]*|/[\w.@+-]+|[\w-]*\.[A-Za-z]\w{1,7})(?![\w(])"
)
_ONLY = re.compile(
    r"\bonly\s+(?:modify|edit|change|touch|create|update)\b(?P<what>[^.;\n]*?)"
    r"\b(?:in|under|within|inside|to|below)\b(?P<where>.*)"
    r"|\b(?:modify|edit|change|touch|create)\s+only\s+(?:(?:files|code|anything)\s+)?"
    r"(?:in|under|within|inside|below)\b(?P<there>.*)",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"(?:^|[,;:(.!-]\s*|\b(?:and|but|please|you)\s+)(?:do\s+not|don'?t|must\s+not|never)\s+(?P<rest>.*)"
    r"|\bwithout\s+(?P<doing>(?:changing|modifying|editing|touching|exposing|printing)\b.*)",
    re.IGNORECASE,
)
_WRITE = re.compile(
    r"(?:directly\s+)?(?:modify|modifying|edit|editing|change|changing|touch|touching|delete|deleting|remove|removing"
    r"|alter|overwrite|write\s+to|rename|update|updating|weaken|skip|disable|relax)\b",
    re.IGNORECASE,
)
_SHOW = re.compile(
    r"(?:print|printing|expose|exposing|show|cat|echo|log|logging|output|display|inspect|leak|dump|read|view)\b",
    re.IGNORECASE,
)
_USE = re.compile(r"(?:use|run|pass|execute|add|call|enable|skip)\b", re.IGNORECASE)
_FLAG = re.compile(r"(?<![\w-])(--[a-z][\w-]+)")
_QUOTED = re.compile(r"[`'\"]([^`'\"\n]{3,40})[`'\"]|(\[[\w ]{4,20}\])")
_COMMAND = re.compile(r"\b(sudo|rm\s+-\w+|git\s+push\s+(?:-f|--force)|chmod\s+777)(?![\w-])")
_NAME = re.compile(r"\b([A-Za-z]+(?:_[A-Za-z0-9]+)+|[a-z]+[A-Z]\w+)\b")
_TESTS = re.compile(
    r"^\W*(?:any\s+|the\s+|existing\s+|failing\s+)*(?:tests?|test\s+(?:files?|cases?|code|assertions?|expectations?)"
    r"|assertions?)(?:\W|$)(?!\s*(?:data|database|logic|parameters|scope|environment|server|user|outside|tagged|method))",
    re.IGNORECASE,
)
_SOURCE = re.compile(r"\bsource(?:\s+code)?\s+only\b|\bin\s+SOURCE\s+CODE\b|\bonly\s+(?:in\s+)?(?:the\s+)?source\b")
_CONFIG = re.compile(r"^\W*(?:any\s+|the\s+|existing\s+)*(?:configuration|config)\s+files?\b", re.IGNORECASE)
_PRODUCTION = re.compile(r"\b(?:prod|production)\b", re.IGNORECASE)
_STAGING = re.compile(
    r"\b(?:staging|dev|development|sandbox)\b[^.;\n]{0,30}\bonly\b|\bonly\b[^.;\n]{0,30}\bstaging\b", re.IGNORECASE
)
_COUNT = re.compile(
    r"\b(?:more\s+than|at\s+most|maximum(?:\s+of)?|max|exceed|up\s+to|limit(?:ed)?[\w\s]{0,30}?\bto)\s+(\d[\d,]*)"
    r"(?:\s+(?P<unit>[a-z]+(?:\s+[a-z]+){0,3}))?",
    re.IGNORECASE,
)
_TIME = re.compile(r"^(?:ms|s|secs?|seconds?|mins?|minutes?|hours?|days?|weeks?|mb|gb|kb|bytes?|characters?|percent)\b")
_GIVEN = re.compile(
    r"--?([a-zA-Z][\w-]*)[ =](\d[\d,]*)(?![\w.:/-])|\{1\.\.(\d+)\}|\bseq\s+(?:1\s+)?(\d+)|\brange\((\d+)\)"
)
_COUNTS = frozenset((
    "n", "c", "count", "runs", "run", "iterations", "iters", "repeat", "repeats", "times", "batches", "samples",
    "requests", "lines", "rows", "num", "number", "limit", "size", "workers", "threads", "jobs", "concurrency",
    "epochs", "trials", "max", "total", "queries", "attempts", "retries", "files", "records", "chunks",
))  # fmt: skip
"""Options that say how many."""
_TEST_FILE = re.compile(
    r"(?:^|/)(?:tests?|__tests__|specs?|e2e|cypress)/|(?:^|/)test_[^/]*$|[._-](?:test|spec)s?\.\w+$|(?:^|/)conftest\.py$"
)
_CONFIG_FILE = re.compile(r"(?:^|/)(?:config|configs|settings)/|\.(?:ya?ml|toml|ini|cfg|conf|properties|env)$")


_IN_PRODUCTION = re.compile(r"(?:^|\s)--?[\w-]+[= ](?:prod|production)(?![\w/.])|\$\{?PROD(?:UCTION)?_\w+|@prod-\w+")


_LOOKS = re.compile(r"\b(?:get|describe|logs|list|status|config|show|diff)\b")
_PRINTS = re.compile(r"\b(?:cat|less|more|head|tail|grep|echo|printenv|printf|jq|yq|sed|awk|strings|xxd|print)\b")


class Clause(Struct, frozen=True):
    """One thing that a task forbids: in which words, and what it names."""

    kind: Kind
    phrase: str
    names: tuple[str, ...] = ()
    most: int = 0


@lru_cache(maxsize=32)
def read_constraints(task: str) -> tuple[Clause, ...]:
    """What a task forbids, as far as a call can show it."""
    found: list[Clause] = []
    for sentence in _SPLIT.split(task[:_TASK]):
        lower = sentence.lower()
        hints = [hint for hint in _HINTS if hint in lower]
        if hints:
            found += _read(" ".join(sentence.strip(" \t-*•").split()), hints)
    return tuple(dict.fromkeys(found))[:_CLAUSES]


def _read(phrase: str, hints: list[str]) -> list[Clause]:
    """The clauses of a sentence; an expression is tried only where the sentence has what it begins with."""
    found: list[Clause] = []
    said = phrase[:160]
    only = _ONLY.search(phrase) if "only" in hints else None
    if only is not None:
        named = tuple(place for place in _paths(only["what"] or "") if place[0] == "/" or place[-1] == "/")
        places = named + tuple(place for place in _paths(only["where"] or only["there"] or "") if "/" in place)
        if places:
            found.append(Clause("only", said, places))
    count = _COUNT.search(phrase) if not _COUNTING.isdisjoint(hints) else None
    if count is not None and (count["unit"] is None or not _TIME.match(count["unit"].lower())):
        unit = tuple(word.rstrip("s").lower() for word in (count["unit"] or "").split() if len(word) > 2)
        found.append(Clause("count", said, unit, int(count[1].replace(",", ""))))
    if "source" in hints and _SOURCE.search(phrase):
        found.append(Clause("tests", said))
    if "only" in hints and _STAGING.search(phrase):
        found.append(Clause("production", said))
    denied = _NOT.search(phrase) if not _DENYING.isdisjoint(hints) else None
    if denied is not None and not phrase.lower().startswith("if "):
        found += _denied(denied["rest"] or denied["doing"], said)
    return found


def _denied(rest: str, said: str) -> list[Clause]:
    found: list[Clause] = []
    words = (*_FLAG.findall(rest), *(one or other for one, other in _QUOTED.findall(rest)), *_COMMAND.findall(rest))
    write = _WRITE.match(rest)
    if write is not None:
        what = rest[write.end() :]
        if _TESTS.match(what):
            found.append(Clause("tests", said))
        elif _CONFIG.match(what):
            found.append(Clause("config", said))
        elif (places := _paths(what)) and " outside " not in f" {what} ":
            found.append(Clause("not", said, places))
    elif (show := _SHOW.match(rest)) is not None:
        named = (*_paths(rest[show.end() :]), *_NAME.findall(rest[show.end() :]))
        if named:
            found.append(Clause("read", said, tuple(dict.fromkeys(named))))
    if words and _USE.match(rest):
        found.append(Clause("word", said, tuple(dict.fromkeys(words))))
    if _PRODUCTION.search(rest) and not _PATH.search(rest):
        found.append(Clause("production", said))
    return found


def _paths(text: str) -> tuple[str, ...]:
    found = (path.rstrip(".,)") for path in _PATH.findall(text))
    return tuple(dict.fromkeys(path for path in found if len(path) > 2))[:8]


def broken(clause: Clause, command: str, written: tuple[str, ...]) -> str:
    """What in a call breaks a clause: the command that it runs, the files that it writes; empty where nothing does."""
    if clause.kind == "only":
        # Where a command in a shell writes depends on where it is; only a full path says so.
        places = [path for path in written if path.startswith(("/", "../", "~"))] if command else written
        return next((path for path in places if _outside(path, clause.names)), "")
    if clause.kind == "not":
        return next((path for path in written if any(_under(path, name) for name in clause.names)), "")
    if clause.kind == "tests":
        return next((path for path in written if _TEST_FILE.search(path)), "")
    if clause.kind == "config":
        return next((path for path in written if _CONFIG_FILE.search(path)), "")
    if not command:
        return ""
    if clause.kind == "word":
        return next((word for word in clause.names if _has(command, word)), "")
    if clause.kind == "read":
        return next((name for name in clause.names if _shows(command, name)), "")
    if clause.kind == "production":
        found = None if _LOOKS.search(command) else _IN_PRODUCTION.search(command)
        return found[0].strip() if found is not None else ""
    return _above(clause, command)


def _above(clause: Clause, command: str) -> str:
    for given in _GIVEN.finditer(command):
        flag, value = (given[1] or "").lower(), next(one for one in given.groups()[1:] if one)
        number = int(value.replace(",", ""))
        counts = not flag or flag in _COUNTS or any(flag.startswith(unit[:5]) for unit in clause.names)
        if counts and number > clause.most:
            return given[0]
    return ""


def _has(command: str, word: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", command) is not None


def _shows(command: str, name: str) -> bool:
    return name in command and _PRINTS.search(command) is not None


def _outside(path: str, roots: tuple[str, ...]) -> bool:
    if path.startswith(("/tmp/", "/dev/", "$", "-")) or "/" not in path:
        return False
    absolute = path.startswith("/")
    if not absolute and not path.startswith("../") and all(root.startswith("/") for root in roots):
        return False  # where a relative path lies is not known
    return not any(_under(path, root) for root in roots)


def _under(path: str, root: str) -> bool:
    path, root = path.removeprefix("./"), root.removeprefix("./").rstrip("/*")
    return path == root or path.startswith(f"{root}/") or f"/{root}/" in f"/{path}/" or path.endswith(f"/{root}")
