"""Tools: what a tool call would do, in the same terms as a shell command."""

from __future__ import annotations

import re
import shlex
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from ..core import Tool, late_pattern
from .arguments import read_arguments, sent_secret, signs_of, verb_of
from .effects import is_own_name, runs_something
from .judgement import FAR, read_text
from .paths import zones
from .programs import Action
from .shell import Command, Script
from .shell.projects import MAX_LINES, SCHEDULE
from .shell.sinks import LOCAL
from .wordlist import as_text
from .writes import writes_of
from .written_files import Write, WrittenFiles

MAX_NAME = 200
MAX_TEXT = 1_048_576
"""Characters of an argument that are checked."""


class ToolCall(Struct, frozen=True):
    """A parsed tool call: its commands, its action if the tool defines it, and the argument that contains a command.

    `writes` are the texts that it writes to files.
    """

    script: Script
    action: Action | None = None
    key: str | None = None
    text: str | None = None
    writes: tuple[Write, ...] = ()


def read_tool(tool: Tool, cwd: str | None, memory: WrittenFiles) -> ToolCall:
    """Parse a tool call by the tool's name and arguments; `memory` has the files written by earlier steps."""
    name, kind = kind_of(tool.name[:MAX_NAME])
    arguments = in_one(tool.arguments, kind)
    if kind != "shell" and (verb := verb_of(arguments)):
        # A multi-purpose tool: an argument selects the action.
        name = f"{name}_{verb}"
        kind = "unknown" if kind == "harmless" else kind
    if kind == "shell":
        call = read_shell(arguments, cwd, memory)
        # A command that was given in parts cannot be rewritten.
        return call if arguments is tool.arguments else replace(call, key=None, text=None)
    if kind in ("editor", "files") and path_of(arguments) is None and not writes_of(None, arguments):
        custom = read_custom(name, kind, arguments, cwd, memory)
        if kind == "editor" or custom.script.commands:
            return custom
    if kind == "editor":
        return read_editor(name, arguments, cwd)
    if kind == "code":
        key, code = text_of(arguments, ("code", "script", "source", "command", "cell", "content", "input"))
        if not code:
            return ToolCall(NO_SCRIPT, "unknown")
        return ToolCall(memory.read_code(code, "python", cwd), None, key, None)
    if kind == "files" and "sends" not in signs_of(name):
        return read_files(name, arguments, cwd)
    if kind == "files" and "url" not in arguments:
        call = read_files(name, arguments, cwd)
        commands = (*call.script.commands, *sent_secret(name, arguments, cwd))
        return replace(call, script=replace(call.script, commands=commands))
    if kind == "network" and "url" not in arguments and "destroys" in signs_of(name):
        return read_custom(name, kind, arguments, cwd, memory)
    if kind in ("network", "files") or (kind != "harmless" and isinstance(arguments.get("url"), str)):
        return read_request(name, arguments, cwd)
    if kind != "harmless" and text_of(arguments, ("command", "cmd"))[1]:
        return read_shell(arguments, cwd, memory)
    return read_custom(name, kind, arguments, cwd, memory)


def in_one(arguments: dict[str, object], kind: str) -> dict[str, object]:
    """The arguments with a program and its words, given apart (`command: rm, args: [-rf, x]`), as one command."""
    if WORDS.isdisjoint(arguments):
        return arguments
    words = next((value for key, value in arguments.items() if key in WORDS and value), None)
    shell = kind == "shell"
    if not (isinstance(words, str) and shell) and not (isinstance(words, list) and all(map(is_text, words))):
        return arguments
    key = next((key for key in PROGRAM if is_text(arguments.get(key)) and (shell or key in NAMING_ONE)), None)
    if key is None:
        return arguments
    rest = words if isinstance(words, str) else shlex.join(words[:MAX_WORDS])
    others = {name: value for name, value in arguments.items() if name not in WORDS and name not in PROGRAM}
    return {**others, "command": f"{arguments[key]} {rest}"}


def is_text(value: object) -> bool:
    return isinstance(value, str)


