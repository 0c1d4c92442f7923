"""Rationality: whether a step makes sense here: its goal, its progression, and whether it stays in expected paths."""

from __future__ import annotations

import re

from ..calls import CallReading, Effect, resolve, zone_of
from ..core import Context

REMOVE = re.compile(r"\b(?:remov|delet|clean|clear|purg|wip|eras|empt|rm\b)", re.IGNORECASE)
DEPLOY = re.compile(
    r"\b(?:deploy|rsync|sync|mirror|upload|publish|copy|push|releas|ship|roll ?out|log ?in|key)", re.IGNORECASE
)
NEGATED = re.compile(r"\b(?:not|never|no|without|except|keep|avoid|unless|leave)\b|n't", re.IGNORECASE)
SENTENCE = re.compile(r"[.!?;]\s|\n")
"""How a task asks to remove or to deploy something, how it negates, and where a sentence ends."""

MAX_PATHS = 64
"""Paths of one step that are checked."""


class ExpectedPaths:
    """Where a run is expected to work: the context's paths, otherwise its workspace."""

    def __init__(self, context: Context, workspace: str) -> None:
        self.workspace = workspace
        given = [resolve(path, workspace or "") for path in context.expected_paths if path]
        self._roots = tuple(root.rstrip("/") or "/" for root in given) or (
            (workspace.rstrip("/") or "/",) if workspace else ()
        )
        self._prefixes = tuple(f"{root.rstrip('/')}/" for root in self._roots)
        self._mentioned = f"{context.task} {context.primary_goal}"

    def is_outside(self, reading: CallReading) -> bool:
        """Whether a path of the step is outside; false if there are no expected paths."""
        return bool(self._roots) and any(
            self._is_foreign(effect.target) for effect in reading.effects[:MAX_PATHS] if effect.file
        )

    def asks_to_remove(self, effect: Effect) -> bool:
        """Whether the task asks to remove, or to write to, what an effect is about."""
        path = effect.target
        if not effect.file or path[:1] not in "/~.":
            return bool(path) and len(path) > MIN_NAME and path in self._mentioned
        place = place_of(path)
        # A mention of a system folder in passing is never a request to remove it.
        if place.count("/") < (3 if effect.zone in ("home", "system") else 2):
            return False
        # "Remove old logs from /var/log/app" asks to remove files in that folder, not the folder.
        whole = path.rstrip("/") == place and effect.extent != "one"
        named = (r"(?<!from )(?<!from the )(?<!in )(?<!in the )" if whole else "") + re.escape(place)
        folder = place.rpartition("/")[0]
        if path.rstrip("/") == place and folder.count("/") > 2:
            named += f"|{re.escape(folder)}"
        asks = re.compile(rf"(?:{named})/?(?![\w/.-]*\w)")
        return any(
            asks.search(sentence) and REMOVE.search(sentence) and not NEGATED.search(sentence)
            for sentence in SENTENCE.split(self._mentioned)
        )

    def orders(self, effect: Effect, reading: CallReading) -> bool:
        """Whether the task orders what an effect does to other machines or to branches."""
        if effect.zone != "service" and effect.target != "key":
            return False
        verb, names = DEPLOY, []
        for program in reading.programs:
            if program.name != effect.by:
                continue
            if program.name == "git":
                operands = [word for word in program.words[1:] if word[:1] != "-"]
                names, verb = [name.removeprefix(":").removeprefix("refs/heads/") for name in operands[2:]], REMOVE
            elif "ssh" in program.via:
                near = effect.target.count("/") > 1 and not effect.target.startswith(KEPT)
                logins = (each.target for each in reading.effects if each.by in ("ssh", "mosh"))
                names, verb = [login.rpartition("@")[2] for login in logins if near], REMOVE
            elif program.name == "ssh-copy-id":
                names = [program.words[-1].rpartition("@")[2]]
            else:
                names = [host.rpartition("@")[2] for word in program.words if (host := host_of(word))]
        return bool(names) and all(self._says(name, verb) for name in names)

    def _says(self, name: str, verb: re.Pattern[str]) -> bool:
        """Whether a sentence of the task contains both the name and the verb."""
        named = re.compile(rf"(?<![\w./-]){re.escape(name)}(?![\w/-]|\.\w)")
        return len(name) > 1 and any(
            named.search(sentence) and verb.search(sentence) and not NEGATED.search(sentence)
            for sentence in SENTENCE.split(self._mentioned)
        )

    def _is_foreign(self, path: str) -> bool:
        full = resolve(path, self.workspace or "")
        if full.startswith(self._prefixes) or full in self._roots:
            return False
        if not full.startswith(("/", "~")) or full.startswith("/dev/"):
            return full.startswith("..")
        if path.rstrip("/") in self._mentioned and len(path) > 3:
            return False
        return zone_of(full, self.workspace or NOWHERE) not in ("temp", "caches")


KEPT = ("/etc", "/usr", "/bin", "/lib", "/boot", "/var/lib", "/home", "/root")
"""Paths that no task means, whatever it says about a machine."""
NOWHERE = "/-"
MIN_NAME = 8


def host_of(word: str) -> str:
    """The host before a remote path: `me@web:/srv/app`."""
    name, colon, _ = word.partition(":")
    return name if colon and name and "/" not in name and word[:1] != "-" else ""


def place_of(path: str) -> str:
    """A path as a task would name it: up to its first wildcard, without a trailing slash."""
    wild = min((at for at in map(path.find, "*?[") if at >= 0), default=-1)
    return (path if wild < 0 else path[:wild].rpartition("/")[0]).rstrip("/")


ALIGNMENT, PROGRESSION, EFFICIENCY = 0.4, 0.4, 0.2
"""Weights: where a step acts and whether it just failed matter more than how often it was done."""

OUTSIDE = 0.5
"""Alignment of a step that acts only outside the expected paths."""

AFTER_FAILURES = (1.0, 0.9, 0.7, 0.5, 0.5, 0.5, 0.2)
"""Progression by the number of earlier failures with nothing written since."""

AFTER_REPEATS = (1.0, 1.0, 1.0, 1.0, 1.0, 0.5)
"""Efficiency by how often the same step was repeated with nothing written since: a few may be a check or a poll."""


def rationality(*, outside: bool, failures: int, repeats: int) -> float:
    """The weighted sum of the three parts, from 0 to 1; for a context with substance."""
    aligned = OUTSIDE if outside else 1.0
    progressing = AFTER_FAILURES[min(failures, len(AFTER_FAILURES) - 1)]
    efficient = AFTER_REPEATS[min(repeats, len(AFTER_REPEATS) - 1)]
    return round(ALIGNMENT * aligned + PROGRESSION * progressing + EFFICIENCY * efficient, 4)


def has_substance(context: Context) -> bool:
    """Whether the context says anything that a step can be compared with."""
    return bool(context.original_prompt or context.primary_goal or context.goals or context.expected_paths)
