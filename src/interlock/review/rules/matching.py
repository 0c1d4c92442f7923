"""Matching: which rules hold for a reading, effect by effect and program by program."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase, translate
from functools import lru_cache

from msgspec import Struct

from ...calls import CallReading, Effect, Program
from ..file_kinds import kinds_of
from .model import Match, Rule, RuleFile

MAX_MATCHED = 2_000
"""Effects, and programs, of one call that are matched; more are concealed already."""


class Hit(Struct, frozen=True):
    """A rule that holds, and the effect or program for which it does."""

    rule: Rule
    effect: Effect | None = None
    program: Program | None = None


class RuleSet:
    """The shipped rules, of which the first that matches an effect decides, and a user's, which all count."""

    def __init__(self, shipped: RuleFile, users: Iterable[RuleFile] = ()) -> None:
        users = tuple(users)
        self.rules = {rule.id: rule for file in (shipped, *users) for rule in file.rules}
        self._disabled = frozenset(name for file in users for name in file.disabled)
        self._shipped = _Layer(shipped.rules)
        self._users = tuple(_Layer((rule,)) for file in users for rule in file.rules)
        self.order = {name: place for place, name in enumerate(self.rules)}

    def hits(self, reading: CallReading) -> list[Hit]:
        """The rules that hold for a call, in no order."""
        found = self._shipped.hits(reading)
        for layer in self._users:
            found += layer.hits(reading)
        return [hit for hit in found if hit.rule.id not in self._disabled] if self._disabled else found


class _Layer:
    """Rules of which the first that matches counts."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._effects: dict[str, list[tuple[Match, Rule]]] = {}
        self._programs: list[tuple[Match, Rule]] = []
        self._named: dict[str, list[tuple[Match, Rule]]] = {}
        self._others: list[tuple[Match, Rule]] = []
        for rule in rules:
            for match in rule.match:
                for verb in match.verb:
                    self._effects.setdefault(verb, []).append((match, rule))
                if match.verb:
                    continue
                if not match.program:
                    self._others.append((match, rule))
                elif any("*" in name for name in match.program):
                    self._programs.append((match, rule))
                else:
                    for name in match.program:
                        self._named.setdefault(name, []).append((match, rule))

    def hits(self, reading: CallReading) -> list[Hit]:
        found: list[Hit] = []
        programs: dict[int, frozenset[str]] = {}
        served = _done_to_services(reading)
        for effect in reading.effects[:MAX_MATCHED]:
            for match, rule in self._effects.get(effect.verb, ()):
                if not _has_effect(match, effect, reading, served):
                    continue
                if match.of_program and id(match) not in programs:
                    called = (program for program in reading.programs if _is_program(match, program))
                    programs[id(match)] = frozenset(program.name for program in called)
                if not match.of_program or effect.by in programs[id(match)]:
                    found.append(Hit(rule, effect))
                    break
        for program in reading.programs[:MAX_MATCHED]:
            for match, rule in (*self._named.get(program.name, ()), *self._programs):
                if _is_program(match, program):
                    found.append(Hit(rule, None, program))
                    break
        for match, rule in self._others:
            if (
                match.concealed
                and reading.concealed
                and any(
                    fits(match.concealed, why) and not fits(match.unless, why) for why in reading.concealed.split("; ")
                )
            ) or (match.language and any(fits(match.language, inline.language) for inline in reading.inline)):
                found.append(Hit(rule))
        return found


def _has_effect(match: Match, effect: Effect, reading: CallReading, served: frozenset[str]) -> bool:
    """Whether an effect is what a match is about, whatever program has it."""
    if (match.zone and effect.zone not in match.zone) or (match.extent and effect.extent not in match.extent):
        return False
    if match.program and not fits(match.program, effect.by):
        return False
    if match.target and not fits(match.target, effect.target):
        return False
    if match.unless and fits(match.unless, effect.target):
        return False
    if match.server and not fits(match.server, effect.server):
        return False
    if match.kind and kinds(effect.target).isdisjoint(match.kind):
        return False
    if match.empties and not any(
        write.path == effect.target and write.how == "whole" and not write.text.strip() for write in reading.writes
    ):
        return False
    return not match.also or not served.isdisjoint(match.also)


def _done_to_services(reading: CallReading) -> frozenset[str]:
    """What a call does to services; to write to another machine is to send."""
    verbs: set[str] = {effect.verb for effect in reading.effects if effect.zone == "service"}
    return frozenset(verbs | {"send"}) if verbs & {"write", "append"} else frozenset(verbs)


def _is_program(match: Match, program: Program) -> bool:
    """Whether a program was called as a match says."""
    if match.program and not fits(match.program, program.name):
        return False
    words = program.words[1:]
    if match.via and not any(fits(match.via, name) for name in program.via):
        return False
    if any(_is_given(option, words) for option in match.without):
        return False
    if not all(any(_is_given(option, words) for option in choice.split("|")) for choice in match.options):
        return False
    if match.args and not any(fits(match.args, word) for word in words):
        return False
    return not match.words or any(_has_subcommand(choice.split(), words) for choice in match.words)


def _is_given(option: str, words: tuple[str, ...]) -> bool:
    """Whether a word is given; `-f` also in `-rf`, `--set` also in `--set=x`."""
    if option[:1] != "-":
        return any(fnmatchcase(word, option) for word in words) if "*" in option else option in words
    short = len(option) == 2
    return any(
        word == option
        or word.startswith(f"{option}=")
        or (short and word[:1] == "-" and word[1:2] != "-" and option[1] in word)
        or ("*" in option and fnmatchcase(word, option))
        for word in words
    )


def _has_subcommand(wanted: list[str], words: tuple[str, ...]) -> bool:
    """Whether the operands begin with these words, perhaps after the value of an option."""
    operands = [word for word in words if word[:1] != "-"]
    return any(
        len(operands) >= start + len(wanted)
        and all(_is_one_of(choice, operands[start + place]) for place, choice in enumerate(wanted))
        for start in (0, 1, 2)
    )


def _is_one_of(choices: str, word: str) -> bool:
    return any(fnmatchcase(word, choice) for choice in choices.split("|"))


def fits(globs: tuple[str, ...], text: str) -> bool:
    """Whether a text matches one of some wildcards."""
    return text in globs or (_has_wildcard(globs) and _pattern(globs).match(text) is not None)


@lru_cache(1_024)
def _has_wildcard(globs: tuple[str, ...]) -> bool:
    return any("*" in glob or "?" in glob or "[" in glob for glob in globs)


@lru_cache(1_024)
def _pattern(globs: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{translate(glob)})" for glob in globs))


@lru_cache(4_096)
def kinds(target: str) -> frozenset[str]:
    """The kinds of file that a target is, on this machine or another."""
    path = target.partition(":")[2] if ":" in target and target[:1] not in "/~.$" else target
    return frozenset(kinds_of(path))
