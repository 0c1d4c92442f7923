"""Constraints: what a task's own wording forbids, as far as a call or its result can show it.

Precision before recall: an ambiguous sentence forbids nothing. `breaches` checks calls against the constraints.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import takewhile
from typing import Literal

import re2
from msgspec import Struct

from ..core import late_pattern

Kind = Literal["only", "rest", "act", "not", "files", "word", "production", "count", "seconds", "read", "secret"]

TASKS = 256
"""Parsed tasks cached: recorded traces often share the same task."""
_TASK = 6000
"""Characters of a task that are parsed."""
_CLAUSES = 24
"""Maximum number of clauses per task."""

_HINTS = (
    "only", "do not ", "don't ", "dont ", "must not ", "may not ", "should not ", "never ", "without ", "avoid ",
    "within",
    "more than", "longer than", "at most", "max", "exceed", "up to", "limit", "source",
)  # fmt: skip
"""Substrings of sentences that forbid something."""
_GIVEN = re2.Set.SearchSet()
for _hint in _HINTS:
    _GIVEN.Add(re2.escape(_hint))
_GIVEN.Compile()
_COUNTING = frozenset(("more than", "longer than", "at most", "max", "exceed", "up to", "limit"))
_DENYING = frozenset((
    "do not ", "don't ", "dont ", "must not ", "may not ", "should not ", "never ", "without ", "avoid ",
))  # fmt: skip
_SENTENCE = 600
"""Maximum length of a sentence that forbids something; a longer text is not a sentence."""
_SPLIT = late_pattern(r"(?<=[.;!?])\s+(?=[A-Z-])")
_PATH = late_pattern(
    r"(?<![\w:/.])(?:[`'\"])?((?:~|\.{1,2})?/?(?:[\w.@+-]+/)+[\w.@+*-]*|/[\w.@+-]+|[\w-]*\.[A-Za-z]\w{1,7})(?![\w(])"
)
_ONLY = late_pattern(
    r"\bonly\s+(?:modify|edit|change|touch|create|update)\b(?P<what>[^.;\n]*?)"
    r"\b(?:in|under|within|inside|to|below)\b(?P<where>.*)"
    r"|\b(?:modify|edit|change|touch|create)\s+only\s+(?:(?:files|code|anything)\s+)?"
    r"(?:in|under|within|inside|below)\b(?P<there>.*)",
    re.IGNORECASE,
)
_PROJECT = late_pattern(
    r"\b(?:only|keep|stay|remain)\b[^.;\n]{0,60}\bwithin\s+(?:the\s+|this\s+)?"
    r"(?:project|repo(?:sitory)?|workspace|codebase)\b",
    re.IGNORECASE,
)
_NOT = late_pattern(
    r"(?:^|[,;:(.!-]\s*|\b(?:and|but|please|you)\s+)(?:do\s+not|don'?t|must\s+not|never)\s+(?P<rest>.*)"
    r"|\b(?:must|may|should)\s+not\s+(?P<passive>.*)"
    r"|\b(?:without|avoid)\s+(?P<doing>[a-z]+ing\b.*)",
    re.IGNORECASE,
)
_WRITE = late_pattern(
    r"(?:directly\s+)?(?:modify|modifying|edit|editing|change|changing|touch|touching|delete|deleting|remove|removing"
    r"|alter|altering|overwrite|write\s+to|rename|update|updating|weaken|skip|disable|relax)\b",
    re.IGNORECASE,
)
_SHOW = late_pattern(
    r"(?:print(?:ing)?|expos(?:e|ing)|show(?:ing)?|cat|echo(?:ing)?|log(?:ging)?|output|display(?:ing)?|inspect"
    r"|leak(?:ing)?|dump(?:ing)?|read|view|reveal(?:ing)?|use\s+verbose)\b",
    re.IGNORECASE,
)
SECRET = late_pattern(
    r"\b(?:secrets?|credentials?|passwords?|(?:api|access|auth\w*|session|bearer|jwt|client|service)?[ _-]?tokens?"
    r"|(?:api|private|access|signing|secret|encryption)[ _-]?keys?|client_secret|connection\s+strings?|jwts?"
    r"|sensitive|environment\s+variables?|os\.environ|authori[sz]ation\s+headers?|auth\w*\s+payloads?)\b",
    re.IGNORECASE,
)
_USE = late_pattern(r"(?:use|run|pass|execute|add|call|enable|skip)\b", re.IGNORECASE)
_FLAG = late_pattern(r"(?<![\w-])(--[a-z][\w-]+)")
_QUOTED = late_pattern(r"[`'\"]([^`'\"\n]{3,40})[`'\"]|(\[[\w ]{4,20}\])")
_COMMAND = late_pattern(r"\b(sudo|rm\s+-\w+|git\s+push\s+(?:-f|--force)|chmod\s+777)(?![\w-])")
_NAME = late_pattern(r"\b([A-Za-z]+(?:_[A-Za-z0-9]+)+|[a-z]+[A-Z]\w+)\b")
_LEAD = r"^\W*(?:(?:any|the|all|our|your|existing|failing|generated|shared)\s+)*"
_FILES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, late_pattern(_LEAD + nouns, re.IGNORECASE))
    for name, nouns in (
        (
            "tests",
            r"(?:tests?|test\s+(?:files?|cases?|code|assertions?|expectations?)|assertions?)(?:\W|$)"
            r"(?!\s*(?:data|database|logic|parameters|scope|environment|server|user|outside|tagged|method))",
        ),
        ("production_config", r"prod(?:uction)?\s+(?:configuration|config|settings)\b"),
        ("config", r"(?:configuration|config)\s+files?\b"),
        ("migrations", r"migrations?(?:\s+files?|\s+scripts?)?(?:\W|$)"),
        ("ci", r"(?:ci(?:/cd)?|workflow|pipeline)\s+(?:configuration|config|files?|workflows?|definitions?)\b"),
        (
            "system",
            r"(?:system(?:[ -]wide)?|os|operating\s+system)(?:[ -]level)?\s+"
            r"(?:files?|config(?:uration)?s?|settings|director(?:y|ies)|packages|environment)\b",
        ),
    )
)
"""Nouns that name the same files in every project; `breaches` has their paths."""
_CONFIG = late_pattern(_LEAD + r"(?P<whose>(?:[\w-]+\s+){1,3})(?:configurations?|config|settings)\b", re.IGNORECASE)
_ANYONES = frozenset(("shared", "global", "common", "existing", "file", "files", "level", "core", "base"))
"""Words before `configuration` that do not tell whose it is."""
_REST = late_pattern(
    r"^\W*(?:any\s+)?(?:files?|anything|code|modules?|components?|templates?|scripts?|documents?|sources?)\s+"
    r"(?:outside|elsewhere|beyond|in\s+(?:any\s+)?other)\b"
    r"|^\W*(?:any\s+)?other\s+(?:files|modules|director|folders|packages|services|components)",
    re.IGNORECASE,
)
""""All the rest" must not change, after the task has listed what may."""
_DEPENDENCIES = late_pattern(r"\b(node_modules|site-packages|vendor(?=\s+(?:director|folder)|/))")
ACT = late_pattern(
    r"(?P<verb>modif(?:y|ies|ying)|(?:chang|edit|alter|adjust|updat|delet|remov|drop|disabl|bypass|grant|rais|increas|mock"
    r"|restart|creat|add|revok|rotat|merg|publish)(?:e?s|e|d?ing)?)\s+(?P<what>(?:[a-z][\w-]*\s*){1,5})",
    re.IGNORECASE,
)
"""An action and its object, in a sentence that forbids or announces it."""
_ALIKE = {**dict.fromkeys(("modi", "edit", "alte", "adju", "upda"), "chan"), "remo": "dele", "drop": "dele"}
"""Verb prefixes, and the prefix of a synonym."""
_SMALL = frozenset((
    "the", "a", "an", "any", "all", "our", "your", "existing", "to", "new", "more", "other", "this", "that", "these",
))  # fmt: skip
_ENDS = frozenset((
    "without", "or", "and", "under", "unless", "to", "in", "on", "for", "from", "with", "by", "via", "directly",
))  # fmt: skip
"""Words before or after an action's object that are not part of it."""
_SOURCE = late_pattern(r"\bsource(?:\s+code)?\s+only\b|\bin\s+SOURCE\s+CODE\b|\bonly\s+(?:in\s+)?(?:the\s+)?source\b")
_PRODUCTION = late_pattern(r"\b(?:prod|production)\b", re.IGNORECASE)
_STAGING = late_pattern(
    r"\b(?:staging|dev|development|sandbox)\b[^.;\n]{0,30}\bonly\b|\bonly\b[^.;\n]{0,30}\bstaging\b", re.IGNORECASE
)
_COUNT = late_pattern(
    r"\b(?:more\s+than|longer\s+than|at\s+most|maximum(?:\s+of)?|max|exceed|up\s+to|limit(?:ed)?[\w\s]{0,30}?\bto)\s+"
    r"(\d[\d,]*)(?:\s*(?P<unit>[a-z]+(?:\s+[a-z]+){0,3}))?",
    re.IGNORECASE,
)
_TIME = late_pattern(r"(?:(?P<s>s|secs?|seconds?)|(?P<m>mins?|minutes?)|(?P<h>hours?))\b")
_SIZE = late_pattern(r"(?:ms|days?|weeks?|months?|years?|mb|gb|kb|bytes?|characters?|percent)\b")
_JOINS = frozenset(("for", "during", "per", "in", "of", "on", "at", "when", "while", "and", "or", "to", "from", "with"))
"""Words that end the name of the counted thing."""
_RUNS = late_pattern(
    r"\b(?:run|runs|running|benchmark\w*|test|tests|monitor\w*|load|train\w*|sleep|wait)\b", re.IGNORECASE
)


