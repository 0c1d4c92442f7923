"""Loads the configuration: the environment over a file over the defaults."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from ..core import CLAUSE_KEYS, BadInput, Clause, check_glob, from_plain, user_folder
from .key_types import is_override, root
from .problem import ConfigProblem
from .schema import Config

FILE_NAME = "interlock.yaml"


class Examined(Struct, frozen=True, kw_only=True):
    """A configuration and where it came from: `sources` has file and line, or the variable, of every key that is set.

    If `problems` has errors, the configuration is what is left without them, for callers that have to continue.
    `ignored` are keys of a workspace's file that loosen supervision and are not trusted yet.
    """

    config: Config
    file: str | None = None
    sources: dict[str, str] = {}
    problems: tuple[ConfigProblem, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def ignored_line(self) -> str:
        """A message about the ignored keys of a workspace's file; empty if there are none."""
        if not self.ignored:
            return ""
        keys = ", ".join(self.ignored[:6]) + (f" and {len(self.ignored) - 6} more" if len(self.ignored) > 6 else "")
        return f"{self.file} would loosen supervision ({keys}): ignored until you run: interlock config trust"

    @property
    def errors(self) -> tuple[ConfigProblem, ...]:
        return tuple(problem for problem in self.problems if problem.level == "error")


def load(
    path: Path | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    warn: Callable[[str], None] = lambda words: None,
) -> Config:
    """The effective configuration: from this file, or ./interlock.yaml over the user's file over the defaults.

    INTERLOCK_A__B in the environment overrides a.b. Raises BadInput with the first problem. `warn` is called
    with the parts of a workspace's file that were ignored because it is not trusted yet.
    """
    examined = examine(path, env, cwd)
    for problem in examined.errors:
        raise problem.error()
    if examined.ignored:
        warn(examined.ignored_line)
    return examined.config


def load_anyway(warn: Callable[[str], None]) -> Config:
    """The same without invalid parts, which are reported: errors in a file must not prevent control of runs."""
    examined = examine()
    for problem in examined.errors[:1]:
        more = f" and {len(examined.errors) - 1} more" if len(examined.errors) > 1 else ""
        said = str(problem)
        stop = "" if said.endswith((".", "?")) else "."
        warn(f"{said}{stop} Continuing without this{more}: see interlock config check.")
    return examined.config


def examine(path: Path | None = None, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Examined:
    """The same with every problem, and where each value came from."""
    env = os.environ if env is None else env
    file = find(path, cwd)
    if file is None and not any(map(is_override, env)):
        return Examined(config=Config())
    if file is not None and path is None and not file.is_file():
        # Nobody requested this file, so it must not block: it may be a pipe.
        problem = ConfigProblem(what="is not a readable file", source=str(file), todo="Remove it, or specify a file.")
        return Examined(config=Config(), file=str(file), problems=(problem,))
    if path is None and file is not None and file != user_file():
        return _examine(file, env, of_workspace=True)
    return _examine(file, env)


def find(path: Path | None = None, cwd: Path | None = None) -> Path | None:
    """The configuration file; None if there is none."""
    if path is not None:
        return path
    here = (cwd or Path()) / FILE_NAME
    if os.path.lexists(here):
        return here
    user = user_file()
    return user if os.path.lexists(user) else None


def user_file() -> Path:
    """The user's own configuration file, which need not exist."""
    return user_folder("config") / FILE_NAME


def _examine(file: Path | None, env: Mapping[str, str], *, of_workspace: bool = False) -> Examined:
    # YAML takes time to import, and most runs have neither a file nor a variable.
    from .document import UnreadableDocument, read
    from .document_check import DocumentCheck
    from .environment import overrides
    from .rules import check
    from .trust import is_trusted, merge, split

    name = str(file) if file else None
    values: dict[str, object] = {}
    sources: dict[str, str] = {}
    problems: list[ConfigProblem] = []
    ignored: tuple[str, ...] = ()
    layers = [user_file()] if of_workspace and user_file().is_file() else []
    for layer in [*layers, *([file] if file is not None else [])]:
        walk = DocumentCheck(str(layer))
        try:
            found = walk.section(read(layer), root(), "")
        except UnreadableDocument as unreadable:
            return Examined(config=Config(), file=name, problems=(unreadable.problem,))
        problems += sorted(walk.problems, key=lambda problem: problem.line or 0)
        if of_workspace and layer is file and not walk.problems and not is_trusted(layer, found):
            found, ignored = split(found, _rest(values))
        values = merge(values, found)
        lines = {path: f"{layer}:{line}" for path, line in walk.lines.items()}
        sources |= {path: source for path, source in lines.items() if not path.startswith(ignored or ("\0",))}
    for override in overrides(env):
        problems += override.problems
        if not override.problems:
            override.apply(values)
            sources |= dict.fromkeys(override.keys(), override.name)
    if problems:
        return Examined(config=_rest(values), file=name, sources=sources, problems=tuple(problems))
    config = from_plain(values, Config)
    doubts = tuple(_with_source(problem, sources) for problem in check(config))
    return Examined(config=config, file=name, sources=sources, problems=doubts, ignored=ignored)


def read_values(file: Path) -> dict[str, object]:
    """The values in a file. Raises BadInput with the first problem."""
    return _read_document(file)[0]


def _read_document(file: Path) -> tuple[dict[str, object], Mapping[str, int]]:
    """The values in a file, and the line of each key."""
    from .document import UnreadableDocument, read
    from .document_check import DocumentCheck

    walk = DocumentCheck(str(file))
    try:
        values = walk.section(read(file), root(), "")
    except UnreadableDocument as unreadable:
        raise unreadable.problem.error() from None
    for problem in walk.problems:
        raise problem.error()
    return values, walk.lines


def _rest(values: dict[str, object]) -> Config:
    """The valid sections of a configuration; an invalid one is left out as a whole."""
    config = Config()
    for name, value in values.items():
        with suppress(msgspec.ValidationError):
            config = msgspec.structs.replace(config, **{name: getattr(from_plain({name: value}, Config), name)})
    return config


def _with_source(problem: ConfigProblem, sources: Mapping[str, str]) -> ConfigProblem:
    """A problem with the source of its key."""
    source = sources.get(problem.path, "")
    file, _, line = source.rpartition(":")
    if file and line.isdigit():
        return msgspec.structs.replace(problem, source=file, line=int(line))
    return msgspec.structs.replace(problem, source=source)


def read_contract_file(file: Path) -> tuple[Clause, ...]:
    """The clauses in a contract file, each with its line. Raises BadInput, naming key and line."""
    values, lines = _read_document(file)
    for name in values:
        if name != "contract":
            raise BadInput(f"{name}: a contract file has only the section contract", where=str(file))
    section = values.get("contract")
    found = []
    for name, value in section.items() if isinstance(section, dict) else ():
        line = lines.get(f"contract.{name}")
        where = f"{file}:{line}" if line else str(file)
        key = next((key for key in CLAUSE_KEYS if key == name), None)
        if key is None or not isinstance(value, list):
            raise BadInput(f"contract.{name}: belongs in the configuration", where=where)
        for each in value:
            if key in ("may_change", "protect"):
                _check_clause(str(each), f"contract.{name}", where)
            found.append(Clause(key, str(each), where))
    if not found:
        raise BadInput(
            "the contract is empty", where=str(file), todo="Add contract: with may_change, protect or done_when."
        )
    return tuple(found)


def _check_clause(glob: str, key: str, where: str) -> None:
    try:
        check_glob(glob)
    except BadInput as error:
        raise BadInput(f"{key}: {error.what}", where=where, todo=error.todo) from None
