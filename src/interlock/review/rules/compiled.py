"""Compiled rules: from data to tests, indexed by program name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any

import re2
from msgspec.structs import replace

from ..effects import effects_of
from ..paths import zones
from ..shell.model import Command
from .facts import Facts
from .model import Match, Rule, RuleFamily, warning
from .predicates import MAX_OPERAND, MAX_TEXT, Test, args_set, tests_of, text_set

MAX_NAME = 128
"""Characters of a program's name; a longer word is not a program."""

MAX_NAMES = 4_096
"""Program names whose rules are cached."""

MAX_REMEMBERED = 4_096
"""Commands whose rules are cached: a run does the same things to the same files repeatedly."""

SHORT = 512
"""Maximum length of a cached command."""

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
"""Options that make nearly every program only print something."""

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
"""Programs that only mention their arguments and do not act on them."""


class CompiledRule:
    """One match of a rule; its tests are built on first use."""

    __slots__ = ("_tests", "breadth", "firsts", "match", "rule")

    def __init__(self, rule: Rule, match: Match) -> None:
        self.rule = rule
        self.match = match
        self.firsts = first_words(match.words)
        self.breadth = breadth_of(match)
        self._tests: tuple[Test, ...] | None = None

    def holds(self, facts: Facts) -> bool:
        tests = self._tests
        if tests is None:
            tests = self._tests = tests_of(self.match)
        for test in tests:  # noqa: SIM110 (all() is slower)
            if not test(facts):
                return False
        return True

    def may_hold(self, fed: bool, wrapped: bool) -> bool:
        """Whether the rule can match a command with or without piped input and wrappers."""
        return (fed or not self.match.fed_by) and (wrapped or not self.match.via)

    @property
    def asks_for_operand(self) -> bool:
        """Whether the rule can match only with certain operands or paths."""
        match = self.match
        return bool(match.args or match.paths or match.target or match.moved)


def breadth_of(match: Match) -> int:
    """How broad a match is: 0 for a few programs or a telling kind of path, 1 for many programs, 2 for any effect."""
    if not ANYTHING.isdisjoint(match.program):
        return 0 if match.paths and TELLING.issuperset(match.paths) else 2
    return int(len(match.program) > FEW or not VERSATILE.isdisjoint(match.program))


ANYTHING = frozenset(("deletes", "destroys", "writes", "reads", "unpacks", "touches", "halts", "sql", "call"))
TELLING = frozenset(("trust", "credential", "history", "log", "startup"))
VERSATILE = frozenset(("aws", "gcloud", "az", "kubectl"))
FEW = 3
"""Names for any program with an effect; zones that show its purpose; multi-purpose programs."""


def most_specific_first(found: list[CompiledRule]) -> list[CompiledRule]:
    """Rules in the order in which their reasons are reported: by family, the most specific first."""
    families = [rule.rule.id.partition(".")[0] for rule in found]
    best = dict.fromkeys(families, 2)
    for family, rule in zip(families, found, strict=True):
        best[family] = min(best[family], rule.breadth)
    return [rule for _, rule in sorted(zip(families, found, strict=True), key=lambda each: best[each[0]])]


def first_words(entries: tuple[str, ...]) -> frozenset[str] | None:
    """The first subcommands that a match can begin with; None if any will do."""
    if not entries:
        return None
    firsts = frozenset(word for entry in entries for word in entry.split()[0].split("|"))
    return None if any("*" in word for word in firsts) else firsts


