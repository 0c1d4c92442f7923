"""Transfers: files that a request sends or fetches, and links, which are other names for files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core import late_pattern
from ..effect_words import FAMILIAR, STRANGE
from .model import NOTHING, Command, KnownFile, PipeContent
from .names import program_name
from .scope import ShellScope, below

if TYPE_CHECKING:
    from .reader import ScriptReader

SENT = late_pattern(r"(?:[^=@<]*=)?[@<]([^;]+)")
"""A file that a request sends: `@path`, `name=@path`, `name=<path`."""


def run_request(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """Treat a file that a request sends as read; record a file that it fetches as fetched."""
    args = command.args
    for at, arg in enumerate(args):
        name, equals, value = arg.partition("=") if arg.startswith("--") else (arg, "", "")
        after = value if equals else args[at + 1] if at + 1 < len(args) else ""
        path = ""
        if name in ("-F", "--form", "-d", "--data", "--data-binary", "--data-urlencode", "--data-ascii", "--json"):
            sent = SENT.match(after)
            path = sent[1] if sent is not None else ""
        elif name in ("-T", "--upload-file", "--post-file", "--body-file"):
            path = after
        elif arg[:2] in ("-F", "-d") and len(arg) > 2 and (sent := SENT.match(arg[2:])) is not None:
            path = sent[1]
        if path and path != "-":
            reader.execute(["cat", path], below(scope, command.program), NOTHING)
    fetcher = fetcher_of(command)
    source = next((host for arg in args if "://" in arg and (host := strange_host(arg))), "")
    for fetched in _fetched(command):
        scope.note(fetched, KnownFile(fetched=fetcher, source=source))
    return None


def with_file(word: str, scope: ShellScope) -> str:
    """A word with the text of the written file that it refers to: `file://change.json`, `--change-batch=file://x`."""
    before, scheme, name = word.partition("file://")
    text = scope.recall(name) if scheme and (not before or before[-1:] == "=") else None
    return word if text is None else f"{before}{text}"


def strange_host(word: str) -> str:
    """The host of a URL that is not a usual source of code; otherwise empty."""
    found = STRANGE.search(word)
    return found[1] if found is not None and FAMILIAR.match(found[1]) is None else ""


INSTALLER = "well-known-installer"
"""Stands for the program that fetches a well-known tool's installer from its maker over TLS."""

MAKERS = late_pattern(
    r"https://(?:sh\.rustup\.rs|get\.docker\.com|astral\.sh|install\.python-poetry\.org|bootstrap\.pypa\.io|bun\.sh"
    r"|deno\.land|get\.pnpm\.io|deb\.nodesource\.com|rpm\.nodesource\.com|get\.sdkman\.io|get\.helm\.sh|dl\.k8s\.io"
    r"|repo\.anaconda\.com|micro\.mamba\.pm|nixos\.org|cli\.github\.com|apt\.llvm\.org|packages\.microsoft\.com"
    r"|download\.docker\.com|dl\.google\.com|go\.dev|nodejs\.org|releases\.hashicorp\.com|mise\.run|starship\.rs"
    r"|ollama\.com|tailscale\.com|fnm\.vercel\.app|claude\.ai"
    r"|raw\.githubusercontent\.com/(?:nvm-sh|Homebrew|pyenv|rbenv|ohmyzsh|helm|conda-forge|golangci|pypa)"
    r"|github\.com/(?:conda-forge|pyenv|rbenv|helm|astral-sh))(?:/|\Z)"
)
"""Where well-known tools are fetched from."""


def fetcher_of(command: Command) -> str:
    """The program that fetches, or INSTALLER if everything comes from the maker of a well-known tool."""
    addresses = [arg for arg in command.args if "://" in arg]
    known = bool(addresses) and all(MAKERS.match(address) for address in addresses)
    return INSTALLER if known else command.program


def _fetched(command: Command) -> list[str]:
    """The paths that a download is saved to."""
    args, found = command.args, [each.target for each in command.redirects if each.writes]
    to_name = command.program != "curl"
    for at, arg in enumerate(args):
        name, equals, value = arg.partition("=") if arg.startswith("--") else (arg, "", "")
        after = value if equals else args[at + 1] if at + 1 < len(args) else ""
        cluster = arg[:1] == "-" and arg[1:2] != "-"
        if name in ("--output", "--output-document") or (
            cluster and arg.endswith("O" if command.program == "wget" else "o")
        ):
            found.append(after)
            to_name = False
        elif command.program == "curl" and (name == "--remote-name" or (cluster and "O" in arg)):
            to_name = True
    if to_name:
        found += [arg.partition("?")[0].rpartition("/")[2] for arg in args if "://" in arg]
    return [name for name in found if name and name not in ("-", "/dev/null", "/dev/stdout")]