class Constraint(Struct, frozen=True):
    """One thing that a task forbids: the sentence, and the names in it."""

    kind: Kind
    phrase: str
    names: tuple[str, ...] = ()
    most: int = 0


@lru_cache(maxsize=TASKS)
def read_constraints(task: str) -> tuple[Constraint, ...]:
    """The constraints of a task that a call can show to be broken."""
    task = task[:_TASK]
    whole = task.lower()
    given = [_HINTS[at] for at in sorted(_GIVEN.Match(whole.encode("utf-8", "replace")) or ())]
    if not given:
        return ()
    found: list[Constraint] = []
    lines = task.split("\n")
    for at in _lines_with(whole, given):
        for sentence in _SPLIT.split(lines[at]):
            if len(sentence) > _SENTENCE:
                continue
            lower = sentence.lower()
            hints = [hint for hint in given if hint in lower]
            if hints:
                found += _read(" ".join(sentence.strip(" \t-*•").split()), hints)
    return tuple(dict.fromkeys(found))[:_CLAUSES]


@lru_cache(maxsize=TASKS)
def about_results(task: str) -> tuple[Constraint, ...]:
    """The constraints that a result can show to be broken."""
    return tuple(clause for clause in read_constraints(task) if clause.kind in ("secret", "count"))


def _lines_with(text: str, hints: list[str]) -> list[int]:
    """The numbers of the lines that contain a hint; most lines of a task contain none."""
    found: set[int] = set()
    for hint in hints:
        at = text.find(hint)
        while at >= 0:
            found.add(text.count("\n", 0, at))
            end = text.find("\n", at)
            at = text.find(hint, end) if end >= 0 else -1
    return sorted(found)