WORDS = frozenset(("args", "arguments", "argv", "parameters"))
PROGRAM = ("command", "cmd", "program", "executable", "binary", "exe", "file")
NAMING_ONE = PROGRAM[:-1]
MAX_WORDS = 256
"""Arguments for a program's words and for the program itself; a file is one only for a tool that runs commands."""


def read_custom(name: str, kind: str, arguments: dict[str, object], cwd: str | None, memory: WrittenFiles) -> ToolCall:
    """Parse a call of an unknown tool by its arguments."""
    commands, scripts, code = read_arguments(name, arguments, cwd)
    if not commands and not scripts and not code:
        return CUSTOM.get(kind) or ToolCall(NO_SCRIPT, "unknown")
    parts = [memory.read_text(text, cwd) for text in scripts] + [memory.read_code(text, "python", cwd) for text in code]
    script = Script(
        (*commands, *(command for part in parts for command in part.commands)),
        all(part.complete for part in parts),
        (),
        tuple(made for part in parts for made in part.made),
    )
    if kind == "harmless":
        return ToolCall(script, None if script.commands else "read")
    if kind == "deletes":
        return ToolCall(script, "delete")
    return ToolCall(script, None if script.commands else "unknown")


NO_SCRIPT = Script(())
CUSTOM = {"harmless": ToolCall(NO_SCRIPT, "read"), "deletes": ToolCall(NO_SCRIPT, "delete")}
"""Calls whose arguments say nothing, by kind of tool."""


@lru_cache(512)
def kind_of(tool_name: str) -> tuple[str, str]:
    """The tool's plain name and the kind of tool that the name indicates."""
    name = plain_name(tool_name)
    if SHELL.match(name):
        return name, "shell"
    for kind, pattern in (("editor", EDITOR), ("code", PYTHON), ("files", FILES), ("network", NETWORK)):
        if pattern.search(name):
            return name, kind
    if HARMLESS.search(name):
        return name, "harmless"
    return name, "deletes" if DELETES.search(name) else "unknown"


SHELL = late_pattern(
    r"(?:bash|sh|shell|zsh|terminal|console|exec|execute|cmd|command|powershell|pwsh|subprocess|run|tmux)\Z"
    r"|(?:send|type|press)_?(?:keys|text|input|stdin)\Z|write_?stdin\Z"
    r"|(?:run|exec|execute|local|container|open|send|start|process)_?(?:in_?)?(?:a_?)?(?:bash|shell|terminal|command|commands|cmd|process|exec|console|shell_command|bash_command|terminal_cmd|terminal_command|script)\Z"
    r"|(?:bash|shell|terminal|container|unix|linux|system)_?(?:tool|exec|execute|command|commands|run|call|session|interactive|send|script|exec_command)\Z"
)
PYTHON = late_pattern(
    r"python|ipython|jupyter|code_?interpreter|run_?code|execute_?code|exec_?code|notebook_?run|run_?cell"
)
EDITOR = late_pattern(
    r"edit|str_?replace|apply_?patch|apply_?diff|patch|insert|replace_in|multi_?edit|write_to_file|notebook"
)
FILES = late_pattern(
    r"file|folder|director|(?:^|_)(?:read|write|glob|grep|ls|view|cat|mkdir|touch|open|tree)(?:_|\Z)|document"
)
NETWORK = late_pattern(
    r"web|http|fetch|browse|browser|navigat|url|download|upload|internet|curl|request|crawl|scrape|search_engine|google|wiki|arxiv|visit|goto|email|send_mail|slack|page_down|page_up"
)
HARMLESS = late_pattern(
    r"(?:^|_)(?:think|thought|finish|submit|done|complete|todo|plan|message|ask|answer|respond|final|reason|note|memory|recall|calculate|calculator|get|list|find|search|lookup|query|show|describe|check|count|status|task|agent|handoff|transfer_to_human|skill|inspect|transcribe|ocr|summari[sz]e|parse)"
)
DELETES = late_pattern(r"(?:^|_)(?:delete|remove|destroy|drop|purge|wipe|erase|terminate)(?:_|\Z)")

