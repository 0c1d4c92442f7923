"""Scope creep: files changed against an order, or outside the workspace; secrets touched; the contract broken."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct, field

from ...calls import Effect, Zone
from ...contract import PREFIX
from ...core import Issue, Review, Seen, Step, Stuck, late_pattern, matches, relative
from ..agent_history import FILES, push
from ..completed_call import CompletedCall
from ..detector import Setting, StatefulDetector
from ..goal import goal_text
from ..orders import read_orders

MAY_CHANGE = f"{PREFIX}may-change"
KEPT = 64
"""Changes outside remembered."""
OUTSIDE = ("home", "system", "host")
"""Zones outside the workspace, temporary folders and caches."""
CHANGING = ("write", "append", "delete", "move")

_SECRET_NAME = late_pattern(
    r"(?:\.env(?:\.(?!example|sample|template|dist)[\w.-]+)?|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.htpasswd"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)|[\w.-]+\.(?:pem|p12|pfx|jks|kdbx|ovpn)|credentials(?:\.\w+)?|secrets?(?:\.\w+)?)$"
)
_SECRET_PLACE = late_pattern(
    r"(?:^|/)\.(?:ssh|aws|gnupg|kube|docker)/(?!known_hosts|[\w./-]+\.pub$)[\w./-]+|^/etc/(?:shadow|gshadow|sudoers)"
    r"|(?:^|/)\.git/(?:config|hooks/|HEAD|index|refs/|objects/)"
)


class ScopeState(Struct):
    """How often each clause of the contract was broken; files outside that were changed."""

    breaches: dict[str, int] = field(default_factory=dict)
    outside: list[tuple[int, str]] = field(default_factory=list)
    first: int | None = None


class ScopeCreep(StatefulDetector[ScopeState]):
    """Looks at what calls did to which files, as their reading names them."""

    type = "scope_creep"
    kinds = frozenset(("tool_call", "tool_result"))

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, ScopeState())

    def observe(self, seen: Seen) -> Iterable[Issue]:
        step, review = seen.step, seen.review
        if step.kind == "tool_call":
            return self._breach(step, review) if review is not None and review.rules else ()
        turn = self.history.turn
        if turn is None or not turn.effects or turn.refused:
            return ()
        # Also a call that fails may have written before: its files are the run's own.
        ordered = self._ordered(turn)
        return () if turn.failed else ordered or self._secret(turn) or self._outside(turn)

    def _breach(self, step: Step, review: Review) -> tuple[Issue, ...]:
        """A call that breaks the run's contract, whether or not it was blocked."""
        tool = step.tool
        rule = next((rule for rule in review.rules if rule.startswith(PREFIX)), "")
        if tool is None or not rule:
            return ()
        tries = self.state.breaches[rule] = self.state.breaches.get(rule, 0) + 1
        if self.state.first is None and rule == MAY_CHANGE:
            self.state.first = step.index
        # A list of what may change is rarely complete: the first file is worth a note, more are worth an alarm.
        call = self.history.call
        inside = call is not None and all(self._zone(effect) == "workspace" for effect in call.effects)
        note = rule == MAY_CHANGE and self.state.first == step.index and inside
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

    def _ordered(self, turn: CompletedCall) -> tuple[Issue, ...]:
        """A change that an order of the task forbids. New files, and the run's own, are not forbidden."""
        task = self.context.task or self.history.past.prompt
        orders = read_orders(task) if task else ()
        broken: tuple[Issue, ...] = ()
        done = self.history.ledger
        for effect in turn.effects:
            path, zone = relative(effect.target, self.context.workspace), self._zone(effect)
            if effect.verb == "read":
                push(done.looked, path, FILES)
            if effect.verb not in CHANGING or zone != "workspace" or path in done.created:
                continue
            if effect.by in ("git", "touch"):
                continue  # it brings back a version that was there, or changes nothing
            if effect.verb == "write" and path not in done.looked and not turn.partly:
                push(done.created, path, FILES)
                continue
            order = next((one for one in orders if one.forbids(path)), None)
            if order is not None and not broken:
                broken = self._told(turn, path, order.phrase)
        return broken

    def _told(self, turn: CompletedCall, path: str, phrase: str) -> tuple[Issue, ...]:
        return (
            self.issue(
                turn.step,
                f'{turn.tool} changed {path}, and the task says "{phrase}". '
                "Undo it and solve the task without, or ask before you deviate from it.",
                key=f"forbidden:{phrase}",
                severity="high",
                confidence=0.9,
                impact=0.3,
                evidence=(turn.asked, turn.step),
                details={"path": path, "tool": turn.tool, "clause": phrase},
                stuck=Stuck(kind="pattern", key=f"forbidden {phrase}", tool=turn.tool),
            ),
        )

    def _secret(self, turn: CompletedCall) -> tuple[Issue, ...]:
        """A file with secrets or history that was read outside the workspace, or changed."""
        for effect in turn.effects:
            path, changed = effect.target, effect.verb in CHANGING
            if effect.verb == "execute" or not (changed or self._zone(effect) in OUTSIDE):
                continue
            if not _is_critical(path) or self._is_named(path) or path in self.history.ledger.created:
                continue
            return (
                self.issue(
                    turn.step,
                    f"{turn.tool} {'changed' if changed else 'read'} {path}, which holds secrets or history and is not "
                    "part of the task. Leave it alone, or say why it is needed.",
                    key=f"critical:{path}",
                    severity="high" if changed else "medium",
                    confidence=0.9,
                    impact=0.5,
                    evidence=(turn.asked, turn.step),
                    details={"path": path, "tool": turn.tool},
                    stuck=Stuck(kind="pattern", key=path, tool=turn.tool),
                ),
            )
        return ()

    def _outside(self, turn: CompletedCall) -> tuple[Issue, ...]:
        """Files that were changed outside the workspace, temporary folders and caches."""
        if not self.context.workspace:
            return ()
        found = [effect for effect in turn.effects if self._is_outside(effect)]
        for effect in found:
            push(self.state.outside, (turn.step, effect.target), KEPT)
        if not found:
            return ()
        paths = list(dict.fromkeys(path for _, path in self.state.outside))
        deleted = any(effect.verb == "delete" for effect in found)
        return (
            self.issue(
                turn.step,
                f"{turn.tool} {'deleted' if deleted else 'changed'} {found[0].target}, which is outside the workspace "
                f"{self.context.workspace} and not part of the task ({len(paths)} such so far). "
                "Stay with the files of the task, or say why others are needed.",
                key="outside",
                severity="high" if deleted or len(paths) >= self.tuning.scope_least else "medium",
                confidence=0.9,
                evidence=[step for step, _ in self.state.outside[-8:]],
                details={"path": found[0].target, "count": len(paths), "tool": turn.tool},
                stuck=Stuck(kind="pattern", key=_top(found[0].target), tool=turn.tool, needed=1),
            ),
        )

    def _zone(self, effect: Effect) -> Zone:
        """Where a target is, seen from the workspace of the run; the reading does not know it."""
        workspace, path = self.context.workspace, effect.target
        if not workspace or path[:1] != "/":
            return effect.zone
        if relative(path, workspace)[:1] != "/":
            return "workspace"
        return "host" if effect.zone == "workspace" else effect.zone

    def _is_outside(self, effect: Effect) -> bool:
        path = effect.target
        return (
            effect.verb in CHANGING
            and self._zone(effect) in OUTSIDE
            and path[:1] in "/~"
            and not path.startswith(("/dev/", "/proc/"))
            and not self._is_named(path)
        )

    def shows(self, stuck: Stuck, standing: bool) -> bool:
        """Whether this turn changed a file outside; earlier ones remain in the window."""
        turn, outside = self.history.turn, self.state.outside
        if turn is None or not stuck.key.startswith(("/", "~")) or not outside:
            return standing
        return standing or outside[-1][0] == turn.step

    def _is_named(self, path: str) -> bool:
        """Whether the task or a person names this file, or a folder that it is in."""
        if any(matches(glob, relative(path, self.context.workspace)) for glob in self.context.contract.may_change):
            return True
        expected = self.context.expected_paths
        if any(path == one or path.endswith(f"/{one}") or path.startswith(f"{one.rstrip('/')}/") for one in expected):
            return True
        goal = goal_text(self.context, self.history.past.prompt)
        if path.rstrip("/").rpartition("/")[2] in goal:
            return True
        folders = path.strip("/").split("/")
        return any(f"/{'/'.join(folders[:depth])}" in goal for depth in range(2, len(folders)))


def _top(path: str) -> str:
    """The first two components of a path outside."""
    return "/".join(path.split("/")[:3])


@lru_cache(maxsize=2048)
def _is_critical(path: str) -> bool:
    # Check the name first: a pattern that may begin at each component of a path takes far longer.
    if _SECRET_NAME.match(path.rpartition("/")[2]):
        return True
    return ("/." in path or path[:1] in "./") and _SECRET_PLACE.search(path) is not None


detector = ScopeCreep
