"""Judgement: what a script or a tool call would do, and which rules match it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from ..core import VERDICTS, Verdict
from .effects import INSERTED, runs_something
from .paths import zones
from .programs import RISKS, Action, action_of
from .rules.compiled import RuleSet
from .rules.model import RISKS as RULE_RISKS
from .rules.model import Rule, warning
from .shell import Command, KnownFile, Script, read_script
from .sql import is_bare_sql
from .wordlist import as_text

MAX_RULES = 16
"""Rules named in one review."""

MAX_JUDGED = 256
"""Judgements of scripts that are cached, each with its commands."""

SHORT = 2_000
"""Maximum length of a command whose parse is cached."""


class Judgement(Struct, frozen=True):
    """The strongest action, its base risk, the matching rules, strongest first, and the commands checked."""

    action: Action
    risk: float
    rules: tuple[Rule, ...]
    commands: tuple[Command, ...]
    hits: tuple[tuple[Rule, Command], ...] = ()

    @property
    def verdict(self) -> Verdict:
        return self.rules[0].verdict if self.rules else "allow"

    @property
    def evidence(self) -> str:
        """The file of an earlier step that contains the command matched by the strongest rule."""
        first = self.rules[0].id if self.rules else ""
        return next((command.evidence for rule, command in self.hits if rule.id == first and command.evidence), "")

    @property
    def rule_risk(self) -> float:
        return max(map(rule_risk, self.rules)) if self.rules else 0.0


def read_text(text: str, cwd: str | None, known: Mapping[str, KnownFile] | None = None) -> Script:
    """Parse the commands of a text; a bare SQL statement is not attributed to a particular program.

    `known` are files of earlier steps.
    """
    return _read_again(text, cwd) if len(text) <= SHORT and known is None else _read(text, cwd, known)


def _read(text: str, cwd: str | None, known: Mapping[str, KnownFile] | None = None) -> Script:
    text = as_text(text)
    if is_bare_sql(text):
        return Script((Command(program="sql", code=text, cwd=cwd),))
    if text.lstrip()[:3] == "db.":
        return Script((Command(program="mongosh", code=text, cwd=cwd),))
    return read_script(text, cwd, known)


_read_again = lru_cache(512)(_read)
"""Cached: runs repeat the same short commands, and a command's effect does not change."""


def judge_script(script: Script, workspace: str | None, rules: RuleSet) -> Judgement:
    """Judge what a script would run; a script object that was judged before is served from the cache."""
    if not script.commands and script.complete:
        return NO_COMMANDS
    if not script.complete or (len(script.commands) == 1 and script.commands[0].code is None):
        return _judge(script, workspace, rules)
    known = rules.judged.get(id(script))
    judged: Judgement
    if known is not None and known[0] is script and known[1] == workspace:
        judged = known[2]
        return judged
    if len(rules.judged) >= MAX_JUDGED:
        rules.judged.clear()
    judged = _judge(script, workspace, rules)
    rules.judged[id(script)] = (script, workspace, judged)
    return judged


NO_COMMANDS = Judgement("read", 0.0, (), ())


def _judge(script: Script, workspace: str | None, rules: RuleSet) -> Judgement:
    action: Action = "read" if script.complete else "unparsable"
    risk = RISKS[action] if script.commands or not script.complete else 0.0
    hits: list[tuple[Rule, Command]] = []
    for command in script.commands:
        kind = action_of(command)
        if RISKS[kind] > risk:
            action, risk = kind, RISKS[kind]
        if held := rules.matching(command, workspace):
            hits += [(rule, command) for rule in held]
        for redirect in command.redirects:
            if redirect.target == "/dev/null" or redirect.target.isdigit():
                continue
            made = as_redirect(command, redirect.op, redirect.target)
            if redirect.writes and risk < RISKS["create"]:
                action, risk = "create", RISKS["create"]
            hits += [(rule, made) for rule in rules.matching(made, workspace)]
        if (command.redirects or command.program in PUTTING) and (profile := started(command)) is not None:
            hits += [(rule, command) for rule in rules.matching(profile, workspace)]
    if not hits:
        return Judgement(action, risk, (), script.commands)
    hits.sort(key=strength)
    unique = tuple(dict.fromkeys(rule.id for rule, _ in hits))[:MAX_RULES]
    by_id = {rule.id: rule for rule, _ in hits}
    return Judgement(action, risk, tuple(by_id[name] for name in unique), script.commands, tuple(hits[:MAX_RULES]))


