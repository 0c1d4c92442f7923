"""Predicates: the keys of a match, each as a test of a command's facts."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase

import re2

from ..wordlist import name_set
from .facts import Facts
from .model import HttpMatch, Match

FILE_READERS = name_set("cat tac head tail tee grep egrep fgrep rg sort uniq less more pv")
"""Programs that pass on a file's contents: their output is as visible as the file."""

Test = Callable[[Facts], bool]

MAX_TEXT = 65_536
"""Characters of text that a regular expression searches."""

MAX_OPERAND = 4_096
"""Characters of an operand that a wildcard matches."""


def tests_of(match: Match) -> tuple[Test, ...]:
    """One test per key, cheap ones first; `args` and `text` are searched once for all rules of a program."""
    tests: list[Test] = []
    if match.words:
        tests.append(words_test(match.words))
    if match.verbs:
        wanted = frozenset(match.verbs)
        tests.append(lambda facts: not wanted.isdisjoint(facts.verbs))
    if match.filtered is not None:
        tests.append(lambda facts: facts.command.filtered is match.filtered)
    if match.via:
        via = frozenset(match.via)
        tests.append(lambda facts: not via.isdisjoint(facts.command.via))
    if match.fed_by:
        feeders = frozenset(match.fed_by)
        tests.append(is_fed_unread if "*" in feeders else lambda facts: not feeders.isdisjoint(facts.command.fed_by))
    tests += [option_test(entry) for entry in match.options]
    if match.without:
        unwanted = [option_test(entry) for entry in match.without]
        tests.append(lambda facts: not any(test(facts) for test in unwanted))
    if match.unless_args:
        every = args_set(match.unless_args)
        tests.append(
            lambda facts: not all(every.Match(arg[:MAX_OPERAND]) for arg in facts.command.args if arg[:1] != "-")
        )
    if match.moved:
        origins = frozenset(match.moved)
        tests.append(lambda facts: not origins.isdisjoint(facts.moved_zones))
    if match.paths:
        places = frozenset(match.paths)
        tests.append(lambda facts: not places.isdisjoint(facts.zones))
    if match.target:
        ends = frozenset(match.target)
        tests.append(lambda facts: not ends.isdisjoint(facts.target_zones))
    if match.sql:
        kinds = frozenset(match.sql)
        tests.append(lambda facts: not kinds.isdisjoint(facts.sql))
    if match.http is not None:
        tests.append(http_test(match.http))
    return tuple(tests)


def is_fed_unread(facts: Facts) -> bool:
    """Whether a program generates the input, so that it can be known only by running that program."""
    return facts.command.stdin is None and not FILE_READERS.issuperset(facts.command.fed_by)


def words_test(entries: tuple[str, ...]) -> Test:
    """Whether the leading operands begin with one of these sequences."""
    sequences = [[frozenset(word.split("|")) for word in entry.split()] for entry in entries]

    def test(facts: Facts) -> bool:
        words = facts.words
        for sequence in sequences:
            if len(words) >= len(sequence):
                for choices, word in zip(sequence, words, strict=False):
                    if word not in choices and "*" not in choices:
                        break
                else:
                    return True
        return False

    return test


def option_test(entry: str) -> Test:
    """Whether one of the alternatives is given: `-f|--force`, `--delete*`, `--cap-add=SYS_ADMIN`."""
    choices = entry.split("|")
    plain = frozenset(choice for choice in choices if "*" not in choice and "=" not in choice)
    wild = [choice for choice in choices if "*" in choice and "=" not in choice]
    valued = [choice.partition("=")[::2] for choice in choices if "=" in choice]

    def test(facts: Facts) -> bool:
        options = facts.options
        if not options:
            return False
        return (
            not plain.isdisjoint(options)
            or any(fnmatchcase(option, pattern) for pattern in wild for option in options)
            or any(name in facts.values and fnmatchcase(facts.values[name], value) for name, value in valued)
        )

    return test


def args_set(patterns: tuple[str, ...]) -> re2.Set:
    """All wildcards as one search."""
    every = re2.Set.FullMatchSet()
    for pattern in patterns:
        every.Add(as_expression(pattern))
    every.Compile()
    return every


def as_expression(wildcard: str) -> str:
    """A shell wildcard as an RE2 expression, which takes linear time on any input."""
    made = ""
    at = 0
    while at < len(wildcard):
        letter = wildcard[at]
        close = wildcard.find("]", at + 2) if letter == "[" else -1
        if letter == "*":
            made += "(?s:.*)"
        elif letter == "?":
            made += "(?s:.)"
        elif close > 0:
            inner = wildcard[at + 1 : close]
            made += f"[^{inner[1:]}]" if inner.startswith("!") else f"[{inner}]"
            at = close
        else:
            # Call re2 only for special characters: there are thousands of letters.
            made += letter if letter.isascii() and letter.isalnum() else re2.escape(letter)
        at += 1
    return made


def searcher(expression: str) -> Callable[[str], bool]:
    """A function that tells in linear time whether an expression matches in a text."""
    one = text_set((expression,))
    return lambda text: bool(one.Match(text))


def text_set(expressions: tuple[str, ...]) -> re2.Set:
    """All expressions as one linear-time search."""
    every = re2.Set.SearchSet()
    for expression in expressions:
        every.Add(expression)
    every.Compile()
    return every


def http_test(wanted: HttpMatch) -> Test:
    methods = frozenset(wanted.method)
    url = searcher(wanted.url) if wanted.url else None
    body = searcher(wanted.body) if wanted.body else None
    unwanted = searcher(wanted.not_url) if wanted.not_url else None

    def test(facts: Facts) -> bool:
        request = facts.request
        return (
            request is not None
            and (not methods or request.method in methods)
            and (url is None or url(request.url[:MAX_TEXT]))
            and (unwanted is None or not unwanted(request.url[:MAX_TEXT]))
            and (body is None or (bool(request.body) and body(request.body[:MAX_TEXT])))
        )

    return test
