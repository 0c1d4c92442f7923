"""Compiled rules: from data to tests, found by program name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

import re2

from ..shell.model import Command
from .facts import Facts
from .model import Family, HttpMatch, Match, Rule

Test = Callable[[Facts], bool]

MAX_TEXT = 65_536
"""Characters of text that a regular expression sees."""

MAX_OPERAND = 4_096
"""Characters of an operand that a wildcard sees."""

MAX_NAMES = 4_096
"""Program names whose rules are remembered."""

ASKING = frozenset(
    (
        "--help",
        "--dry-run",
        "--dryrun",
        "--dry_run",
        "--simulate",
        "--just-print",
        "--what-if",
        "-WhatIf",
        "--whatif",
        "--check-only",
    )
)
"""Options with which nearly every program only talks."""

SILENT = frozenset(
    (
        "echo",
        "printf",
        "man",
        "which",
        "whereis",
        "type",
        "help",
        "apropos",
        "whatis",
        "tldr",
        "info",
        "true",
        "false",
        ":",
        "test",
        "[",
    )
)
"""Programs that only mention what stands in their arguments."""


class CompiledRule:
    """One match of a rule; its tests are made when it is first asked."""

    __slots__ = ("_tests", "firsts", "match", "rule")

    def __init__(self, rule: Rule, match: Match) -> None:
        self.rule = rule
        self.match = match
        self.firsts = first_words(match.words)
        self._tests: tuple[Test, ...] | None = None

    def holds(self, facts: Facts) -> bool:
        tests = self._tests
        if tests is None:
            tests = self._tests = tests_of(self.match)
        for test in tests:  # noqa: SIM110 - a loop is faster than all() here
            if not test(facts):
                return False
        return True


def first_words(entries: tuple[str, ...]) -> frozenset[str] | None:
    """The first subcommands that a match can begin with; None where any will do."""
    if not entries:
        return None
    firsts = frozenset(word for entry in entries for word in entry.split()[0].split("|"))
    return None if any("*" in word for word in firsts) else firsts


class ProgramRules:
    """The rules about one program, by its first subcommand."""

    __slots__ = ("always", "by_word", "valued")

    def __init__(self, rules: list[CompiledRule], valued: frozenset[str]) -> None:
        self.valued = valued
        self.always = tuple(rule for rule in rules if rule.firsts is None)
        words = {word for rule in rules for word in rule.firsts or ()}
        self.by_word = {
            word: tuple(rule for rule in rules if rule.firsts is None or word in rule.firsts) for word in words
        }


class RuleSet:
    """All rules, by the program that they are about."""

    def __init__(self, families: Iterable[Family]) -> None:
        families = tuple(families)
        disabled = {rule for family in families for rule in family.disabled}
        self.rules = tuple(rule for family in families for rule in family.rules if rule.id not in disabled)
        self._valued = {
            program: frozenset(options.split())
            for family in families
            for names, options in family.valued.items()
            for program in names.split()
        }
        self._exact: dict[str, list[CompiledRule]] = {}
        self._wild: list[tuple[str, CompiledRule]] = []
        for rule in self.rules:
            for match in rule.match:
                compiled = CompiledRule(rule, match)
                for name in match.program:
                    if "*" in name:
                        self._wild.append((name, compiled))
                    else:
                        self._exact.setdefault(name, []).append(compiled)
        self._known: dict[str, ProgramRules | None] = {}

    def matching(self, command: Command, workspace: str | None) -> list[Rule]:
        """The rules that hold for a command."""
        program = command.program
        if program in self._known:
            known = self._known[program]
        else:
            known = self._find(program)
        if known is None:
            return []
        facts = Facts(command, workspace, known.valued)
        rules = known.by_word.get(facts.words[0], known.always) if facts.words else known.always
        found = [compiled.rule for compiled in rules if compiled.holds(facts)]
        return [] if found and only_asks(facts) else found

    def _find(self, program: str) -> ProgramRules | None:
        found = list(self._exact.get(program, ()))
        if program not in SILENT:
            found += [compiled for name, compiled in self._wild if fnmatchcase(program, name)]
        if len(self._known) >= MAX_NAMES:
            self._known.clear()
        made = ProgramRules(found, self._valued.get(program, frozenset())) if found else None
        self._known[program] = made
        return made


def only_asks(facts: Facts) -> bool:
    """Whether the command asks for help, a version or a rehearsal."""
    if not ASKING.isdisjoint(facts.options):
        return facts.values.get("--dry-run") not in ("none", "false")
    return facts.command.args[-1:] == ("--version",)


def tests_of(match: Match) -> tuple[Test, ...]:
    """One test per key, the cheap ones first."""
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
        tests.append(lambda facts: not feeders.isdisjoint(facts.command.fed_by))
    tests += [option_test(entry) for entry in match.options]
    if match.without:
        unwanted = [option_test(entry) for entry in match.without]
        tests.append(lambda facts: not any(test(facts) for test in unwanted))
    if match.args:
        tests.append(args_test(match.args))
    if match.paths:
        places = frozenset(match.paths)
        tests.append(lambda facts: not places.isdisjoint(facts.zones))
    if match.target:
        ends = frozenset(match.target)
        tests.append(lambda facts: not ends.isdisjoint(facts.target_zones))
    if match.sql:
        kinds = frozenset(match.sql)
        tests.append(lambda facts: not kinds.isdisjoint(facts.sql))
    if match.text is not None:
        found = searcher(match.text)
        tests.append(lambda facts: bool(facts.text) and found(facts.text[:MAX_TEXT]))
    if match.http is not None:
        tests.append(http_test(match.http))
    return tuple(tests)


def words_test(entries: tuple[str, ...]) -> Test:
    """The leading operands begin with one of these sequences."""
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
    """One of the alternatives is given: `-f|--force`, `--delete*`, `--cap-add=SYS_ADMIN`."""
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


def args_test(patterns: tuple[str, ...]) -> Test:
    plain = frozenset(pattern for pattern in patterns if not any(c in pattern for c in "*?["))
    wild = [as_expression(pattern) for pattern in patterns if pattern not in plain]
    if not wild:
        return lambda facts: not plain.isdisjoint(facts.operands)
    every = re2.Set.FullMatchSet()
    for expression in wild:
        every.Add(expression)
    every.Compile()

    def test(facts: Facts) -> bool:
        for operand in facts.operands:
            if operand in plain or every.Match(operand[:MAX_OPERAND]):
                return True
        return False

    return test


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
            made += re2.escape(letter)
        at += 1
    return made


def searcher(expression: str) -> Callable[[str], bool]:
    """Whether an expression is found in a text, in linear time."""
    one = re2.Set.SearchSet()
    one.Add(expression)
    one.Compile()
    return lambda text: bool(one.Match(text))


def http_test(wanted: HttpMatch) -> Test:
    methods = frozenset(wanted.method)
    url = searcher(wanted.url) if wanted.url else None
    body = searcher(wanted.body) if wanted.body else None

    def test(facts: Facts) -> bool:
        request = facts.request
        return (
            request is not None
            and (not methods or request.method in methods)
            and (url is None or url(request.url[:MAX_TEXT]))
            and (body is None or (bool(request.body) and body(request.body[:MAX_TEXT])))
        )

    return test
