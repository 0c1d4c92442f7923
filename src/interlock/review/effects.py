"""Effects: what a command does to which target, whatever its program is called.

Rules match programs. A command that no rule matches still states its effect: a verb in its name, its subcommand or an
option, and the paths, hosts or protections that its words name. Such a command is translated into generic commands,
each of which stands for one effect: `deletes`, `writes`, `reads`, `unpacks`, `destroys`, `disables`, `bypasses`,
`grants`, `trusts`, `persists`, `exposes`, `sets`, `sources`, `attacks`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import re2

from ..core import late_pattern
from .effect_words import (
    COPIES,
    FAMILIAR,
    INTO,
    MIRRORING,
    OUTPUT,
    PACKAGERS,
    PACKS,
    PLAY_MONEY,
    RULED,
    SETTING_KEYS,
    SHOWS_ABOUT,
    SPOKEN,
    STRANGE,
    SYNCING,
    TAKING,
    UNPACKERS,
    WINDOWS,
    WRITERS,
)
from .program_names import EDITS_IN_PLACE, PROGRAMS, SUBCOMMANDS
from .shell.carriers import SAYING
from .shell.model import Command
from .shell.names import CODE_OPTIONS, INTERPRETERS, SHELLS
from .shell.sinks import LOCAL
from .wordlist import name_set

MAX_WORDS = 64
"""Words of a command that are checked."""

MAX_WORD = 200
"""Maximum length of a word that can be a verb or a path."""

_NAMES = tuple(SPOKEN)
_SPOKEN = re2.Set.SearchSet()
for _expression in SPOKEN.values():
    _SPOKEN.Add(f"(?i){_expression}")
_SPOKEN.Compile()

STATED = ("disables", "bypasses", "grants", "trusts", "persists", "attacks", "escapes", "fills", "spies", "halts")
"""Effects that the words alone state."""


def effects_of(command: Command) -> tuple[Command, ...]:
    """The effects of a command, as far as its own words state them; none for a harmless read."""
    program, args = command.program, command.args
    if not args:
        return ()
    action = PROGRAMS.get(program)
    if action == "read":
        for arg in args:
            if arg[:1] == "-" or program in EDITS_IN_PLACE:
                return _as(command, "writes", _written(program, args))
        return ()
    if program in INTERPRETERS or program in SHELLS:
        return ()
    found = [*_sources(command), *_settings(command)]
    if program in RULED or program in CODE_OPTIONS:
        return (*found, *_reads(command)) if program in CODE_OPTIONS else tuple(found)
    if program in COPIES:
        targets = _targets(args)
        shadowing = [target for target in targets if hides_program(target)]
        return (*_as(command, "writes", targets), *_as(command, "shadows", shadowing))
    if program in WRITERS:
        places = [] if is_own_name(command.stdin) else _places(args)
        if program == "augtool":
            # Below /files are the system's own files.
            places = (
                [] if args[0] in ("print", "ls", "match", "get") else [each.removeprefix("/files") for each in places]
            )
        fills = program in MAKING_ROOM and "fills" in _said(program, args)
        return (*_as(command, "writes", places), *(_as(command, "fills", args[:2]) if fills else ()))
    said = _said(program, args)
    if program in UNPACKERS:
        unpacks = "unpacks" in said or not any(PACKS.match(arg) for arg in args[:1])
        return _as(command, "unpacks", _values(args, INTO)) if unpacks else ()
    known = action is not None or program in SUBCOMMANDS
    places = _places(args)
    found += _as(command, "writes", _values(args, OUTPUT))
    if places and action not in ("network", "delete"):
        if "deletes" in said:
            found += _as(command, "deletes", places)
        elif "writes" in said or "unpacks" in said:
            found += _as(command, "writes", places)
        found += _reads(command)
        if not known and "forced" in said:
            found += _as(command, "touches", places)
    elif places and ("writes" in said or program in FETCHING):
        found += _as(command, "writes", places[-1:])
    if (
        not known
        and program not in OWN_TOOLS
        and "destroys" in said
        and not any("/" in place for place in places)
        and ("forced" in said or names_one(args))
    ):
        found += _as(command, "destroys", args[:4])
    if action == "network":
        words = {word for arg in args for word in arg.split()}
        if not SYNCING.isdisjoint(words) and not MIRRORING.isdisjoint(words):
            found += _as(command, "destroys", args[:4])
    for kind in STATED if "/" not in program else ():
        if kind in said and not (known and kind == "halts"):
            found += _as(command, kind, args[:8])
    if "spends" in said and not is_play_money(args):
        found += _as(command, "spends", args[:4])
    if "exposes" in said and not known:
        found += _as(command, "exposes", args[:8])
    return tuple(found)


MAKING_ROOM = frozenset(("truncate", "fallocate"))
"""Programs that write files and can be told to create one of any size."""

OWN_TOOLS = name_set(
    """pyenv rbenv nodenv nvm fnm volta asdf mise sdk rustup minikube kind k3d colima limactl turbo nx expo hatch tox
    pre-commit sccache ccache watchman direnv virtualenv"""
)
"""Programs that manage only what a developer has on this machine and can recreate."""


def is_play_money(args: tuple[str, ...]) -> bool:
    """Whether a wallet uses a test network or a local one."""
    words = " ".join(arg for arg in args[:MAX_WORDS] if len(arg) <= MAX_WORD)
    return PLAY_MONEY.search(words) is not None or any(map(LOCAL.match, _values(args, CHAINS)))


CHAINS = name_set("--rpc-url --url --fork-url --node-url -r -u")
"""Options that name the chain that a wallet uses."""


def names_one(args: tuple[str, ...]) -> bool:
    """Whether a word is an email address or a domain name."""
    return any(ADDRESS.match(arg) for arg in args)


ADDRESS = late_pattern(r"[\w.+-]+@[\w.-]+\.\w+\Z|(?:[\w-]+\.)+(?:com|net|org|io|example|dev)\Z")


def _as(command: Command, effect: str, places: Iterable[str]) -> tuple[Command, ...]:
    args = tuple(places)
    if not args:
        return ()
    return (
        Command(
            program=effect, args=args, via=command.via, cwd=command.cwd, filtered=command.filtered, span=command.span,
            evidence=command.evidence, stdin=command.stdin, fed_by=command.fed_by,
        ),
    )  # fmt: skip


def _said(program: str, args: tuple[str, ...]) -> frozenset[str]:
    """The effects that a command's name, subcommands and options state, without the paths that it names."""
    words = [program.rpartition("/")[2]]
    before = ""
    for arg in args[:MAX_WORDS]:
        option, before = before, arg
        if option in SAYING or (" " in arg and arg[:1] not in "{["):
            # Text for people, or a command of its own.
            continue
        if len(arg) > 4 * MAX_WORD or "://" in arg or (arg[:1] in ("/", "~", ".", "@") and program not in WINDOWS):
            continue
        name, _, value = arg.partition("=")
        words.append(name if value[:1] in ("/", "~", ".") else arg)
    hits = _SPOKEN.Match(" ".join(words).encode("utf-8", "replace"))
    return frozenset(_NAMES[hit] for hit in hits) if hits else frozenset()