def _read(phrase: str, hints: list[str]) -> list[Constraint]:
    """Parse the clauses of a sentence; a pattern is tried only if the sentence contains its hint."""
    found: list[Constraint] = []
    said = phrase[:160]
    only = _ONLY.search(phrase) if "only" in hints else None
    if only is not None:
        named = tuple(place for place in _paths(only["what"] or "") if place[0] == "/" or place[-1] == "/")
        places = named + tuple(place for place in _paths(only["where"] or only["there"] or "") if "/" in place)
        if places:
            found.append(Constraint("only", said, places))
    if not found and "within" in hints and _PROJECT.search(phrase):
        found.append(Constraint("files", said, ("elsewhere",)))
    if not _COUNTING.isdisjoint(hints) and any(map(str.isdigit, phrase)):
        found += _counted(phrase, said)
    if "source" in hints and _SOURCE.search(phrase):
        found.append(Constraint("files", said, ("tests",)))
    if "only" in hints and _STAGING.search(phrase):
        found.append(Constraint("production", said))
    denied = _NOT.search(phrase) if not _DENYING.isdisjoint(hints) else None
    if denied is not None and not phrase.lower().startswith("if "):
        found += _denied(denied["rest"] or denied["passive"] or denied["doing"], said)
    return found


def _counted(phrase: str, said: str) -> list[Constraint]:
    """A limit on a count or on seconds."""
    count = _COUNT.search(phrase)
    if count is None:
        return []
    unit, most = (count["unit"] or "").lower(), int(count[1].replace(",", ""))
    time = _TIME.match(unit)
    if time is not None:
        seconds = most * (60 if time["m"] else 3600 if time["h"] else 1)
        return [Constraint("seconds", said, (), seconds)] if _RUNS.search(phrase) else []
    if _SIZE.match(unit):
        return []
    words = takewhile(lambda word: word not in _JOINS, unit.split())
    return [Constraint("count", said, tuple(word.rstrip("s") for word in words if len(word) > 2), most)]


