"""Unwrap: remove a command's wrappers, and read the scripts that it contains; also commands that unpacking runs."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from ...core import late_pattern
from ..wordlist import name_set
from .awk import run_awk
from .build_files import TOOLS, run_build_file
from .carriers import run_editor, run_evaluated, run_fd, run_git, run_make, run_sed
from .chosen_servers import is_other_engine, note_engine, note_printed
from .interpreters import database, inline_code, run_interpreter
from .model import NOTHING, Command, PipeContent
from .names import AWKS, CODE_OPTIONS, INTERPRETERS, SHELLS, program_name
from .packages import MANAGERS, run_concurrently, run_manager, run_package, run_removal
from .projects import run_crontab, run_images, run_tests
from .scope import ShellScope, below
from .scripts import run_eval, run_remote, run_shell, run_source, run_trap, run_watch, script
from .searches import run_find, run_xargs
from .settings import is_setting
from .sinks import follow_image
from .terminals import run_device, run_screen, run_terminal, run_tmux
from .transfers import follow_links, run_emptying, run_link, run_mount, run_request
from .wrappers import COMPOSE_EXEC, PREFIXES, SUBCOMMAND_PREFIXES, Wrapper, is_assignment, split_string

if TYPE_CHECKING:
    from .reader import ScriptReader


TAR_RUNS = ("--checkpoint-action", "--to-command", "--use-compress-program", "--rsh-command", "--rmt-command",
            "--info-script", "--new-volume-script", "-I", "-F")  # fmt: skip


def run_tar(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """Run commands given in options; record files that are removed after packing."""
    args = command.args
    inner = below(scope, command.program)
    for at, arg in enumerate(args):
        name, equals, value = arg.partition("=")
        if name in TAR_RUNS:
            text = value if equals else args[at + 1] if at + 1 < len(args) else ""
            text = text.removeprefix("exec=")
            if text and text not in ("dot", "echo", "bell"):
                reader.nested(text, inner, NOTHING)
    if "--remove-files" in args:
        _remove(reader, _packed(args), inner)
    return None


def _packed(args: tuple[str, ...]) -> list[str]:
    """The files that go into an archive: every operand except the archive and the option letters."""
    found: list[str] = []
    skip = bool(args) and args[0][:1] != "-" and args[0].isalpha()
    archive = skip and "f" in args[0]
    for arg in args[1:] if skip else args:
        if arg[:1] == "-":
            archive = archive or (arg[1:2] != "-" and arg.endswith("f")) or arg == "--file"
        elif archive:
            archive = False
        else:
            found.append(arg)
    return found


def run_zip(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`zip -m` and `7z -sdel` delete the files that they have packed."""
    args = command.args
    moves = any(arg == "--move" or (arg[:1] == "-" and arg[1:2] != "-" and "m" in arg) for arg in args)
    if (command.program == "zip" and moves) or "-sdel" in args:
        operands = [arg for arg in args if arg[:1] != "-"]
        _remove(reader, operands[1 if command.program == "zip" else 2 :], below(scope, command.program))
    return None


def _remove(reader: ScriptReader, paths: list[str], scope: ShellScope) -> None:
    if paths:
        reader.execute(["rm", "-r", *paths], scope, NOTHING)