def run_link(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`ln -s TARGET NAME`: paths below the name are below the target."""
    operands = [arg for arg in command.args if arg[:1] != "-"]
    if len(operands) == 2 and any(arg[:1] == "-" and "s" in arg for arg in command.args):
        note_link(operands[1], operands[0], scope)
    if len(operands) == 2 and (program := program_at(operands[0])):
        note_program(operands[1], program, scope)
    return None


def note_link(name: str, target: str, scope: ShellScope) -> None:
    """Record that paths below a name are below the target: a link, or a bind mount."""
    if target[:1] not in ("/", "~", "$") and "/" in (folder := _plain(name).rstrip("/")):
        target = f"{folder.rpartition('/')[0]}/{target}"  # relative to the link's own folder
    scope.links[_plain(name).rstrip("/")] = target
    scope.note(name.rstrip("/"), KnownFile(link=target))


def run_mount(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`mount --bind FOLDER NAME`."""
    operands = [arg for at, arg in enumerate(command.args) if arg[:1] != "-" and command.args[at - 1 : at] != ("-o",)]
    if len(operands) == 2 and any("bind" in arg for arg in command.args):
        note_link(operands[1], operands[0], scope)
    return None


def note_program(path: str, program: str, scope: ShellScope) -> None:
    """Record that a file is a system program under another name, which is also found through `PATH`."""
    scope.note(path, KnownFile(program=program))
    folder, _, name = path.rpartition("/")
    if folder and folder in (scope.value("PATH") or "").split(":"):
        scope.note(name, KnownFile(program=program))


def run_emptying(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`cp /dev/null FILE` and `dd of=FILE` overwrite a file, as `> FILE` does."""
    args = command.args
    if command.program == "cp" and "/dev/null" in args[:-1]:
        reader.add(Command(program=">", args=(args[-1],), via=command.via, cwd=scope.cwd, fed_by=("emptied",)))
    for arg in args:
        if command.program == "dd" and arg.startswith("of=") and not arg.startswith("of=/dev/"):
            reader.add(Command(program=">", args=(arg[3:],), via=command.via, cwd=scope.cwd, fed_by=("dd",)))
    return None


def program_at(path: str) -> str:
    """The name of a system program, by its path; otherwise empty."""
    name = program_name(path)
    return name if "/" in path and "/" not in name and path.rpartition("/")[0].endswith("bin") else ""


def follow_links(words: list[str], scope: ShellScope) -> list[str]:
    """The words with links resolved where the path goes beyond the link itself, or a shell changes to it."""
    links, itself = scope.links, words[0] == "cd"
    return [_resolved(word, links, itself) if "/" in word or itself else word for word in words]


def _resolved(word: str, links: dict[str, str], itself: bool) -> str:
    plain = _plain(word)
    at = plain.find("/", 1)
    while 0 < at <= MAX_LINK:
        if (target := links.get(plain[:at])) is not None:
            return f"{target.rstrip('/')}/{plain[at + 1 :]}"
        at = plain.find("/", at + 1)
    return links.get(plain, word) if itself else word


MAX_LINK = 1_024
"""Characters of a path that are searched for a link."""


def is_fetched(word: str, scope: ShellScope) -> str | None:
    """The program that fetched the file that a word names, unless its content has been shown."""
    file = scope.file(word)
    return file.fetched if file.fetched and not file.read else None


def run_fetched(reader: ScriptReader, word: str, scope: ShellScope) -> None:
    """Record that a program runs a file that it, this script or an earlier step fetches and nobody has read."""
    fetcher = "curl" if REMOTE.match(word) else is_fetched(word, scope)
    if fetcher is not None:
        reader.add(Command(program="sh", args=(word,), via=scope.via, cwd=scope.cwd, fed_by=(fetcher,)))


REMOTE = late_pattern(r"(?:https?|ftp|scp|rsync|dav|sftp)://")


def _plain(path: str) -> str:
    return path.removeprefix("./")