class ProgramRules:
    """The rules about one program, by its first subcommand."""

    __slots__ = (
        "_args",
        "_chosen",
        "_expressions",
        "_plain",
        "_seen",
        "_texts",
        "_textual",
        "_wanted",
        "_wild",
        "_worded",
        "_zones",
        "always",
        "by_word",
        "valued",
    )

    def __init__(self, rules: list[CompiledRule], valued: frozenset[str]) -> None:
        self.valued = valued
        self.always = tuple(rule for rule in rules if rule.firsts is None)
        words = {word for rule in rules for word in rule.firsts or ()}
        self.by_word = {
            word: tuple(rule for rule in rules if rule.firsts is None or word in rule.firsts) for word in words
        }
        self._chosen: dict[tuple[str, bool, bool], tuple[CompiledRule, ...]] = {}
        self._wanted: dict[CompiledRule, frozenset[int]] = {}
        self._args = one_search(rules, self._wanted)
        self._seen: dict[str, tuple[int, ...]] = {}
        self._expressions = tuple(dict.fromkeys(rule.match.text for rule in rules if rule.match.text is not None))
        self._worded = {rule: self._expressions.index(rule.match.text) for rule in rules if rule.match.text is not None}
        self._texts: re2.Set | None = None
        self._zones = frozenset(
            zone for rule in self.always for zone in (*rule.match.paths, *rule.match.target, *rule.match.moved)
        )
        self._wild = any(rule.match.args for rule in self.always)
        self._plain: dict[tuple[str, str | None, str | None], bool] = {}
        self._textual: dict[tuple[bool, bool, bool], frozenset[int] | None] = {}

    def is_silent(self, command: Command, workspace: str | None) -> bool:
        """Whether no rule can match, by a quick check: no word is one that a rule needs, and no pattern matches."""
        text = command.code or command.stdin or ""
        key = (bool(command.fed_by), bool(command.via), bool(text))
        if key not in self._textual:
            self._textual[key] = self._deciding_texts(*key)
        deciding = self._textual[key]
        if deciding is None:
            return False
        cwd, plain = command.cwd, self._plain
        for arg in command.args:
            if arg[:1] == "-" and arg != "-":
                if arg == "--":
                    return False
            elif arg in self.by_word or not (
                plain[arg, cwd, workspace] if (arg, cwd, workspace) in plain else self._is_plain(arg, cwd, workspace)
            ):
                return False
        return not deciding or deciding.isdisjoint(self._said(text))

    def _deciding_texts(self, fed: bool, wrapped: bool, text: bool) -> frozenset[int] | None:
        """The patterns that decide whether a rule without operands matches; None if it depends on more."""
        found = []
        for rule in self.always:
            if rule.asks_for_operand or not rule.may_hold(fed, wrapped):
                continue
            if rule.match.text is not None:
                found.append(self._worded[rule])
            elif text or not rule.match.sql:
                return None
        return frozenset(found) if text else frozenset()

    def _is_plain(self, word: str, cwd: str | None, workspace: str | None) -> bool:
        """Whether no rule needs this operand or one of its zones."""
        if self._zones and not self._zones.isdisjoint(zones(word, cwd, workspace)):
            found = False
        else:
            found = not self._wild or not self._hits((word,))
        if len(word) <= SHORT:
            if len(self._plain) >= MAX_NAMES:
                self._plain.clear()
            self._plain[word, cwd, workspace] = found
        return found

    def holding(self, facts: Facts) -> list[CompiledRule]:
        """The matching rules; one search over the operands covers all wildcards, one over the text all patterns."""
        found: list[CompiledRule] = []
        hits: set[int] | None = None
        said: Sequence[int] | None = None
        for rule in self.choose(facts.command, facts.words):
            wanted = self._wanted.get(rule)
            if wanted is not None:
                if hits is None:
                    hits = self._hits(facts.operands)
                if wanted.isdisjoint(hits):
                    continue
            if not rule.holds(facts):
                continue
            text = self._worded.get(rule)
            if text is not None:
                if said is None:
                    said = self._said(facts.text)
                if text not in said:
                    continue
            found.append(rule)
        return found

    def _said(self, text: str) -> Sequence[int]:
        """The patterns that match in a text."""
        if self._texts is None:
            self._texts = text_set(self._expressions)
        return self._texts.Match(text[:MAX_TEXT]) or () if text else ()

    def _hits(self, operands: Sequence[str]) -> set[int]:
        """The wildcards that match some operand."""
        hits: set[int] = set()
        seen = self._seen
        for operand in operands:
            known = seen.get(operand)
            if known is None:
                assert self._args is not None
                if len(seen) >= MAX_NAMES:
                    seen.clear()
                known = tuple(self._args.Match(operand[:MAX_OPERAND]) or ())
                if len(operand) <= SHORT:
                    seen[operand] = known
            hits.update(known)
        return hits

    def choose(self, command: Command, words: Sequence[str]) -> tuple[CompiledRule, ...]:
        """The rules that can match a command."""
        first = words[0] if words and words[0] in self.by_word else ""
        key = (first, bool(command.fed_by), bool(command.via))
        found = self._chosen.get(key)
        if found is None:
            rules = self.by_word[first] if first else self.always
            found = self._chosen[key] = tuple(rule for rule in rules if rule.may_hold(*key[1:]))
        return found