def started(command: Command) -> Command | None:
    """A `starts` command if a command adds something to a shell profile that runs at every start; otherwise None."""
    places = [redirect.target for redirect in command.redirects if redirect.writes]
    text = command.stdin
    if command.program in ("echo", "printf"):
        text = "\n".join(command.args)
    elif command.program == "tee":
        places += command.args
    elif command.program in ("sed", "gsed"):
        places += command.args[1:]
        text = next((found[1] for arg in command.args if (found := INSERTED.search(arg)) is not None), None)
    elif command.program == "cat" and command.args:
        return None
    if not places or not text:
        return None
    kept = tuple(place for place in places if "startup" in (near := zones(place, command.cwd)) and near & FAR)
    return Command(program="starts", args=kept, cwd=command.cwd) if kept and runs_something(text) else None


FAR = frozenset(("under_home", "system", "vital"))
PUTTING = frozenset(("tee", "sed", "gsed"))
"""Programs that write text to files that they name."""


def spare_named(judged: Judgement, is_named: Callable[[Command], bool]) -> Judgement:
    """The judgement without rules that do not apply because the task itself names the target."""
    spared = {rule.id for rule, command in judged.hits if rule.unless_named and is_named(command)}
    spared -= {rule.id for rule, command in judged.hits if rule.id in spared and not is_named(command)}
    if not spared:
        return judged
    return Judgement(
        judged.action, judged.risk, tuple(rule for rule in judged.rules if rule.id not in spared), judged.commands,
        tuple(hit for hit in judged.hits if hit[0].id not in spared),
    )  # fmt: skip


def ask_named(judged: Judgement, is_ordered: Callable[[Command], bool]) -> Judgement:
    """The judgement with approval instead of a block for rules about actions that the task orders."""
    mine = {rule.id for rule, _ in judged.hits if rule.ask_if_named}
    mine -= {rule.id for rule, command in judged.hits if rule.id in mine and not is_ordered(command)}
    if not mine or any(rule.verdict == "block" and not rule.ask and rule.id not in mine for rule in judged.rules):
        return judged
    asks = {rule.id: replace(rule, ask=True) for rule, _ in judged.hits if rule.id in mine}
    return Judgement(
        judged.action, judged.risk, tuple(asks.get(rule.id, rule) for rule in judged.rules), judged.commands,
        tuple((asks.get(rule.id, rule), command) for rule, command in judged.hits),
    )  # fmt: skip


def soften(judged: Judgement, spares: Callable[[Rule, Command], bool]) -> Judgement:
    """The judgement with a block turned into a warning if every command that its rule matches is spared."""
    if judged.verdict != "block":
        return judged
    kept = {rule.id for rule, command in judged.hits if rule.verdict == "block" and not spares(rule, command)}
    soft = {rule.id: warning(rule) for rule, _ in judged.hits if rule.verdict == "block" and rule.id not in kept}
    if not soft:
        return judged
    hits = [(soft.get(rule.id, rule), command) for rule, command in judged.hits]
    hits.sort(key=strength)
    rules = sorted((soft.get(rule.id, rule) for rule in judged.rules), key=lambda rule: strength((rule, None)))
    return Judgement(judged.action, judged.risk, tuple(rules), judged.commands, tuple(hits))


def strength(hit: tuple[Rule, Command | None]) -> tuple[int, float]:
    """Sort key: strongest first."""
    return -VERDICTS.index(hit[0].verdict), -rule_risk(hit[0])


def with_rule(judged: Judgement, rule: Rule) -> Judgement:
    """The judgement with one more rule, first among equals."""
    rules = sorted((rule, *judged.rules), key=lambda each: -VERDICTS.index(each.verdict))
    return Judgement(judged.action, judged.risk, tuple(rules), judged.commands, judged.hits)


def as_redirect(command: Command, op: str, target: str) -> Command:
    """A redirection as its own command: `>` overwrites, `>>` appends, `<` reads."""
    program = ">>" if ">>" in op else ">" if ">" in op else "<"
    return Command(
        program=program, args=(target,), via=command.via, cwd=command.cwd,
        fed_by=(DEVICES.get(command.args[0] if len(command.args) == 1 else "", command.program),),
        filtered=command.filtered, span=command.span, evidence=command.evidence,
    )  # fmt: skip


DEVICES = {"/dev/null": "emptied", **dict.fromkeys(("/dev/zero", "/dev/urandom", "/dev/random"), "endless")}
"""The source that is reported if a command only reads this device."""


def rule_risk(rule: Rule) -> float:
    """The risk of a rule: critical for a block."""
    return RULE_RISKS[rule.verdict] if rule.risk is None else rule.risk
