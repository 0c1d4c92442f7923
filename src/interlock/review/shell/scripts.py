"""Scripts: commands that contain a script for a shell, here or on another machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from .chosen_servers import note_printed, note_sourced
from .interpreters import run_code
from .model import NOTHING, Command, PipeContent
from .names import INTERPRETERS, program_name
from .scope import ShellScope, below
from .transfers import is_fetched
from .wrappers import SSH, Wrapper

if TYPE_CHECKING:
    from .reader import ScriptReader


ENDINGS = {
    "py": "python", "js": "node", "pl": "perl", "rb": "ruby", "php": "php", "ts": "node", "mjs": "node", "cjs": "node",
    "tsx": "node",
}  # fmt: skip

STDIN = ("-", "-s", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
"""Names for a shell's standard input."""


def run_shell(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`bash -c CODE`, `bash FILE`, `... | bash`, `bash <<EOF`."""
    args = command.args
    at = 0
    while at < len(args):
        word = args[at]
        if word in ("-c", "-Command", "-command") or (
            word[0:1] == "-" and word[1:2] != "-" and "c" in word and word.islower()
        ):
            code = args[at + 1] if at + 1 < len(args) else ""
            inner = below(scope, command.program)
            inner.params = tuple(args[at + 2 :]) or ("sh",)
            # `xargs -I% sh -c %` with unknown names: the input is the code.
            fed_by = flow.sources if code == "{}" else ()
            reader.add(msgspec.structs.replace(command, code=code, stdin=None, fed_by=fed_by))
            return reader.nested(code, inner, flow)
        if word in ("-o", "+o", "-O", "--rcfile", "--init-file"):
            at += 2
        elif word[0:1] in ("-", "+") and word not in ("-", "-s"):
            at += 1
        else:
            break
    name = args[at] if at < len(args) else "-"
    if name in STDIN:
        reader.add(command)
        if flow.text is None:
            return PipeContent(None, (*flow.sources, command.program)[-4:])
        return script(reader, command, scope, flow, flow.text)
    fetcher = is_fetched(name, scope)
    reader.add(msgspec.structs.replace(command, stdin=None, fed_by=(fetcher,) if fetcher else ()))
    text = scope.recall(name)
    if text is None:
        return NOTHING
    with reader.quoting(scope.evidence(name)):
        return script(reader, command, with_params(scope, args[at:]), NOTHING, text)


def run_written(reader: ScriptReader, command: Command, words: list[str], scope: ShellScope, text: str) -> PipeContent:
    """`./a.sh`, where the script itself has written that file: its first line names the interpreter."""
    first, _, _ = text.partition("\n")
    reads = first[2:].split() if first.startswith("#!") else ["sh"]
    if reads and reads[0].endswith("/env"):
        reads = [word for word in reads[1:] if word[:1] != "-"]
    reader.add(command)
    language = program_name(reads[0]) if reads else "sh"
    if not first.startswith("#!") and "/" not in words[0]:
        # Named without a folder, it is run by a tool that goes by the extension (`uv run a.py`).
        language = ENDINGS.get(words[0].rpartition(".")[2], language)
    if language in INTERPRETERS:
        run_code(reader, text, language, below(scope, command.program))
        return NOTHING
    return script(reader, command, with_params(scope, tuple(words)), NOTHING, text)


def with_params(scope: ShellScope, params: tuple[str, ...]) -> ShellScope:
    """The scope of a script called with these words, its own name first."""
    inner = scope.copy()
    inner.params = params
    return inner


def run_eval(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`eval`: its arguments are a script in the same scope."""
    if not command.args:
        return None
    reader.add(msgspec.structs.replace(command, code=" ".join(command.args)))
    note_printed(command.args, reader.commands, scope)
    return reader.nested(" ".join(command.args), scope, flow)


def run_source(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    name = command.args[0] if command.args else ""
    fetcher = is_fetched(name, scope)
    reader.add(command if fetcher is None else msgspec.structs.replace(command, fed_by=(fetcher,)))
    text = flow.text if name in STDIN else scope.recall(name)
    if text is None:
        note_sourced(name, scope)
        return NOTHING
    with reader.quoting("" if name in STDIN else scope.evidence(name)):
        return reader.nested(text, scope, flow)


def run_remote(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`ssh HOST words...`: the words are joined and read by a shell on that host."""
    words = SSH.inner(command.args)
    reader.add(command)
    if not words:
        return NOTHING if flow.text is None else script(reader, command, elsewhere(scope, command), flow, flow.text)
    return reader.nested(" ".join(words), elsewhere(scope, command), flow)


def elsewhere(scope: ShellScope, command: Command) -> ShellScope:
    """The scope on another machine, where nothing of ours is known."""
    other = ShellScope("~")
    other.via = (*scope.via, command.program)
    return other


def run_watch(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    words = Wrapper(frozenset(("-n", "--interval"))).inner(command.args)
    return script(reader, command, scope, flow, " ".join(words)) if words else None


def run_trap(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`trap CODE SIGNAL` runs later; `at` and `batch` run their input."""
    if command.program != "trap":
        reader.add(command)
        return NOTHING if flow.text is None else script(reader, command, scope, NOTHING, flow.text)
    words = [arg for arg in command.args if arg != "--"]
    return script(reader, command, scope, NOTHING, words[0]) if len(words) > 1 and words[0] not in ("-", "") else None


def script(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent, text: str) -> PipeContent:
    """Read a script that a command contains."""
    return reader.nested(text, below(scope, command.program), NOTHING if flow.text == text else flow)