COMMAND_KEYS = (
    "command",
    "cmd",
    "script",
    "code",
    "bash_command",
    "shell_command",
    "input",
    "commands",
    "argv",
    "args",
    "text",
    "keystrokes",
    "keys",
    "chars",
)
PATH_KEYS = (
    "path",
    "file_path",
    "filepath",
    "filename",
    "file",
    "file_name",
    "target_file",
    "notebook_path",
    "absolute_path",
    "directory",
    "dir",
    "folder",
    "uri",
    "target",
    "dir_path",
    "relative_path",
    "filePath",
    "fileName",
    "absolutePath",
    "targetFile",
    "notebookPath",
    "relativePath",
)
"""Argument names for the file that a tool works on; some are in camel case."""


def plain_name(name: str) -> str:
    """The tool's own name, without the server or namespace prefix, in snake case."""
    last = re.split(r"__|[./:]", name.strip())[-1] or name
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[-\s]+", "_", last).lower()


def text_of(arguments: dict[str, object], keys: tuple[str, ...]) -> tuple[str | None, str]:
    """The first of the arguments that contains text; a list of words is joined as a shell would read it."""
    for key in keys:
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return key, as_text(value[:MAX_TEXT])
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            words = [str(word) for word in value]
            return key, as_text(("\n".join(words) if key == "commands" else shlex.join(words))[:MAX_TEXT])
    return None, ""


def read_shell(arguments: dict[str, object], cwd: str | None, memory: WrittenFiles) -> ToolCall:
    key, text = text_of(arguments, COMMAND_KEYS)
    if not text and len(arguments) == 1 and not verb_of(arguments):
        key, text = text_of(arguments, tuple(arguments))
    where = cwd
    for name in ("working_directory", "workdir", "cwd"):
        if isinstance(given := arguments.get(name), str) and given:
            where = given
    if not text:
        return read_custom("", "unknown", arguments, cwd, memory) if verb_of(arguments) else ToolCall(NO_SCRIPT, "read")
    return ToolCall(memory.read_text(text, where), None, key, text)


def read_editor(name: str, arguments: dict[str, object], cwd: str | None) -> ToolCall:
    """An editor with subcommands (`view`, `create`, `str_replace`), or a tool that edits one file."""
    verb = arguments.get("command")
    path = path_of(arguments)
    if verb in ("view", "read", "open", "undo_edit", "list"):
        return touch("cat", path, "read" if verb != "undo_edit" else "modify", cwd)
    creates = verb in ("create", "write") or "write" in name or "create" in name
    return written(touch("tee", path, "create" if creates else "modify", cwd), path, arguments)


def read_files(name: str, arguments: dict[str, object], cwd: str | None) -> ToolCall:
    path = path_of(arguments)
    verb = file_verb(name)
    if verb == "rm":
        whole = ("-r",) if re.search(r"director|folder|dir|tree", name) or arguments.get("recursive") is True else ()
        return touch("rm", path, "delete", cwd, *whole)
    if verb == "tee":
        return written(touch("tee", path, "create", cwd), path, arguments)
    if verb == "mv":
        source = arguments.get("source") or arguments.get("src") or arguments.get("from") or path
        target = arguments.get("destination") or arguments.get("dst") or arguments.get("to") or ""
        return ToolCall(
            Script((Command(program="mv", args=(as_text(str(source)), as_text(str(target))), cwd=cwd),)), "modify"
        )
    return touch(verb, path, "read", cwd)


@lru_cache(512)
def file_verb(name: str) -> str:
    """The command equivalent to the tool's name."""
    return next((verb for verb, pattern in FILE_VERBS if re.search(pattern, name)), "ls")


FILE_VERBS = (
    ("rm", r"delete|remove|unlink|rmdir|trash"),
    ("tee", r"write|create|save|append|touch|mkdir|make|new|add|put|upload"),
    ("mv", r"move|rename|copy"),
    ("cat", r"read|view|open|cat"),
)


def touch(program: str, path: str | None, action: Action, cwd: str | None, *options: str) -> ToolCall:
    """A file tool as the equivalent command."""
    if path is None:
        return ToolCall(NO_SCRIPT, action)
    return ToolCall(Script((Command(program=program, args=(*options, path), cwd=cwd),)), action)


