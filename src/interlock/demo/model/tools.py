"""From neutral calls to the tools that a client declares: one script drives every client."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

from .request import ModelRequest
from .script import ScriptedCall, ScriptedTurn

SHELLS = ("Bash", "bash", "exec_command", "shell", "shell_command", "run_shell_command", "run_command", "execute")
READERS = ("Read", "read", "read_file")
WRITERS = ("Write", "write", "write_file")
COMMANDS = ("command", "cmd", "script", "code")
PATHS = ("file_path", "filePath", "absolute_path", "path")
CONTENTS = ("content", "text")
SUBMIT = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""What a shell-only agent prints to end its task; it says so in its prompt."""


def in_words_of(turn: ScriptedTurn, request: ModelRequest) -> ScriptedTurn:
    """The turn with calls of tools that this client has."""
    calls: list[ScriptedCall] = []
    text = turn.text
    for call in turn.calls:
        if call.does == "finish":
            text = text or str(call.input["text"])
            calls += _finish(call, request)
        else:
            calls.append(_translate(call, request))
    return replace(turn, text=text, calls=tuple(calls))


def _finish(call: ScriptedCall, request: ModelRequest) -> list[ScriptedCall]:
    """The last turn: words alone, unless the agent ends otherwise."""
    if any(name == "final_answer" for name, _ in request.tools):
        return [ScriptedCall("final_answer", {"answer": call.input["text"]})]
    return [_shell(f"echo {SUBMIT}", request)] if SUBMIT in request.text else []


def _translate(call: ScriptedCall, request: ModelRequest) -> ScriptedCall:
    if call.does == "shell":
        return _shell(str(call.input["command"]), request)
    if call.does == "read":
        return _file(call, READERS, request) or _shell(f"cat {shlex.quote(call.input['path'])}", request)
    if call.does == "write":
        path, content = shlex.quote(call.input["path"]), shlex.quote(call.input["content"])
        return _file(call, WRITERS, request) or _shell(f"printf %s {content} > {path}", request)
    return call


def _shell(command: str, request: ModelRequest) -> ScriptedCall:
    tool = _declared(SHELLS, request)
    if tool is None:
        return ScriptedCall("bash", {"command": command})
    name, properties = tool
    argument = next((word for word in COMMANDS if word in properties), "command")
    is_list = properties.get(argument, {}).get("type") == "array"
    given: dict[str, Any] = {argument: ["bash", "-lc", command] if is_list else command}
    if "description" in properties:
        given["description"] = "run it"
    return ScriptedCall(name, given)


def _file(call: ScriptedCall, names: tuple[str, ...], request: ModelRequest) -> ScriptedCall | None:
    tool = _declared(names, request)
    if tool is None:
        return None
    name, properties = tool
    given = {next((word for word in PATHS if word in properties), "path"): call.input["path"]}
    if "content" in call.input:
        given[next((word for word in CONTENTS if word in properties), "content")] = call.input["content"]
    return ScriptedCall(name, given)


def _declared(names: tuple[str, ...], request: ModelRequest) -> tuple[str, dict[str, Any]] | None:
    tools = dict(request.tools)
    return next(((name, tools[name]) for name in names if name in tools), None)