def one_search(rules: list[CompiledRule], wanted: dict[CompiledRule, frozenset[int]]) -> re2.Set | None:
    """All wildcards of the rules as one search; fills `wanted` with those of each rule."""
    numbers: dict[str, int] = {}
    for rule in rules:
        if rule.match.args:
            wanted[rule] = frozenset(numbers.setdefault(pattern, len(numbers)) for pattern in rule.match.args)
    return args_set(tuple(numbers)) if numbers else None


UNASKED = ProgramRules([], frozenset())
"""Stands for a program that has not been looked up yet."""

NO_RULES = ProgramRules([], frozenset())
"""Stands for a program that no rule names."""


class RuleSet:
    """All rules, by program."""

    def __init__(self, families: Iterable[RuleFamily]) -> None:
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
        self._matched: dict[tuple[object, ...], tuple[Rule, ...]] = {}
        self.judged: dict[int, tuple[object, str | None, Any]] = {}

    def matching(self, command: Command, workspace: str | None) -> tuple[Rule, ...]:
        """The rules that match a command."""
        known = self._known.get(command.program, UNASKED)
        if known is UNASKED and len(command.program) > MAX_NAME:
            return ()
        if known is UNASKED:
            known = self._find(command.program)
        if known is None:
            if not command.args or command.program in SILENT:
                return ()
            known = NO_RULES
        if command.code is not None or command.stdin is not None or sum(map(len, command.args)) > SHORT:
            return self._match(command, workspace, known)
        # Everything that a test can use of a short command.
        key = (
            command.program, command.args, command.via, command.fed_by, command.filtered, command.cwd, workspace,
            command.assignments,
        )  # fmt: skip
        found = self._matched.get(key)
        if found is None:
            if len(self._matched) >= MAX_REMEMBERED:
                self._matched.clear()
            found = self._matched[key] = self._match(command, workspace, known)
        return found

    def _match(self, command: Command, workspace: str | None, known: ProgramRules) -> tuple[Rule, ...]:
        found: list[CompiledRule] = []
        if known is not NO_RULES and not known.is_silent(command, workspace):
            found = known.holding(Facts(command, workspace, known.valued))
        for effect in effects_of(command):
            rules = self._find_known(effect.program)
            if rules is not None and not rules.is_silent(effect, workspace):
                found += rules.holding(Facts(effect, workspace, rules.valued))
        facts = Facts(command, workspace, known.valued) if found else None
        if facts is None or only_asks(facts):
            return ()
        if len(found) > 1:
            found = most_specific_first(found)
        holding = [rule.rule for rule in found]
        if any(rule.spares for rule in holding):
            holding = [each for rule in holding if (each := spared(rule, facts.server)) is not None]
        return tuple(holding)

    def _find_known(self, program: str) -> ProgramRules | None:
        known = self._known.get(program, UNASKED)
        return self._find(program) if known is UNASKED else known

    def _find(self, program: str) -> ProgramRules | None:
        found = list(self._exact.get(program, ()))
        if program not in SILENT:
            found += [compiled for name, compiled in self._wild if fnmatchcase(program, name)]
        if len(self._known) >= MAX_NAMES:
            self._known.clear()
        made = ProgramRules(found, self._valued.get(program, frozenset())) if found else None
        self._known[program] = made
        return made


def spared(rule: Rule, server: str) -> Rule | None:
    """A rule as applied to a server: None for a test server, a warning for another one that it spares."""
    if not rule.spares or not server or (server == "here" and rule.spares == "tests"):
        return rule
    return None if server == "tests" else replace(warning(rule), ask=False)


def only_asks(facts: Facts) -> bool:
    """Whether the command only asks for help, a version or a dry run."""
    if not ASKING.isdisjoint(facts.options):
        return facts.values.get("--dry-run") not in ("none", "false")
    return facts.command.args[-1:] == ("--version",)