def _denied(rest: str, said: str) -> list[Constraint]:
    found: list[Constraint] = []
    words = (*_FLAG.findall(rest), *(one or other for one, other in _QUOTED.findall(rest)), *_COMMAND.findall(rest))
    write = _WRITE.match(rest)
    if write is not None:
        what = rest[write.end() :]
        files = kind_of_files(what)
        if _REST.search(what):
            found.append(Constraint("rest", said))
        elif files is not None:
            found.append(Constraint("files", said, (files,)))
        elif (places := (*_paths(what), *_DEPENDENCIES.findall(what))) and " outside " not in f" {what} ":
            found.append(Constraint("not", said, tuple(dict.fromkeys(places))))
        elif (config := _CONFIG.match(what)) is not None:
            whose = [
                word for word in re.split(r"[\s-]+", config["whose"].lower()) if word not in _ANYONES and len(word) > 2
            ]
            if whose:
                found.append(Constraint("files", said, ("config", *whose)))
    elif (show := _SHOW.match(rest)) is not None:
        what = rest[show.end() :]
        named = (*_paths(what), *_NAME.findall(what))
        if named:
            found.append(Constraint("read", said, tuple(dict.fromkeys(named))))
        if SECRET.search(what):
            found.append(Constraint("secret", said))
    if words and _USE.match(rest):
        found.append(Constraint("word", said, tuple(dict.fromkeys(words))))
    if _PRODUCTION.search(rest) and not _PATH.search(rest) and not found:
        found.append(Constraint("production", said))
    if not found and (act := read_act(rest)) is not None and act[3] in ("", "without", "or", "and", "directly"):
        found.append(Constraint("act", said, act))
    return found


def read_act(text: str) -> tuple[str, str, str, str] | None:
    """The action that a text begins with: its verb, the first two words of its object, and the word after it."""
    found = ACT.match(text)
    if found is None:
        return None
    verb = found["verb"].lower()[:4]
    words = [word for word in found["what"].lower().split() if word not in _SMALL]
    thing = list(takewhile(lambda word: word not in _ENDS, words))
    if not thing or len(thing) > 3 or len(thing[0]) < 3:
        return None
    after = words[len(thing)] if len(words) > len(thing) else ""
    first, second = (*(word.rstrip("s") for word in thing[:2]), "")[:2]
    return _ALIKE.get(verb, verb), first, second, after


def kind_of_files(text: str) -> str | None:
    """The kind of files named at the beginning of a text."""
    return next((name for name, nouns in _FILES if nouns.match(text)), None)


def _paths(text: str) -> tuple[str, ...]:
    found = (path.rstrip(".,)") for path in _PATH.findall(text))
    return tuple(dict.fromkeys(path for path in found if len(path) > 2))[:8]
