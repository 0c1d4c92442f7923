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

MAX_NAMES = 4_096
"""Program names whose rules are remembered."""

ASKING = frozenset(("--help", "--version", "--dry-run", "--dryrun", "--dry_run", "--simulate", "--just-print", "--what-if", "-WhatIf", "--whatif", "--check-only"))
"""Options with which nearly every program only talks."""

SILENT = frozenset(("echo", "printf", "man", "which", "whereis", "type", "help", "apropos", "whatis", "tldr", "info", "true", "false", ":", "test", "["))
"""Programs that only mention what stands in their arguments."""


class CompiledRule:
    """A rule, ready to be asked."""

    __slots__ = ("rule", "tests")

    def __init__(self, rule: Rule, match: Match) -> None:
        self.rule = rule
        self.tests = tests_of(match)

    def holds(self, facts: Facts) -> bool:
        return all(test(facts) for test in self.tests)


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
        self._known: dict[str, tuple[CompiledRule, ...]] = {}

    def matching(self, command: Command, workspace: str | None) -> list[Rule]:
        """The rules that hold for a command."""
        rules = self._known.get(command.program)
        if rules is None:
            rules = self._find(command.program)
        if not rules:
            return []
        facts = Facts(command, workspace, self._valued.get(command.program, NO_OPTIONS))
        if not ASKING.isdisjoint(facts.options) and facts.values.get("--dry-run") not in ("none", "false"):
            return []
        return [compiled.rule for compiled in rules if compiled.holds(facts)]

    def _find(self, program: str) -> tuple[CompiledRule, ...]:
        found = list(self._exact.get(program, ()))
        if program not in SILENT:
            found += [compiled for name, compiled in self._wild if fnmatchcase(program, name)]
        if len(self._known) >= MAX_NAMES:
            self._known.clear()
        self._known[program] = tuple(found)
        return self._known[program]


NO_OPTIONS: frozenset[str] = frozenset()


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
        pattern = re2.compile(match.text)
        tests.append(lambda facts: bool(facts.text) and pattern.search(facts.text[:MAX_TEXT]) is not None)
    if match.http is not None:
        tests.append(http_test(match.http))
    return tuple(tests)


def words_test(entries: tuple[str, ...]) -> Test:
    """The leading operands begin with one of these sequences."""
    sequences = [[frozenset(word.split("|")) for word in entry.split()] for entry in entries]

    def test(facts: Facts) -> bool:
        words = facts.words
        return any(
            len(words) >= len(sequence)
            and all("*" in choices or word in choices for choices, word in zip(sequence, words, strict=False))
            for sequence in sequences
        )

    return test


def option_test(entry: str) -> Test:
    """One of the alternatives is given: `-f|--force`, `--delete*`, `--cap-add=SYS_ADMIN`."""
    choices = entry.split("|")
    plain = frozenset(choice for choice in choices if "*" not in choice and "=" not in choice)
    wild = [choice for choice in choices if "*" in choice and "=" not in choice]
    valued = [choice.partition("=")[::2] for choice in choices if "=" in choice]

    def test(facts: Facts) -> bool:
        options = facts.options
        return (
            not plain.isdisjoint(options)
            or any(fnmatchcase(option, pattern) for pattern in wild for option in options)
            or any(name in facts.values and fnmatchcase(facts.values[name], value) for name, value in valued)
        )

    return test


def args_test(patterns: tuple[str, ...]) -> Test:
    plain = frozenset(pattern for pattern in patterns if not any(c in pattern for c in "*?["))
    wild = [pattern for pattern in patterns if pattern not in plain]

    def test(facts: Facts) -> bool:
        return any(
            operand in plain or any(fnmatchcase(operand, pattern) for pattern in wild) for operand in facts.operands
        )

    return test


def http_test(wanted: HttpMatch) -> Test:
    methods = frozenset(wanted.method)
    url = re2.compile(wanted.url) if wanted.url else None
    body = re2.compile(wanted.body) if wanted.body else None

    def test(facts: Facts) -> bool:
        request = facts.request
        return (
            request is not None
            and (not methods or request.method in methods)
            and (url is None or url.search(request.url[:MAX_TEXT]) is not None)
            and (body is None or body.search(request.body[:MAX_TEXT]) is not None)
        )

    return test