def unwrap(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """Run what a wrapper wraps; None if the command is not a wrapper."""
    if command.program in TOOLS:
        run_build_file(reader, command, scope)
    handler = HANDLERS.get(command.program)
    if handler is None:
        prefix = PREFIXES.get(command.program)
        return None if prefix is None else run_prefix(reader, command, scope, flow, prefix)
    return handler(reader, command, scope, flow)


def run_prefix(
    reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent, wrapper: Wrapper
) -> PipeContent | None:
    """`sudo rm x`: the command follows the wrapper's own words."""
    words = wrapper.inner(command.args)
    if command.program == "command" and command.args[:1] in (("-v",), ("-V",)):
        return None
    if command.program == "env" and (parts := split_string(command.args)) is not None:
        return script(reader, command, scope, flow, " ".join((parts[0], *map(shlex.quote, parts[1]))))
    while command.program == "env" and len(words) > 1 and (words[0][:2] == "$(" or is_assignment(words[0])):
        words = words[1:]
    if not words:
        return None
    if wrapper.record:
        reader.add(command)
    inner = below(scope, command.program)
    own, assignments = command.args[: -len(words)], command.assignments
    if command.program == "env":
        note_printed(own, reader.commands, inner)
        if dropped := unset_by(own):
            inner.variables = {name: value for name, value in inner.variables.items() if not dropped(name)}
            assignments = tuple(each for each in assignments if not dropped(each[0]))
    given = [arg.partition("=")[::2] for arg in own if is_assignment(arg)]
    inner.variables.update((name, value) for name, value in given if is_setting(name))
    return reader.execute(
        words, inner, flow, redirects=command.redirects, assignments=assignments,
        filtered=command.filtered, span=command.span,
    )  # fmt: skip


def unset_by(args: tuple[str, ...]) -> Callable[[str], bool] | None:
    """Which variables `env` drops: all with `-i`, some with `-u NAME`; None if it drops none."""
    if any(arg in ("-", "--ignore-environment") or IGNORING.match(arg) for arg in args):
        return lambda name: True
    names = {args[at + 1] for at, arg in enumerate(args[:-1]) if arg in ("-u", "--unset")}
    names |= {arg[2:] if arg[1] == "u" else arg[8:] for arg in args if arg[:8] == "--unset=" or arg[:2] == "-u"}
    return names.__contains__ if names else None


IGNORING = late_pattern(r"-[0v]*i")


def run_subcommand(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`docker exec`, `poetry run`, `kubectl exec ... --`."""
    program = "docker" if command.program in ("podman", "nerdctl") else command.program
    args = command.args
    if "build" in args[:3]:
        run_images(reader, command, scope)
    if program in ("docker", "buildah"):
        follow_image(reader, command, scope)
        note_engine(command, scope)
    at = next((i for i, arg in enumerate(args[:8]) if (program, arg) in SUBCOMMAND_PREFIXES), None)
    if at is not None:
        wrapper = SUBCOMMAND_PREFIXES[program, args[at]]
    elif program in ("docker", "docker-compose") and "exec" in args[:6]:
        at, wrapper = args.index("exec"), COMPOSE_EXEC
    else:
        return database(reader, command, scope, flow) if program in CODE_OPTIONS else None
    rest = msgspec.structs.replace(command, args=args[at + 1 :])
    if program in ENGINES:
        words = wrapper.inner(rest.args) if args[at] == "exec" else list(args[at:])
        other = not ENGINE_ELSEWHERE.isdisjoint(arg.partition("=")[0] for arg in args[:at])
        if other or is_other_engine(command, args[: len(args) - len(words)]):
            scope = below(scope, "other-engine")
        # A container has its own variables.
        scope = scope.copy()
        scope.variables = {name: value for name, value in scope.variables.items() if not is_setting(name)}
    contained, begin = program == "docker" and args[at] == "run", len(reader.commands)
    if contained:
        scope = inside(scope, args[at + 1 :])
    out = run_prefix(reader, rest, scope, flow, msgspec.structs.replace(wrapper, record=False))
    mounts = sum(arg.startswith(("-v", "--volume")) for arg in args)
    if contained and OPENED.isdisjoint(arg.partition("=")[0] for arg in args) and len(scope.links) == mounts:
        # A new container has its own files; its mounts are this machine's.
        mounted = (*scope.links, *scope.links.values())
        reader.commands[begin:] = [each for each in reader.commands[begin:] if not is_its_own(each, mounted)]
    if out is not None and wrapper.record:
        reader.add(command)
    return out


def inside(scope: ShellScope, args: tuple[str, ...]) -> ShellScope:
    """The scope of a container: mounted paths map to those on this machine."""
    inner = scope.copy()
    inner.links = dict(scope.links)
    for at, arg in enumerate(args[:-1]):
        outside, _, there = args[at + 1].partition(":")
        there = there.partition(":")[0].rstrip("/")
        if arg in ("-v", "--volume") and there and outside[:1] in ("/", "~", "."):
            inner.links[there] = scope.place(outside)
    where = next((args[at + 1] for at, arg in enumerate(args[:-1]) if arg in ("-w", "--workdir")), "")
    if where:
        inner.cwd = follow_links([f"{where.rstrip('/')}/"], inner)[0].rstrip("/") or "/"
    return inner


ENGINES = frozenset(("docker", "docker-compose"))
ENGINE_ELSEWHERE = name_set("-H --host --context -c")
"""Options that select containers on another machine."""
OPENED = name_set("--privileged --pid --mount --volumes-from --device --ipc --cap-add --userns --security-opt")
"""Options that give a container access to more of this machine than `-v` names."""
ITS_OWN = name_set("rm rmdir unlink")


def is_its_own(command: Command, mounted: tuple[str, ...]) -> bool:
    """Whether a command in a container deletes only the container's own files."""
    if command.program not in ITS_OWN:
        return False
    names = [arg for arg in command.args if arg[:1] != "-"]
    shared = tuple(f"{place.rstrip('/')}/" for place in mounted)
    return all(name[:1] == "/" and name.strip("/*") and not f"{name}/".startswith(shared) for name in names)


def run_su(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`su -c CODE`, `script -c CODE`, `watch CODE`, `flock FILE -c CODE`."""
    code = inline_code(command, ("-c", "--command", "--session-command"))
    reader.add(command)
    if code is None and command.program == "runuser":
        return run_prefix(reader, command, scope, flow, Wrapper(frozenset(("-u", "-g", "-G"))))
    if code is None and command.program == "flock":
        return run_prefix(reader, command, scope, flow, PREFIXES["flock"])
    return NOTHING if code is None else script(reader, command, scope, flow, code)


def run_java(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`java -jar tool.jar words...` is the tool."""
    args = command.args
    if "-jar" not in args[:-1]:
        return None
    at = args.index("-jar") + 1
    name = program_name(args[at].rpartition("/")[2].removesuffix(".jar"))
    return reader.execute([name, *args[at + 1 :]], scope, flow, redirects=command.redirects, span=command.span)


Handler = Callable[["ScriptReader", Command, ShellScope, PipeContent], PipeContent | None]

HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(SHELLS, run_shell),
    **dict.fromkeys(CODE_OPTIONS, database),
    **dict.fromkeys(INTERPRETERS, run_interpreter),
    **{program: run_subcommand for program, _ in SUBCOMMAND_PREFIXES},
    **dict.fromkeys(("podman", "nerdctl", "docker-compose"), run_subcommand),
    **dict.fromkeys(("xargs", "parallel"), run_xargs),
    **dict.fromkeys(("su", "runuser", "script", "flock"), run_su),
    **dict.fromkeys(("trap", "at", "batch"), run_trap),
    **dict.fromkeys(("vagrant", "gcloud", "cmd", "wsl"), run_terminal),
    **dict.fromkeys(("source", "."), run_source),
    **dict.fromkeys(("ssh", "autossh", "mosh"), run_remote),
    **dict.fromkeys(("vim", "vi", "nvim", "view", "ex", "ed", "red"), run_editor),
    **dict.fromkeys(("make", "gmake"), run_make),
    **dict.fromkeys(("curl", "wget", "aria2c", "axel", "fetch"), run_request),
    **dict.fromkeys(("zip", "7z", "7za"), run_zip),
    **dict.fromkeys(("tar", "gtar", "bsdtar"), run_tar),
    **dict.fromkeys(("sed", "gsed"), run_sed),
    **dict.fromkeys(("fd", "fdfind"), run_fd),
    **dict.fromkeys(("let", "printf", "test", "[", "unset", "read"), run_evaluated),
    **dict.fromkeys(MANAGERS, run_manager),
    **dict.fromkeys(("npx", "pnpx", "bunx"), run_package),
    **dict.fromkeys(("rimraf", "del-cli"), run_removal),
    **dict.fromkeys(("concurrently", "nodemon"), run_concurrently),
    **dict.fromkeys(AWKS, run_awk),
    **dict.fromkeys(("pytest", "py.test"), run_tests),
    "cp": run_emptying, "dd": run_emptying, "crontab": run_crontab,
    "git": run_git, "ln": run_link, "mount": run_mount, "tmux": run_tmux, "screen": run_screen,
    "adb": run_device, "eval": run_eval, "watch": run_watch, "find": run_find, "java": run_java,
}  # fmt: skip