def _written(program: str, args: tuple[str, ...]) -> Iterator[str]:
    """The files written by a program that otherwise only reads."""
    for arg in args:
        if arg in OUTPUT or arg[:2] in ("-o", "--"):
            yield from _values(args, OUTPUT)
            break
    edits = EDITS_IN_PLACE.get(program)
    if edits is not None and any(arg.startswith(edits) for arg in args):
        yield from _places(args)


def _places(args: tuple[str, ...]) -> list[str]:
    """The words that may be paths: operands, and option values that begin like a path."""
    found = []
    for arg in args[:MAX_WORDS]:
        if len(arg) > MAX_WORD * 4 or "://" in arg:
            continue
        if arg[:1] != "-":
            value = arg.partition("=")[2]
            if value[:1] not in ("/", "~") and (written := LABELLED.match(arg)) is not None:
                value = written[1]
            found.append(value if value[:1] in ("/", "~") else arg)
        elif (value := arg.partition("=")[2])[:1] in ("/", "~") or (value := arg[2:])[:1] in ("/", "~"):
            found.append(value)
    return [place for place in found if "/" in place or place[:1] in ("~", ".")] or found


LABELLED = late_pattern(r"[A-Z][A-Z_-]+:([/~].*)\Z")
"""A path after a label: `CREATE:/etc/x`."""


def _reads(command: Command) -> tuple[Command, ...]:
    """Files given to an unknown program: it may show them."""
    if command.program in SHOWS_ABOUT:
        return ()
    return _as(command, "reads", (place for place in _places(command.args) if "/" in place))


FETCHING = frozenset(("rclone", "scp", "sftp", "socat", "aria2c", "axel"))
"""Network programs whose last operand may be a local path."""


def _targets(args: tuple[str, ...]) -> list[str]:
    """The destinations of a program that copies."""
    into = list(_values(args, TARGETS))
    operands = [arg for arg in args if arg[:1] != "-" or arg == "-"]
    target = into[0] if into else operands[-1] if len(operands) > 1 else ""
    if not target:
        return []
    names = [operand.rstrip("/").rpartition("/")[2] for operand in (operands if into else operands[:-1])]
    return [target, *(f"{target.rstrip('/')}/{name}" for name in names[:8] if name)]


def hides_program(place: str) -> bool:
    """Whether a file at this path would shadow a common program."""
    folder, _, name = place.rpartition("/")
    return folder.endswith("bin") and (
        name in PROGRAMS or name in SUBCOMMANDS or name in SHELLS or name in INTERPRETERS
    )


