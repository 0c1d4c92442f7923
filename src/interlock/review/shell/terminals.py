"""Terminals: commands that are typed into another terminal, or started in one."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..wordlist import name_set
from .interpreters import inline_code
from .model import NOTHING, Command, PipeContent
from .scope import ShellScope, below
from .scripts import elsewhere
from .wrappers import Wrapper

if TYPE_CHECKING:
    from .reader import ScriptReader

TMUX = Wrapper(name_set("-L -S -f -c -T"))
TMUX_RUNS: dict[str, Wrapper] = {
    **dict.fromkeys(("new-session", "new"), Wrapper(name_set("-c -e -F -f -n -s -t -x -y"))),
    **dict.fromkeys(("new-window", "neww"), Wrapper(name_set("-c -e -F -n -t"))),
    **dict.fromkeys(("split-window", "splitw"), Wrapper(name_set("-c -e -F -l -p -t"))),
    **dict.fromkeys(("respawn-pane", "respawnp", "respawn-window", "respawnw"), Wrapper(name_set("-c -e -t"))),
    **dict.fromkeys(("display-popup", "popup"), Wrapper(name_set("-b -c -d -e -h -s -S -t -T -w -x -y"))),
    **dict.fromkeys(("run-shell", "run"), Wrapper(name_set("-c -d -t"))),
    **dict.fromkeys(("pipe-pane", "pipep"), Wrapper(name_set("-t"))),
}
"""Tmux subcommands that run a command, and their options that take the next word."""

SEND_KEYS = Wrapper(name_set("-c -N -t"))
KEYS = {"Space": " ", "Enter": "\n", "C-m": "\n", "KPEnter": "\n", "C-j": "\n", "Tab": " "}
"""Names of keys that end or separate words."""

SCREEN = Wrapper(name_set("-c -e -h -p -s -S -t -T"))
ATTACHING = name_set("-r -R -RR -x -ls -list -wipe -dr -dR -d -D")
"""Options of screen with which the operand is a session, unless a new one is created."""

MAX_PARTS = 16
"""Commands in one call of tmux."""


def run_tmux(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`tmux new-session -d CODE`, `tmux send-keys CODE Enter`, several with `;` between them."""
    reader.add(command)
    inner = below(scope, "tmux")
    typed = ""
    for part in _parts(TMUX.inner(command.args))[:MAX_PARTS]:
        name, args = part[0], tuple(part[1:])
        if name in TMUX_RUNS:
            reader.nested(" ".join(TMUX_RUNS[name].inner(args)), inner, NOTHING)
        elif name in ("send-keys", "send"):
            typed += "".join(KEYS.get(key, key) for key in SEND_KEYS.inner(args))
        elif name in ("if-shell", "if"):
            words = SEND_KEYS.inner(args)
            reader.nested(words[0] if words and "-F" not in args else "", inner, NOTHING)
            for text in words[1:3]:
                reader.execute(["tmux", *_split(text)], inner, NOTHING)
    reader.nested(typed, inner, NOTHING)
    return NOTHING


def _parts(words: list[str]) -> list[list[str]]:
    """The commands in one call."""
    found: list[list[str]] = [[]]
    for word in words:
        if word == ";":
            found.append([])
        elif word[:1] or found[-1]:
            found[-1].append(word)
    return [part for part in found if part]


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def run_screen(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`screen -dm words...`, `screen -X stuff CODE`."""
    args = command.args
    reader.add(command)
    inner = below(scope, "screen")
    if "-X" in args:
        name, *words = [*args[args.index("-X") + 1 :], ""]
        if name == "stuff":
            reader.nested("".join(words).replace("\\n", "\n").replace("^M", "\n"), inner, NOTHING)
            return NOTHING
        words = [word for word in words if word] if name in ("exec", "screen") else []
    elif ATTACHING.isdisjoint(args) or "-m" in args:
        words = SCREEN.inner(tuple(part for arg in args for part in _apart(arg)))
    else:
        words = []
    return reader.execute(words, inner, NOTHING) if words else NOTHING


def _apart(arg: str) -> tuple[str, ...]:
    """Split `-dmS` into `-dm -S`, which takes the next word."""
    return (arg[:-1], "-S") if len(arg) > 2 and arg[0] == "-" and arg[1:].isalpha() and arg[-1] == "S" else (arg,)


def run_terminal(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`vagrant ssh -c code`, `gcloud ... ssh --command code`, `cmd /c words`."""
    code = inline_code(command, ("-c", "--command", "/c", "/C"))
    if command.program == "cmd" and command.args[:1] and command.args[0].lower() == "/c":
        code = " ".join(command.args[1:])
    if code is None or (command.program in ("gcloud", "vagrant") and "ssh" not in command.args):
        return None
    reader.add(command)
    return reader.nested(code, elsewhere(scope, command), flow)


def run_device(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`adb shell CODE`: runs on a device, which has its own temporary folder; an emulator is disposable."""
    args = ADB.inner(command.args)
    if args[:1] not in (["shell"], ["exec-out"]):
        return None
    device = command.args[: -len(args)]
    reader.add(replace(command, args=(*device, args[0])))
    if "-e" in device or any(arg.startswith("emulator-") for arg in device):
        return NOTHING
    text = " ".join(args[1:]).replace("/data/local/tmp/", "/tmp/")
    return reader.nested(text, below(scope, command.program), flow)


ADB = Wrapper(name_set("-s -t -H -P -L"))
