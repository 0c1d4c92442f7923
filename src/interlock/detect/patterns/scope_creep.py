"""Scope creep: reads and writes beyond what the task needs; secrets and keys raise an alarm immediately."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct, field

from ...contract import PREFIX
from ...core import (
    Context,
    Issue,
    Review,
    Seen,
    Severity,
    Step,
    Stuck,
    Tool,
    is_task_file,
    late_pattern,
    matches,
    relative,
    task_files,
)
from ...review import path_of, writes_of
from ..agent_history import push
from ..announcements import announced
from ..breaches import FILES, REDACTED, broken, exceeded, leaking_code, only_comments, shown_secret, unasked
from ..completed_call import CompletedCall
from ..constraints import Constraint, about_results, read_constraints
from ..detector import Setting, StatefulDetector
from ..effect import command_of, is_shell, reading_of, written_paths
from ..goal import goal_text, named_places

MAY_CHANGE = f"{PREFIX}may-change"
WINDOW = 40
"""Accesses kept."""

_SECRET_NAME = late_pattern(
    r"(?:\.env(?:\.(?!example|sample|template|dist)[\w.-]+)?|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.htpasswd"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)|[\w.-]+\.(?:pem|p12|pfx|jks|kdbx|ovpn)|credentials(?:\.\w+)?|secrets?(?:\.\w+)?)$"
)
_SECRET_PLACE = late_pattern(
    r"(?:^|/)\.(?:ssh|aws|gnupg|kube|docker)/(?!known_hosts|[\w./-]+\.pub$)[\w./-]+|^/etc/(?:shadow|gshadow|sudoers)"
    r"|(?:^|/)\.git/(?:config|hooks/|HEAD|index|refs/|objects/)"
)
_ORDINARY = late_pattern(r"(?:^|/)(?:\.env(?:\.(?:local|dev|development|test))?|\.npmrc)$|(?:^|/)\.git/")
"""Those that belong to the project itself, and that its own programs read at each start."""
_NEUTRAL = late_pattern(r"^/(?:/|$|(?:dev|proc|tmp|var/folders|usr|bin|sbin|lib|lib64|opt|sys|etc)(?:/|$))")
"""System paths: reading them is not leaving the task."""


class ScopeState(Struct):
    """(step, path, outside, written) of the last accesses to known locations; the step at which each clause of the task
    was first broken."""

    recent: list[tuple[int, str, bool, bool]] = field(default_factory=list)
    roots: list[str] | None = None
    told: bool = False
    breaches: dict[str, int] = field(default_factory=dict)
    broken: dict[str, int] = field(default_factory=dict)


class ScopeCreep(StatefulDetector[ScopeState]):
    """Compares the paths of calls with those that the task and the workspace name."""

    type = "scope_creep"
    kinds = frozenset(("tool_call", "tool_result"))

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, ScopeState())

    def learn_task(self, context: Context) -> None:
        super().learn_task(context)
        self.state.roots = None
        self.state.recent.clear()

    def observe(self, seen: Seen) -> Iterable[Issue]:
        step, review = seen.step, seen.review
        if step.kind == "tool_call":
            breach = self._breach(step, review) if review is not None and review.rules else ()
            if breach and breach[0].severity != "low":
                return breach
            forbidden = self._forbidden(step)
            if forbidden and forbidden[0].severity != "low":
                return forbidden
            return (self._said(step) if step.content else ()) or forbidden or breach
        turn = self.history.turn
        if turn is None:
            return ()
        if turn.effect != "think" and (brought := self._brought(step, turn)):
            return brought
        return (self._critical(turn, step.content) or self._outside(turn)) if turn.paths else ()

    def _breach(self, step: Step, review: Review) -> tuple[Issue, ...]:
        """A call that breaks the run's contract, whether or not it was blocked."""
        tool, call = step.tool, self.history.call
        if tool is None:
            return ()
        rule = next((rule for rule in review.rules if rule.startswith(PREFIX)), "")
        if not rule:
            return self._of_the_machine(step, tool, review.rules)
        tries = self.state.breaches[rule] = self.state.breaches.get(rule, 0) + 1
        written = written_paths(reading_of(tool)) if call is not None else ()
        note = rule == MAY_CHANGE and self._is_first(step, written)
        return (
            self.issue(
                step.index,
                f"{review.reason} {review.instead}".strip(),
                key=rule,
                severity="low" if note else "high",
                confidence=0.95,
                impact=0.4,
                evidence=(step.index,),
                details={"clause": rule, "tries": tries, "tool": tool.name},
                stuck=Stuck(kind="pattern", key=rule, tool=tool.name),
            ),
        )

    def _forbidden(self, step: Step) -> tuple[Issue, ...]:
        """A call that the task's wording forbids: the first breach worth an alarm, otherwise a note."""
        call, tool = self.history.call, step.tool
        if call is None or tool is None or call.effect in ("answer", "think"):
            return ()
        reading = reading_of(tool)
        shell = is_shell(reading)
        if not shell and call.effect != "write":
            return ()  # a read breaks nothing
        task = self.context.task or self.history.past.prompt
        if not task:
            return ()
        clauses = read_constraints(task)
        command = command_of(tool) if shell else ""
        written = written_paths(reading) if call.effect == "write" and (clauses or not shell or "/." in command) else ()
        note: tuple[Issue, ...] = ()
        for clause in clauses:
            if clause.kind in ("rest", "act"):
                continue
            if clause.kind in FILES:
                what = broken(clause, command, written) if written else ""
            elif clause.kind == "secret" and not shell:
                what = leaking_code("\n".join(value for value in tool.arguments.values() if isinstance(value, str)))
            else:
                what = broken(clause, command, written) if command else ""
            if what:
                told = self._told(step, tool.name, clause, what, self._severity(step, tool, clause, what, written))
                if told[0].severity != "low":
                    return told
                note = note or told
        what, shown = unasked(task, command, written)
        return self._unasked(step, tool.name, what, shown) if what else note

    def _said(self, step: Step) -> tuple[Issue, ...]:
        """Text before a call which says that the call breaks a clause of the task."""
        tool, task = step.tool, self.context.task or self.history.past.prompt
        if tool is None or not task:
            return ()
        clause, sentence = announced(read_constraints(task), step.content)
        # What a call does counts more than what the text says about it.
        if clause is None or only_comments(writes_of(path_of(tool.arguments), tool.arguments)):
            return ()
        return self._told(step, tool.name, clause, f'it says "{sentence}"', "medium")

    def _severity(self, step: Step, tool: Tool, clause: Constraint, what: str, written: tuple[str, ...]) -> Severity:
        """The severity of breaking a clause."""
        if clause.kind == "only" and self._is_first(step, (what,)):
            return "low"
        if clause.kind in FILES and only_comments(writes_of(path_of(tool.arguments), tool.arguments)):
            return "low"
        return "high" if written else "medium"

    def _is_first(self, step: Step, written: Iterable[str]) -> bool:
        """Whether these are the first project files outside the list of what may change.

        Such a list is rarely complete: the first file is worth a note, more are worth an alarm; if the task also says
        that nothing else may change, the first one already is.
        """
        task = self.context.task or self.history.past.prompt
        if any(clause.kind == "rest" for clause in read_constraints(task)):
            return False
        return self.state.broken.setdefault(MAY_CHANGE, step.index) == step.index and all(
            map(self._in_project, written)
        )

    def _in_project(self, path: str) -> bool:
        """Whether a path is in the workspace; if that is unknown, whether it is relative and has no leading `..`."""
        return relative(path, self.context.workspace)[:1] not in ("/", "~", "$") and not path.startswith("../")

    def _of_the_machine(self, step: Step, tool: Tool, rules: tuple[str, ...]) -> tuple[Issue, ...]:
        """A call that changes a system file which the task does not mention."""
        call = self.history.call
        if "fs.write-system" not in rules or call is None:
            return ()
        goal = goal_text(self.context, self.history.past.prompt)
        path = next((path for path in written_paths(reading_of(tool)) if path.startswith("/")), "")
        if not path or any(part in goal for part in path.split("/")[1:]):
            return ()
        return self._unasked(step, tool.name, "changes a file of the machine, which the task does not mention", path)

    def _unasked(self, step: Step, tool: str, what: str, shown: str) -> tuple[Issue, ...]:
        return (
            self.issue(
                step.index,
                f"{tool} {what}: {shown}. Stay with the task, or ask first.",
                key=f"unasked:{what}",
                severity="medium",
                confidence=0.8,
                impact=0.3,
                evidence=(step.index,),
                started=self.state.broken.setdefault(what, step.index),
                details={"path": shown, "tool": tool},
                stuck=Stuck(kind="pattern", key=f"unasked {what}", tool=tool),
            ),
        )

    def _brought(self, step: Step, turn: CompletedCall) -> tuple[Issue, ...]:
        """A result that shows a secret, or reports more than the task allows."""
        task = self.context.task or self.history.past.prompt
        for clause in about_results(task) if task else ():
            if clause.kind == "secret" and (REDACTED in step.content or shown_secret(step.content)):
                return self._told(step, turn.tool, clause, "its output shows a secret", "high")
            if clause.kind == "count" and turn.effect == "run" and (what := exceeded(clause, step.content)):
                return self._told(step, turn.tool, clause, what, "medium")
        return ()

    def _told(self, step: Step, tool: str, clause: Constraint, what: str, severity: Severity) -> tuple[Issue, ...]:
        began = self.state.broken.setdefault(clause.phrase, step.index)
        return (
            self.issue(
                step.index,
                f'{tool} breaks what the task says ("{clause.phrase}"): {what}. '
                "Follow the task, or ask before you deviate from it.",
                key=f"forbidden:{clause.phrase}",
                severity=severity,
                confidence=0.8,
                impact=0.3,
                evidence=(step.index,),
                started=began,
                details={"path": what, "tool": tool, "clause": clause.phrase},
                stuck=Stuck(kind="pattern", key=f"forbidden {clause.phrase}", tool=tool),
            ),
        )

    def _critical(self, turn: CompletedCall, output: str) -> tuple[Issue, ...]:
        for path in turn.paths:
            if _is_critical(path) and not self._named(path):
                verb = "changed" if turn.wrote else "touched"
                ordinary = not turn.wrote and (
                    (self._in_project(path) and _ORDINARY.search(path) is not None) or _only_listed(turn, path, output)
                )
                return (
                    self.issue(
                        turn.step,
                        f"{turn.tool} {verb} {path}, which holds secrets or history and is not part of the task. "
                        "Leave it alone, or say why it is needed.",
                        key=f"critical:{path}",
                        severity="high" if turn.wrote else "low" if ordinary else "medium",
                        confidence=0.9,
                        impact=0.5,
                        evidence=(turn.asked, turn.step),
                        details={"path": path, "tool": turn.tool},
                        stuck=Stuck(kind="pattern", key=path, tool=turn.tool),
                    ),
                )
        return ()

    def _outside(self, turn: CompletedCall) -> tuple[Issue, ...]:
        state, tuning = self.state, self.tuning
        if state.roots is None:
            state.roots = self._roots()
        if not state.roots:
            return ()
        left, folders = False, _folders(tuple(state.roots))
        for path in turn.paths:
            if path[:1] == "/" and not _is_neutral(path):
                outside = not f"{path}/".startswith(folders)
                push(state.recent, (turn.step, path, outside, turn.wrote), WINDOW)
                left = left or outside
        if not left:
            return ()
        outside_of = [one for one in state.recent if one[2]]
        share = len(outside_of) / len(state.recent)
        least, most = tuning.scope_least, tuning.scope_share
        if not state.told:
            least, most = tuning.scope_least_guessed, tuning.scope_share_guessed
        if len(outside_of) < least or share <= most:
            return ()
        return (
            self.issue(
                turn.step,
                f"{len(outside_of)} of the last {len(state.recent)} files touched are outside "
                f"{', '.join(state.roots[:3])}, last {outside_of[-1][1]}. "
                "Stay with the files of the task, or say why others are needed.",
                key="outside",
                severity="high" if any(written for *_, written in outside_of) else "medium",
                confidence=min(share / (2 * tuning.scope_share), 1.0),
                evidence=list(dict.fromkeys(step for step, *_ in outside_of))[-8:],
                details={"share": round(share, 2), "path": outside_of[-1][1], "roots": state.roots, "tool": turn.tool},
                stuck=Stuck(kind="pattern", key=_top(outside_of[-1][1]), tool=turn.tool, needed=2),
            ),
        )

    def shows(self, stuck: Stuck, standing: bool) -> bool:
        """Whether this turn accessed a path outside; earlier accesses remain in the window."""
        turn, recent = self.history.turn, self.state.recent
        if stuck.needed == 1 or turn is None:
            return standing
        return bool(recent) and recent[-1][0] == turn.step and recent[-1][2]

    def _named(self, path: str) -> bool:
        """Whether the task names this file."""
        name = path.rstrip("/").rpartition("/")[2]
        if any(matches(glob, relative(path, self.context.workspace)) for glob in self.context.contract.may_change):
            return True
        expected = self.context.expected_paths
        if any(path == one or path.endswith("/" + one) for one in expected):
            return True
        return name in goal_text(self.context, self.history.past.prompt)

    def _roots(self) -> list[str]:
        """Directories that may be accessed: those given explicitly, otherwise those of paths that the task names."""
        told = [path for path in (*self.context.expected_paths, self.context.workspace or "") if path.startswith("/")]
        self.state.told = bool(told)
        # A task that names /srv/app/x.py may well need /srv/app/y.py, or a script beside it.
        places = named_places(goal_text(self.context, self.history.past.prompt))
        pointers = task_files(self.context.original_prompt or self.history.past.prompt)
        named = [
            path.rpartition("/")[0] for path in places if not _NEUTRAL.match(path) and not is_task_file(path, pointers)
        ]
        return told or list(dict.fromkeys(named))


def _only_listed(turn: CompletedCall, path: str, output: str) -> bool:
    """Whether a call only checked that a file exists: it is `ls`, and each line of its output names the file."""
    name = path.rpartition("/")[2]
    return turn.program == "ls" and all(name in line for line in output.splitlines() if line.strip())


def _top(path: str) -> str:
    """The first two components of a path outside."""
    return "/".join(path.split("/")[:3])


@lru_cache(maxsize=16)
def _folders(roots: tuple[str, ...]) -> tuple[str, ...]:
    """The path prefixes of everything in these directories."""
    return tuple(f"{root.rstrip('/')}/" for root in roots)


@lru_cache(maxsize=2048)
def _is_neutral(path: str) -> bool:
    return _NEUTRAL.match(path) is not None


@lru_cache(maxsize=2048)
def _is_critical(path: str) -> bool:
    # Check the name first: a pattern that may begin at each component of a path takes far longer.
    if _SECRET_NAME.match(path.rpartition("/")[2]):
        return True
    return ("/." in path or path[:1] in "./") and _SECRET_PLACE.search(path) is not None


detector = ScopeCreep