TARGETS = frozenset(("-t", "--target-directory"))


def _values(args: tuple[str, ...], options: frozenset[str]) -> Iterator[str]:
    """The values of options: `-o X`, `--output=X`, `-oX`, `of=X`."""
    for at, arg in enumerate(args[:MAX_WORDS]):
        name, equals, value = arg.partition("=")
        if equals and (name in options or name == "of"):
            yield value
        elif arg in options and at + 1 < len(args):
            yield args[at + 1]
        elif arg[:2] in options and len(arg) > 2 and arg[1] != "-" and arg[2] in "/~":
            yield arg[2:]


def _sources(command: Command) -> tuple[Command, ...]:
    """Code fetched from an address that is not a usual source of packages."""
    args = command.args
    if not any("://" in arg for arg in args):
        return ()
    if "krew" in (command.program.removeprefix("kubectl-"), *args[:2]):
        return _as(command, "sources", filter(is_strange, args))
    if command.program not in PACKAGERS:
        return ()
    if TAKING.isdisjoint(args):
        return ()
    strange = []
    for at, arg in enumerate(args):
        # Over TLS, an index or registry is assumed to be a company's own; a package installed directly is not.
        named = (
            arg[:1] == "-"
            or not DIRECT.intersection(args[:at])
            or REPOSITORIES.intersection(args[:at])
            or args[at - 1][:2] == "--"
            or args[at - 1] == "-i"
        )
        if is_strange(arg) and ("http://" in arg or "git://" in arg or not named):
            strange.append(arg)
    return _as(command, "sources", strange)


DIRECT = frozenset(("install", "i", "add", "get", "exec", "dlx", "x", "run", "-U", "-Uvh", "-ivh", "-y", "--yes"))
REPOSITORIES = frozenset(("repo", "remote", "source", "channel", "config"))


def is_strange(word: str) -> bool:
    """Whether a word is an address that is not a usual source of packages."""
    found = STRANGE.search(word)
    return found is not None and FAMILIAR.match(found[1]) is None


def _settings(command: Command) -> tuple[Command, ...]:
    """A setting that makes a program run, trust or contact something else from now on."""
    args = command.args
    if "config" not in args[:4] and "env" not in args[:1]:
        return ()
    words = [word for arg in args for word in (arg.split("=", 1) if arg[:1] != "-" else (arg,)) if word[:1] != "-"]
    for at, key in enumerate(words[:-1]):
        if SETTING_KEYS.search(key) is None:
            continue
        value = words[at + 1]
        if value.startswith(("/usr/", "/bin/", "/opt/")):
            continue
        if "https://" in value and key.lower().endswith(("registry", "index-url", "goproxy", "proxy")):
            continue
        if value[:1] in ("/", "~", "!") or (value[:2] == ".." and "/" in value) or is_strange(value) or is_strange(key):
            return _as(command, "sets", (key, value))
        if value.lower() in ("false", "0", "off", "no", "never", "none"):
            return _as(command, "disables", (key, value))
    return ()


SETTING = late_pattern(
    r"(?:export\s+)?[A-Za-z_]\w*\+?=(?:[^`$]|\$[\w{])*\Z|alias\s|(?:source|\.)\s"
    r"|eval\s+\"?\$\([\w./-]+\s+(?:init|hook|env|shellenv|activate|completion|virtualenv-init|export|direnv)\b"
    r"|(?:set|if|elif|case|for|test|unset|unalias|declare|typeset|function)\s"
    r"|(?:setopt|unsetopt|bindkey|autoload|umask|ulimit|shopt|complete|compinit|zstyle|return|fi|then|else|done|esac)\b"
    r"|[\[\]{}:]|;;|plugins=|fpath|path\+?=|export\s+\w+\Z|pathmunge|fish_add_path|\w+\(\)"
)
"""Lines of a shell profile that set something and run nothing."""

MAX_LINES = 200


def runs_something(text: str) -> bool:
    """Whether a line of a shell profile runs a program at every start."""
    for line in text.split("\n")[:MAX_LINES]:
        plain = line.strip()
        if plain and plain[0] != "#" and SETTING.match(plain) is None:
            return True
    return False


def is_own_name(text: str | None) -> bool:
    """Whether a text only adds host names for this machine."""
    return text is not None and OWN_NAME.match(text) is not None


OWN_NAME = late_pattern(r"(?:\s*(?:127\.[\d.]+|::1|0\.0\.0\.0)\s[^\n]*)+\s*\Z")

INSERTED = late_pattern(r"(?:^|[;\s\d$])[aic]\s*\\?\s*(.+)\Z", re.DOTALL)
"""Text that a sed script inserts: `1i TEXT`, `$ a TEXT`."""
