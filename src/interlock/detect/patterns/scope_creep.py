"""Scope creep: reads and writes outside what the task needs; secrets and keys at once."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct, field

from ...contract import PREFIX
from ...core import (
    Context,
    Issue,
    Seen,
    Severity,
    Step,
    Stuck,
    is_task_file,
    late_pattern,
    matches,
    relative,
    task_files,
)
from ..agent_history import push
from ..breaches import REDACTED, broken
from ..completed_call import CompletedCall
from ..constraints import Constraint, read_constraints
from ..detector import Setting, StatefulDetector
from ..effect import command_of, is_shell
from ..goal import goal_text, named_places
from ..paths import written_paths
from ..unasked import may_be_unasked, unasked

WINDOW = 40
"""Accesses kept."""

_CRITICAL = late_pattern(
    r"(?:^|/)(?:\.env(?:\.(?!example|sample|template|dist)[\w.-]+)?|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.htpasswd"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)|[\w.-]+\.(?:pem|p12|pfx|jks|kdbx|ovpn)|credentials(?:\.\w+)?|secrets?(?:\.\w+)?)$"
    r"|(?:^|/)\.(?:ssh|aws|gnupg|kube|docker)/(?!known_hosts)[\w./-]+|^/etc/(?:shadow|gshadow|sudoers)"
    r"|(?:^|/)\.git/(?:config|hooks/|HEAD|index|refs/|objects/)"
)
_NEUTRAL = late_pattern(r"^/(?:/|$|(?:dev|proc|tmp|var/folders|usr|bin|sbin|lib|lib64|opt|sys|etc)(?:/|$))")
"""The system itself: looking at it is not leaving the task."""


class ScopeState(Struct):
    """(step, path, outside, written) of the last accesses to distinguishable places; since when a clause of the
    task is broken."""

    recent: list[tuple[int, str, bool, bool]] = field(default_factory=list)
    roots: list[str] | None = None
    told: bool = False
    breaches: dict[str, int] = field(default_factory=dict)
    broken: dict[str, int] = field(default_factory=dict)


class ScopeCreep(StatefulDetector[ScopeState]):
    """Compares the paths of calls with the places that the task and the workspace name."""

    type = "scope_creep"
    kinds = frozenset(("tool_call", "tool_result"))

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, ScopeState())

    def learn_task(self, context: Context) -> None:
        super().learn_task(context)
        self.state.roots = None
        self.state.recent.clear()

    def observe(self, seen: Seen) -> Iterable[Issue]:
        turn = self.history.turn
        if seen.step.kind == "tool_call":
            ruled = seen.review is not None and seen.review.rules
            return (self._breach(seen) if ruled else ()) or (
                self._forbidden(seen.step) if self.history.call is not None else ()
            )
        if turn is None:
            return ()
        if REDACTED in seen.step.content and (exposed := self._exposed(seen.step, turn)):
            return exposed
        if not turn.paths:
            return ()
        critical = self._critical(turn)
        return critical or self._outside(turn)

    def _breach(self, seen: Seen) -> tuple[Issue, ...]:
        """A call that breaks the run's contract, whether or not it was refused."""
        if seen.review is None or not seen.review.rules or seen.step.tool is None:
            return ()
        rule = next((rule for rule in seen.review.rules if rule.startswith(PREFIX)), "")
        if not rule:
            return ()
        tries = self.state.breaches[rule] = self.state.breaches.get(rule, 0) + 1
        return (
            self.issue(
                seen.step.index,
                f"{seen.review.reason} {seen.review.instead}".strip(),
                key=rule,
                severity="high",
                confidence=0.95,
                impact=0.4,
                evidence=(seen.step.index,),
                details={"clause": rule, "tries": tries, "tool": seen.step.tool.name},
                stuck=Stuck(kind="pattern", key=rule, tool=seen.step.tool.name),
            ),
        )

    def _forbidden(self, step: Step) -> tuple[Issue, ...]:
        """A call that does what the task's own words forbid."""
        call, tool = self.history.call, step.tool
        if call is None or tool is None or call.effect in ("answer", "think"):
            return ()
        shell = is_shell(tool.name)
        if not shell and call.effect != "write":
            return ()  # what only looks breaks nothing
        task = self.context.task or self.history.past.prompt
        if not task:
            return ()
        clauses = read_constraints(task)
        if not clauses and not (may_be_unasked(call.text) if shell else any(path[:3] == "../" for path in call.paths)):
            return ()
        command = command_of(tool) if shell else ""
        written = written_paths(tool, call.effect)
        for clause in clauses:
            what = broken(clause, command, written)
            if what:
                return self._told(step, tool.name, clause, what, "high" if written else "medium")
        what, shown = unasked(task, command, written)
        return self._unasked(step, tool.name, what, shown) if what else ()

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
                details={"path": shown, "tool": tool},
                stuck=Stuck(kind="pattern", key=f"unasked {what}", tool=tool),
            ),
        )

    def _exposed(self, step: Step, turn: CompletedCall) -> tuple[Issue, ...]:
        """A result with a secret in it, where the task says that none is to be shown."""
        task = self.context.task or self.history.past.prompt
        clause = next((clause for clause in read_constraints(task) if clause.kind == "secret"), None) if task else None
        if clause is None:
            return ()
        return self._told(step, turn.tool, clause, "its output shows a secret", "high")

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

    def _critical(self, turn: CompletedCall) -> tuple[Issue, ...]:
        for path in turn.paths:
            if _is_critical(path) and not self._named(path):
                verb = "changed" if turn.wrote else "touched"
                return (
                    self.issue(
                        turn.step,
                        f"{turn.tool} {verb} {path}, which holds secrets or history and is not part of the task. "
                        "Leave it alone, or say why it is needed.",
                        key=f"critical:{path}",
                        severity="high" if turn.wrote else "medium",
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
        left = False
        for path in turn.paths:
            if path[:1] == "/" and not _is_neutral(path):
                outside = not any(path == root or path.startswith(root.rstrip("/") + "/") for root in state.roots)
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
        """One look outside again; what was touched before stays in the window."""
        turn, recent = self.history.turn, self.state.recent
        if stuck.needed == 1 or turn is None:
            return standing
        return bool(recent) and recent[-1][0] == turn.step and recent[-1][2]

    def _named(self, path: str) -> bool:
        """Whether the task speaks of this very file."""
        name = path.rstrip("/").rpartition("/")[2]
        if any(matches(glob, relative(path, self.context.workspace)) for glob in self.context.contract.may_change):
            return True
        expected = self.context.expected_paths
        if any(path == one or path.endswith("/" + one) for one in expected):
            return True
        return name in goal_text(self.context, self.history.past.prompt)

    def _roots(self) -> list[str]:
        """What may be touched: what was said, else where the places are that the task names."""
        told = [path for path in (*self.context.expected_paths, self.context.workspace or "") if path.startswith("/")]
        self.state.told = bool(told)
        # A task that names /srv/app/x.py may well need /srv/app/y.py, and a script beside it.
        places = named_places(goal_text(self.context, self.history.past.prompt))
        pointers = task_files(self.context.original_prompt or self.history.past.prompt)
        named = [
            path.rpartition("/")[0] for path in places if not _NEUTRAL.match(path) and not is_task_file(path, pointers)
        ]
        return told or list(dict.fromkeys(named))


def _top(path: str) -> str:
    """Where a path outside is, in its first two parts."""
    return "/".join(path.split("/")[:3])


@lru_cache(maxsize=2048)
def _is_neutral(path: str) -> bool:
    return _NEUTRAL.match(path) is not None


@lru_cache(maxsize=2048)
def _is_critical(path: str) -> bool:
    return _CRITICAL.search(path) is not None


detector = ScopeCreep
