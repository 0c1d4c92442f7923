"""Carriers: programs that run a command given in an option, a variable or their input."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...core import late_pattern
from ..wordlist import name_set
from .flows import join_folder
from .interpreters import run_payloads
from .model import NOTHING, Command, PipeContent
from .projects import HOOKS as HOOKS_RUN
from .projects import run_hooks, run_recipes, run_shared
from .scope import ShellScope, below
from .searches import is_rebuilt, until_end
from .transfers import run_fetched
from .words import SUBSCRIPT

if TYPE_CHECKING:
    from .reader import ScriptReader

MAX_LINES = 64
"""Lines of an editor's or make's input that are checked."""

SED_RUN = late_pattern(r"(?:^|[;\n{])\s*(?:\d+|\$|/[^/\n]{0,200}/)?(?:,(?:\d+|\$|/[^/\n]{0,200}/))?\s*e\s+([^\n]+)")
SED_REPLACE = late_pattern(r"s([/|#,@!])((?:[^\\\n]|\\.){0,400}?)\1((?:[^\\\n]|\\.){0,400}?)\1[gip0-9]*e")
EDITOR_RUN = late_pattern(r"^[\s:]*(?:%|\d+(?:,(?:\d+|\$))?)?(?:silent!?\s+)?!\s*(.+)$")
EDITOR_CALL = late_pattern(r"system\(\s*['\"](.+?)['\"]\s*\)")
GIT_KEYS = late_pattern(
    r"(?i)(?:core\.(?:pager|editor|sshcommand|fsmonitor|askpass|hookspath|gitproxy)|diff\.external|sequence\.editor"
    r"|pager\.\w+|(?:diff|filter|merge)\.[^=]+\.(?:textconv|command|clean|smudge|process|driver)"
    r"|(?:mergetool|difftool)\.[^=]+\.cmd|gpg\.program|credential\.helper|uploadpack\.packobjectshook)\Z"
)
"""Git settings whose value is a command."""


def run_sed(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`sed '1e COMMAND'` and `sed 's/x/COMMAND/e'`."""
    args = list(command.args)
    args += [scope.recall(args[at + 1]) or "" for at, arg in enumerate(args[:-1]) if arg in ("-f", "--file")]
    for arg in args:
        if "e" in arg and arg[:1] != "-":
            for found in SED_RUN.finditer(arg):
                reader.nested(found[1], below(scope, "sed"), NOTHING)
            for found in SED_REPLACE.finditer(arg):
                reader.nested(found[3].replace("\\/", "/"), below(scope, "sed"), NOTHING)
    return None


