"""Rationality: whether a step makes sense here: its goal, its progression, and whether it stays in expected paths."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..core import Context
from .paths import resolve, zones
from .shell import Command
from .shell.wrappers import SSH, Wrapper
from .wordlist import name_set

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

    def __init__(self, context: Context, workspace: str | None) -> None:
        self.workspace = workspace
        given = [resolve(path, workspace) for path in context.expected_paths if path]
        self._roots = tuple(root.rstrip("/") or "/" for root in given) or (
            (workspace.rstrip("/") or "/",) if workspace else ()
        )
        self._prefixes = tuple(f"{root.rstrip('/')}/" for root in self._roots)
        self._mentioned = f"{context.task} {context.primary_goal}"

    def is_outside(self, commands: Iterable[Command]) -> bool:
        """Whether a path of the step is outside; false if there are no expected paths."""
        return bool(self._roots) and any(self._is_foreign(path) for path in paths_of(commands))

    def is_named(self, command: Command) -> bool:
        """Whether the task names the command's target: asks to remove every path, or names the host or machine."""
        if command.program in ("cloned", "unpickles"):
            return command.args[1] in self._mentioned
        if command.program in CLOUDS:
            rented = [word for arg in command.args if (word := arg.rpartition("=")[2]) and MACHINE.match(word)]
            return bool(rented) and all(word in self._mentioned for word in rented)
        paths = [word for word in command.args if is_path(word, command.program)]
        return bool(paths) and all(self._asks_to_remove(path, place_of(path)) for path in paths)

    def orders(self, command: Command, hosts: Iterable[str]) -> bool:
        """Whether the task orders what a command does to other machines (`hosts` of its script) or to branches."""
        if command.program == "git":
            operands = [arg for arg in command.args if arg[:1] != "-"]
            names, verb = [name.removeprefix(":").removeprefix("refs/heads/") for name in operands[2:]], REMOVE
        elif command.program in REMOVING:
            near = {zone for arg in command.args for zone in zones(arg, command.cwd, None)}
            names, verb = list(hosts) if "ssh" in command.via and near.isdisjoint(KEPT) else [], REMOVE
        elif command.program == "ssh-copy-id":
            names, verb = [arg.rpartition("@")[2] for arg in command.args[-1:]], DEPLOY
        else:
            names, verb = [host.rpartition("@")[2] for arg in command.args if (host := host_of(arg))], DEPLOY
        return bool(names) and all(self._says(name, verb) for name in names)

    def _says(self, name: str, verb: re.Pattern[str]) -> bool:
        """Whether a sentence of the task contains both the name and the verb."""
        named = re.compile(rf"(?<![\w./-]){re.escape(name)}(?![\w/-]|\.\w)")
        return len(name) > 1 and any(
            named.search(sentence) and verb.search(sentence) and not NEGATED.search(sentence)
            for sentence in SENTENCE.split(self._mentioned)
        )

    def _asks_to_remove(self, path: str, place: str) -> bool:
        # A mention of a system folder in passing is never a request to remove it.
        if place.count("/") < (3 if zones(place, None, None) & {"vital", "home", "under_home"} else 2):
            return False
        # "Remove old logs from /var/log/app" asks to remove files in that folder, not the folder.
        whole = path.rstrip("/") == place
        named = (r"(?<!from )(?<!from the )(?<!in )(?<!in the )" if whole else "") + re.escape(place)
        folder = place.rpartition("/")[0]
        if whole and folder.count("/") > 2:
            named += f"|{re.escape(folder)}"
        asks = re.compile(rf"(?:{named})/?(?![\w/.-]*\w)")
        return any(
            asks.search(sentence) and REMOVE.search(sentence) and not NEGATED.search(sentence)
            for sentence in SENTENCE.split(self._mentioned)
        )

    def _is_foreign(self, path: str) -> bool:
        full = resolve(path, self.workspace)
        if full.startswith(self._prefixes) or full in self._roots:
            return False
        if not full.startswith(("/", "~")) or full.startswith("/dev/"):
            return full.startswith("..")
        if path.rstrip("/") in self._mentioned and len(path) > 3:
            return False
        return "temp" not in zones(full, None, None)


def paths_of(commands: Iterable[Command]) -> list[str]:
    """The paths in a step: operands with a slash, and targets of redirections."""
    found: list[str] = []
    for command in commands:
        found += [resolve(word, command.cwd) for word in command.args if is_path(word, command.program)]
        found += [redirect.target for redirect in command.redirects if redirect.target]
        if len(found) >= MAX_PATHS:
            break
    return found[:MAX_PATHS]


CLOUDS = frozenset(("aws", "gcloud", "az"))
MACHINE = re.compile(r"[a-z]\w{1,8}(?:\.\w+|(?:-\w+)+-\d+g?)\Z|Standard_\w+\Z")
"""Clouds' names for machine types: `p4d.24xlarge`, `a2-highgpu-8g`, `Standard_ND96asr_v4`."""

REMOVING = frozenset(("rm", "rmdir", "unlink"))
KEPT = frozenset(("root", "vital", "home"))
"""Paths that no task means, whatever it says about a machine."""


def host_of(word: str) -> str:
    """The host before a remote path: `me@web:/srv/app`."""
    name, colon, _ = word.partition(":")
    return name if colon and name and "/" not in name and word[:1] != "-" else ""


def remote_hosts(commands: Iterable[Command]) -> list[str]:
    """The hosts that the commands of a script log in to."""
    found = [SSH_WORDS.inner(command.args)[:1] for command in commands if command.program in ("ssh", "mosh", "autossh")]
    return [host.rpartition("@")[2] for words in found for host in words]


SSH_WORDS = Wrapper(SSH.valued)


def place_of(path: str) -> str:
    """A path as a task would name it: up to its first wildcard, without a trailing slash."""
    wild = min((at for at in map(path.find, "*?[") if at >= 0), default=-1)
    return (path if wild < 0 else path[:wild].rpartition("/")[0]).rstrip("/")


def is_path(word: str, program: str) -> bool:
    """Whether a word looks like a local path."""
    first = word[:1]
    if not first or first in "-$<" or len(word) > 1024 or "://" in word or "\n" in word:
        return False
    return first in "/~." or ("/" in word and program in PATH_PROGRAMS)


PATH_PROGRAMS = name_set("rm mv cp cat tee ls mkdir touch chmod chown ln head tail find rmdir")
"""Programs whose plain operands are paths even without a leading slash."""


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