def written(call: ToolCall, path: str | None, arguments: dict[str, object]) -> ToolCall:
    """The call with its writes; text that a schedule or a shell's start would run is judged when it is written."""
    writes = writes_of(path, arguments)
    if not writes:
        return call
    commands = call.script.commands
    if is_own_name(writes[0].text):
        commands = tuple(replace(command, stdin=writes[0].text) for command in commands)
    for write in writes[:MAX_RUN_LATER]:
        if is_of_pipeline(write.path):
            text = ALL_SECRETS.sub("$(cat .env)", write.text)
            text = "\n".join(filter(None, map(pipeline_command, text.split("\n"))))
            commands += tuple(each for each in read_text(text, None).commands if each.program == "send-secret")
        if "folderOpen" in write.text and "/.vscode/" in f"/{write.path}":
            commands += (Command(program="persists", args=(write.path,)),)
        if "startup" in (near := zones(write.path)):
            if near & FAR and runs_something(write.text):
                commands += (Command(program="starts", args=(write.path,), cwd=commands[0].cwd if commands else None),)
            lines = [
                found[1] if (found := SCHEDULE.match(line)) else line for line in write.text.split("\n")[:MAX_LINES]
            ]
            commands += read_text("\n".join(lines), None).commands
    script = call.script if commands is call.script.commands else replace(call.script, commands=commands)
    return ToolCall(script, call.action, call.key, call.text, writes)


PIPELINE = re.compile(
    r"\.(?:github|gitea|forgejo)/workflows/|\.(?:circleci|buildkite|woodpecker)/"
    r"|(?:^|/)(?:Jenkinsfile|\.?(?:gitlab-ci|azure-pipelines|bitbucket-pipelines|travis|drone|appveyor|cloudbuild|buildspec|woodpecker)\.ya?ml)\Z"
)
ALL_SECRETS = re.compile(r"\$\{\{\s{0,4}toJSON\(\s{0,4}secrets\s{0,4}\)\s{0,4}\}\}", re.IGNORECASE)
RUN_KEY = re.compile(
    r"(?:\w{0,8}script|run|commands?|cmds?|bash|shell|args)\s{0,4}:\s{0,4}[|>]?[-+]?\s{0,4}"
    r"|(?:sh|bat)\s{0,4}(?=\(?\s{0,4}['\"])"
)
"""Pipeline files, which run elsewhere with all secrets; the expression for all secrets; what precedes a command."""


def pipeline_command(line: str) -> str:
    """The command that a line of a pipeline runs: in a list, after a key, in quotes; else the line, but no comment."""
    plain = RUN_KEY.sub("", line.strip().removeprefix("- ").lstrip(), count=1)
    if plain[:1] == "#":
        return ""
    bare = plain.strip("[](), ")
    return bare.strip("'\"") if len(bare) > 1 and bare[0] in "'\"" and bare[-1] == bare[0] else plain


@lru_cache(512)
def is_of_pipeline(path: str) -> bool:
    """Whether a file belongs to a pipeline; cached, since a run writes few files repeatedly."""
    return PIPELINE.search(path) is not None


MAX_RUN_LATER = 8
"""Files of one call that are judged when they are written."""


def path_of(arguments: dict[str, object]) -> str | None:
    for key in PATH_KEYS:
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return as_text(value.removeprefix("file://")[:4096])
    return None


def read_request(name: str, arguments: dict[str, object], cwd: str | None) -> ToolCall:
    """A tool that uses the network; with a method and a URL it is a request that rules can match."""
    url, method = arguments.get("url"), arguments.get("method")
    if not isinstance(url, str):
        sent = sent_secret(name, arguments, cwd) if "sends" in signs_of(name) else ()
        return ToolCall(Script(sent) if sent else NO_SCRIPT, "network")
    verb = method.upper() if isinstance(method, str) and method else "GET"
    body = arguments.get("body") or arguments.get("data")
    data = ("-d", as_text(body[:MAX_TEXT])) if isinstance(body, str) else ()
    commands: tuple[Command, ...] = (Command(program="curl", args=("-X", as_text(verb), *data, as_text(url)), cwd=cwd),)
    if (verb in ("POST", "PUT", "PATCH") or "sends" in signs_of(name)) and LOCAL.match(url) is None:
        commands += sent_secret(name, arguments, cwd)
    return ToolCall(Script(commands), "network")