def run_git(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """Aliases and settings that are commands, and subcommands that run one."""
    args = command.args
    inner = below(scope, "git")
    if args[:1] == ("clean",) and (places := cleaned(args)):
        # Named, they are deleted as `rm` deletes them.
        return reader.execute(["rm", "-r", *places], inner, NOTHING, redirects=command.redirects, span=command.span)
    for at, arg in enumerate(args):
        after = args[at + 1] if at + 1 < len(args) else ""
        if arg == "-c" or arg == "--config-env":
            name, _, value = after.partition("=")
            _run_setting(reader, name, value, inner)
        elif arg == "config":
            words = [word for word in args[at + 1 :] if word[:1] != "-"]
            if len(words) > 1:
                _run_setting(reader, words[0], " ".join(words[1:]), inner)
        elif arg in ("-x", "--exec", "--extcmd") and ("rebase" in args[:at] or "difftool" in args[:at]):
            reader.nested(after, inner, NOTHING)
        elif arg.startswith("--exec="):
            reader.nested(arg[7:], inner, NOTHING)
        elif arg.startswith("ext::"):
            reader.nested(arg[5:], inner, NOTHING)
        elif (arg == "foreach" and "submodule" in args[:at]) or (arg == "run" and "bisect" in args[:at]):
            words = [word for word in args[at + 1 :] if word not in ("--recursive", "--quiet")]
            if words:
                reader.nested(" ".join(words), inner, NOTHING)
            break
        elif arg in HOOKS_RUN and at < MAX_BEFORE:
            run_hooks(reader, arg, scope)
            if arg == "push" and "--dry-run" not in args:
                run_shared(reader, inner)
    return None


def cleaned(args: tuple[str, ...]) -> list[str]:
    """The paths that `git clean -f` deletes, if it names them plainly; empty also if it only shows what it would do."""
    options = [arg for arg in args if arg[:1] == "-"]
    if "--dry-run" in options or any(arg[1:2] != "-" and "n" in arg for arg in options):
        return []
    places = [arg for at, arg in enumerate(args[1:]) if arg[:1] != "-" and args[at] not in ("-e", "--exclude")]
    return [] if any(place[:1] == ":" for place in places) else places


MAX_BEFORE = 8
"""Git's own words before its subcommand."""


def _run_setting(reader: ScriptReader, name: str, value: str, inner: ShellScope) -> None:
    if name.lower().startswith("alias."):
        reader.nested(value[1:] if value.startswith("!") else f"git {value}", inner, NOTHING)
    elif GIT_KEYS.match(name) and value:
        reader.nested(value.removeprefix("!"), inner, NOTHING)


def run_fd(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`fd PATTERN ROOT -x COMMAND`: like `find -exec`."""
    args = command.args
    at = next((i for i, arg in enumerate(args) if arg in ("-x", "--exec", "-X", "--exec-batch")), None)
    if at is None:
        return None
    words = until_end(args[at + 1 :])
    before = [arg for n, arg in enumerate(args[:at]) if arg[:1] != "-" and (not n or args[n - 1] not in FD_VALUED)]
    narrow = any(arg in ("-e", "--extension", "-g", "--glob", "-S", "--size", "-t", "--type") for arg in args[:at])
    everything = not before or before[0] in (".", ".*", "*")
    roots = before[1:2] or ["."]
    pick = f"{roots[0].rstrip('/')}/{'{}' if narrow or not everything else '*'}"
    if not everything and not FOLDERS.isdisjoint(args[:at]) and not is_rebuilt(before[0].strip("^$")):
        pick = f"{roots[0].rstrip('/')}/**/{before[0]}"
    if words:
        filled = [word.replace("{}", pick) for word in words]
        if filled == words:
            filled.append(pick)
        reader.add(command)
        reader.execute(filled, below(scope, "fd"), PipeContent(), filtered=pick.endswith("{}"))
        return NOTHING
    return None


FD_VALUED = name_set("-t --type -e --extension -S --size -d --max-depth --min-depth -E --exclude -o --owner -j")
FOLDERS = frozenset(("d", "directory", "-td", "--type=d", "--type=directory"))
"""Words with which `fd` finds only folders."""


def run_editor(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`vim -c ':!COMMAND'`, `echo '!COMMAND' | ed`."""
    args = command.args
    texts = [args[at + 1] for at, arg in enumerate(args[:-1]) if arg in EDITOR_GIVEN[:6]]
    texts += [arg[1:] for arg in args if arg.startswith("+")]
    if flow.text is not None:
        texts += flow.text.split("\n")[:MAX_LINES]
    sourced = [args[at + 1] for at, arg in enumerate(args[:-1]) if arg in ("-S", "-u")]
    sourced += [found[1] for text in texts for found in EDITOR_SOURCE.finditer(text)]
    for name in sourced[:MAX_LINES]:
        run_fetched(reader, name, scope)
        texts += (scope.recall(name) or "").split("\n")[:MAX_LINES]
    for text in texts:
        for found in (EDITOR_RUN.search(text), EDITOR_CALL.search(text)):
            if found is not None:
                reader.nested(found[1], below(scope, command.program), NOTHING)
        for found in EDITOR_DELETE.finditer(text):
            reader.execute(["rm", "-rf", found[1]], below(scope, command.program), NOTHING)
    if any(EDITOR_WRITE.search(text) for text in texts):
        given = {args[at + 1] for at, arg in enumerate(args[:-1]) if arg in EDITOR_GIVEN}
        empties = any(EDITOR_EMPTY.search(text) for text in texts)
        for name in [arg for arg in args if arg[:1] not in ("-", "+") and arg not in given][:MAX_LINES]:
            if empties:
                reader.add(Command(program=">", args=(name,), via=scope.via, cwd=scope.cwd, fed_by=("emptied",)))
            else:
                reader.add(Command(program="sed", args=("-i", "", name), via=scope.via, cwd=scope.cwd))
    return None


EDITOR_SOURCE = late_pattern(
    r"(?:^|[|\n:])\s{0,4}(?:silent!?\s{1,4})?(?:so|sou|sour|sourc|source|luaf|luafile|py[3x]?f|py[3x]?file|rubyf|rubyfile)!?"
    r"\s{1,4}([^\s|]{1,300})"
)
"""A file that an editor runs."""
EDITOR_GIVEN = ("-c", "--cmd", "-S", "-sc", "-esc", "-Esc", "-u", "-i", "-W", "-w", "-p")
EDITOR_WRITE = late_pattern(r"(?:^|[|\n:])\s{0,4}(?:w|wq|wqa|wa|x|xa|xit|up|update|write)!?\s{0,4}(?:$|[|\n])")
EDITOR_EMPTY = late_pattern(
    r"(?:^|[|\n:])\s{0,4}(?:%|1,\$|,|0,\$|g/[.^]?\*?/)\s{0,4}d(?:e|el|elete)?!?\s{0,4}(?:$|[|\n\s])"
)
EDITOR_DELETE = late_pattern(r"\b(?:delete|delete-file|delete-directory)\(?\s{0,4}['\"]([^'\"\n]{1,300})['\"]")
"""What the lines of an editor script do to the file, and to others."""


def run_make(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """Run the recipes of a makefile that is on standard input, or that this script or an earlier step has written."""
    texts: list[str] = []
    names: list[str] = []
    wanted: list[str] = []
    args, at = command.args, 0
    while at < len(args):
        arg = args[at]
        at += 1
        if (found := MAKE_OPTION.match(arg)) is None:
            if arg == "-C" or arg == "--directory":
                scope = scope.copy()
                scope.cwd = join_folder(scope.cwd, "".join(args[at : at + 1]))
                at += 1
            elif arg[:1] != "-" and "=" not in arg:
                wanted.append(arg)
            continue
        # The parser drops a `-` before a heredoc.
        value = found[2] or (args[at] if at < len(args) else "-")
        at += not found[2]
        if found[1].endswith(("eval", "E")):
            texts.append(value)
        elif value in ("-", "/dev/stdin"):
            texts.append(flow.text or "")
        else:
            names.append(value)
    if not texts and not names:
        names = [name for name in ("GNUmakefile", "makefile", "Makefile") if scope.recall(name) is not None][:1]
    for text in texts:
        _run_makefile(reader, text, wanted, scope)
    for name in names:
        with reader.quoting(scope.evidence(name)):
            _run_makefile(reader, scope.recall(name) or "", wanted, scope)
    return None


def _run_makefile(reader: ScriptReader, text: str, wanted: list[str], scope: ShellScope) -> None:
    for code in MAKE_SHELL.findall(text)[:MAX_LINES]:
        reader.nested(code, below(scope, "make"), NOTHING)
    run_recipes(reader, text, wanted, scope)


MAKE_OPTION = late_pattern(r"(--(?:file|makefile|eval)(?==|\Z)|-[A-Za-z]*?[fE])=?(.*)\Z", re.DOTALL)
MAKE_SHELL = late_pattern(r"\$[({]shell ([^)}]*)[)}]")


def run_evaluated(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`let`, `printf -v`, `test -v`: a subscript in their arguments is evaluated again."""
    for arg in command.args:
        if command.program == "unset":
            scope.variables.pop(arg, None)
        if "[" in arg and ("$(" in arg or "`" in arg):
            reader.nested(f': "{arg}"', below(scope, command.program), NOTHING)
    return None


HOOKS = name_set(
    """PROMPT_COMMAND GIT_SSH_COMMAND GIT_SSH GIT_PAGER PAGER MANPAGER GIT_EDITOR EDITOR VISUAL GIT_EXTERNAL_DIFF
    GIT_SEQUENCE_EDITOR GIT_ASKPASS SSH_ASKPASS LESSOPEN RSYNC_RSH BROWSER GIT_PROXY_COMMAND FZF_DEFAULT_COMMAND"""
)
"""Variables whose value some program runs as a command."""

LOADED = frozenset(("BASH_ENV",))
"""Variables that make a shell run a file; rules judge them."""

DECLARING = frozenset(("export", "declare", "typeset", "readonly", "local"))


def run_carried(reader: ScriptReader, command: Command, scope: ShellScope) -> None:
    """A command in an argument of another: `rsync -e 'sh -c ...'`, `-o ProxyCommand=...`, `gdb -ex 'shell ...'`."""
    if command.program in LOADERS:
        _run_loaders(reader, command, scope)
    before = ""
    for arg in command.args:
        option, before = before, arg
        if option == "-c" and command.program in CONTAINERS:
            continue
        if " " in arg and (found := CARRIED.match(arg)) is not None:
            if option not in SAYING:
                reader.nested(arg[found.end() :], below(scope, command.program), NOTHING)
        elif " " in arg and option not in SAYING and CHAINED.search(arg) is not None:
            reader.nested(arg, below(scope, command.program), NOTHING)
        elif option in EVALUATING:
            run_payloads(reader, arg, below(scope, command.program))


CONTAINERS = frozenset(("docker", "podman", "nerdctl"))
"""A shell in a container is read together with the container's mounts."""


def _run_loaders(reader: ScriptReader, command: Command, scope: ShellScope) -> None:
    """Files with commands or code that a program is told to run: `gdb -x FILE`, `nmap --script FILE`."""
    options, args = LOADERS[command.program], command.args
    for at, arg in enumerate(args):
        name, _, value = arg.partition("=")
        if name in options:
            for word in (value or "".join(args[at + 1 : at + 2])).split(",")[:MAX_LINES]:
                run_fetched(reader, word, scope)
        elif (found := LOADER_SOURCE.match(arg)) is not None:
            run_fetched(reader, found[1], scope)


LOADERS = {
    "gdb": name_set("-x -ix -command --command -init-command --init-command"),
    "lldb": name_set("-s -S --source --source-before-file"),
    "nmap": name_set("--script"),
    "emacs": name_set("-l -x -load --load -script --script"),
}
LOADER_SOURCE = late_pattern(
    r"\s{0,4}(?:source|command\s{1,4}source|command\s{1,4}script\s{1,4}import)\s{1,4}(?:-\w{1,4}\s{1,4})?(\S{1,300})"
)
"""Options whose value is such a file, and the debugger command that runs one."""


def run_unknown(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> None:
    """An unknown program may run its arguments: `chronic rm -rf x`, `torsocks curl -d @f URL`."""
    args = command.args
    for at, arg in enumerate(args[:MAX_BEFORE]):
        if at and args[at - 1] in SAYING:
            continue
        if at + 1 < len(args) and arg.rpartition("/")[2] in ACTING:
            reader.execute(list(args[at:]), below(scope, command.program), flow)
            return
        first, blank, _ = arg.partition(" ")
        if blank and first in ACTING and CARRIED.match(arg) is None:
            reader.nested(arg, below(scope, command.program), NOTHING)


ACTING = name_set(
    """rm dd shred mkfs wipefs find curl wget nc ncat bash sh zsh dash sudo chmod chown truncate mv cp scp rsync ssh tee
    python python3 perl ruby node php env xargs kill pkill killall git docker kubectl psql mysql unlink rmdir tar cat
    busybox crontab systemctl shutdown reboot poweroff halt userdel mkfs.ext4"""
)
"""Programs worth following after an unknown one."""

CHAINED = late_pattern(
    r"[;&|(`]\s{0,4}(?:sudo\s+)?(?:/[\w/.-]{1,80}/)?(?:rm|dd|shred|mkfs|wipefs|curl|wget|nc|ncat|bash|sh|chmod|chown|truncate|mv)\s"
)
"""A second command within a word."""

CARRIED = late_pattern(
    r"(?:[\w.-]{1,40}[=:]\s{0,4}|(?:!|(?:shell|system|exec|run|command|cmd|sh|bash|os|execute|do)(?:\s+|\())\s{0,4})?['\"]?"
    r"(?=(?:/[\w/.-]{1,80}/)?(?:rm|dd|shred|mkfs|wipefs|find|curl|wget|nc|ncat|bash|sh|sudo|chmod|chown|truncate|mv|cat|env)\s)"
)
"""What may precede a command within a word."""

EVALUATING = name_set("-e -E -c -o -x -ex -r --eval --exec --execute --command --cmd --expression -S -s")
"""Options whose value many programs evaluate."""

SAYING = frozenset(
    ("-m", "--message", "-d", "--data", "--body", "-b", "--title", "-t", "--description", "-F", "--note")
)
"""Options whose value is text for people or data for others."""

MENTIONING = name_set(
    """echo printf grep egrep fgrep rg ag ack git gh glab curl wget http xh jq yq cat tee sed awk gawk mawk find fd man
    logger notify-send say cowsay figlet test [ expr adb sql mongosh psql mysql sqlite3 tmux screen read export declare
    alias eval"""
)
"""Programs whose arguments are text, or are handled separately."""


def run_loaded(reader: ScriptReader, value: str, scope: ShellScope) -> None:
    """Run files of earlier steps that a variable makes a program load: `NODE_OPTIONS="--require ./x.js"`, `-MName`."""
    for word in value.split()[:MAX_LINES]:
        name = word.rpartition("=")[2]
        if LOADING.match(word) is not None:
            module = LOADING.sub("", word).replace("::", "/").split("=")[0]
            found = [place for place, _ in scope.below(".") if place.endswith((f"/{module}.pm", f"/{module}.rb"))]
            name = found[0] if found else module
        ending = name.rpartition(".")[2]
        if ending in LOADED_BY and scope.recall(name) is not None:
            reader.execute([LOADED_BY[ending], name], scope.copy(), NOTHING)


LOADING = late_pattern(r"-[Mmr](?=[\w.:/])")
LOADED_BY = {
    "js": "node",
    "cjs": "node",
    "mjs": "node",
    "py": "python",
    "pl": "perl",
    "pm": "perl",
    "rb": "ruby",
    "sh": "bash",
}
"""The interpreter of a file, by its extension."""


def run_assignments(reader: ScriptReader, assignments: Iterable[tuple[str, str]], scope: ShellScope) -> None:
    """Run variable values that are commands."""
    for name, value in assignments:
        if (scope.files.known or scope.files.made) and name not in HOOKS:
            run_loaded(reader, value, scope)
        if name == "PYTHONPATH":
            for folder in value.split(":")[:MAX_LINES]:
                for module in ("sitecustomize.py", "usercustomize.py"):
                    if scope.recall(path := f"{folder or '.'}/{module}") is not None:
                        reader.execute(["python", path], scope.copy(), NOTHING)
        if name in HOOKS and value and not value.startswith("$"):
            reader.nested(value.lstrip("|"), below(scope, name), NOTHING)
        elif "[" in value and SUBSCRIPT.match(value) is not None:
            # In an arithmetic expression, the value is evaluated again.
            reader.nested(f': "{value}"', below(scope, "="), NOTHING)
