"""Scripts: what the model says, turn by turn; requests; and neutral calls translated to the client's tools."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

SECRET = frozenset(("authorization", "x-api-key", "x-goog-api-key", "cookie", "api-key"))
"""Headers whose value is kept as its length only."""


@dataclass(frozen=True)
class ModelRequest:
    """One request. `api` is anthropic, responses, chat, gemini or other; `turn` counts the model's turns so far."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes = b""
    body: dict[str, Any] = field(default_factory=dict)
    api: str = "other"
    turn: int = 0
    tools: tuple[tuple[str, dict[str, Any]], ...] = ()
    has_tools: bool = False
    stream: bool = False

    @cached_property
    def text(self) -> str:
        """The whole body as text, for "the next request contains ..."."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def model(self) -> str:
        """The requested model."""
        if self.api == "gemini":
            return self.path.split("/models/", 1)[-1].split(":", 1)[0]
        return str(self.body.get("model", ""))

    @property
    def history(self) -> list[dict[str, Any]]:
        """The conversation, in this format."""
        items = self.body.get({"responses": "input", "gemini": "contents"}.get(self.api, "messages"), [])
        return [{"role": "user", "content": items}] if isinstance(items, str) else items


BUILT_IN = Path(__file__).with_name("scripts.json")
MARK = re.compile(r"\[\[script:([\w.-]+)\]\]")
NUMBER = "__N__"
"""Stands for the turn's number inside a script's strings."""


@dataclass(frozen=True)
class ScriptedCall:
    """A tool call by name; or a neutral one (`does`), translated to the client's tools."""

    name: str = ""
    input: dict[str, Any] = field(default_factory=dict)
    does: Literal["", "shell", "read", "write", "finish"] = ""


@dataclass(frozen=True)
class Tokens:
    """The tokens of a turn. `input` is the whole prompt; None: a quarter of the request's bytes."""

    input: int | None = None
    output: int = 25
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True)
class ScriptedTurn:
    """One reply: text, calls, or an error status; `cut` closes the connection in the middle.

    `headers` and `error` (type and message) are sent with a status other than 200.
    """

    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    status: int = 200
    delay_s: float = 0.0
    cut: bool = False
    tokens: Tokens = Tokens()
    headers: tuple[tuple[str, str], ...] = ()
    error: tuple[str, str] = ("scripted_error", "scripted")


Script = Sequence[ScriptedTurn]
Scripts = str | Script | Mapping[str, Script] | Callable[[ModelRequest], ScriptedTurn]
"""The name of a built-in script, one script, several by name, or a function that answers."""


def run(command: str) -> ScriptedCall:
    """A shell command, whatever the client's shell tool is called."""
    return ScriptedCall(does="shell", input={"command": command})


def read(path: str) -> ScriptedCall:
    """A file read with the client's own tool, else with its shell."""
    return ScriptedCall(does="read", input={"path": path})


def write(path: str, content: str) -> ScriptedCall:
    """A file written with the client's own tool, else with its shell."""
    return ScriptedCall(does="write", input={"path": path, "content": content})


def turns(*words: str | ScriptedCall | ScriptedTurn) -> list[ScriptedTurn]:
    """A script, one turn for each argument: text, a call, or a whole turn."""
    return [
        word
        if isinstance(word, ScriptedTurn)
        else ScriptedTurn(text=word)
        if isinstance(word, str)
        else ScriptedTurn(calls=(word,))
        for word in words
    ]


class TurnChooser:
    """Chooses the turn for a request; the same request gets the same turn, so that retries do no harm."""

    def __init__(self, scripts: Scripts) -> None:
        self._answer = scripts if callable(scripts) else None
        self._scripts: dict[str, Script] = {}
        default = ""
        if isinstance(scripts, str):
            self._scripts, default = read_scripts(BUILT_IN), scripts
        elif isinstance(scripts, Mapping):
            self._scripts = dict(scripts)
        elif not callable(scripts):
            self._scripts, default = {"default": scripts}, "default"
        self._default = default or next(iter(self._scripts), "")
        if self._answer is None and self._default not in self._scripts:
            raise ValueError(f"no script {self._default!r}; there are: {', '.join(sorted(self._scripts))}")

    def turn(self, request: ModelRequest) -> tuple[str, ScriptedTurn]:
        """The script's name and the turn: the one whose mark [[script:NAME]] is in the request, else the default.

        Requests without tools (titles, summaries, probes) get "ok", unless the script is one without calls.
        """
        if self._answer is not None:
            return "", self._answer(request)
        marks = MARK.findall(request.text)
        name = marks[0] if marks and marks[0] in self._scripts else self._default
        script = self._scripts[name]
        if not request.has_tools and any(turn.calls for turn in script):
            return name, ScriptedTurn(text="ok")
        if request.turn >= len(script):
            return name, ScriptedTurn(text="done")
        return name, _numbered(script[request.turn], request.turn)


def read_scripts(path: Path) -> dict[str, Script]:
    """The scripts of a JSON file: {"NAME": [{"text": ..., "shell": ..., "tools": [...], "times": 3}, ...]}."""
    return {name: _script(script) for name, script in json.loads(path.read_text(encoding="utf-8")).items()}


def _script(listed: list[dict[str, Any]]) -> list[ScriptedTurn]:
    return [turn for one in listed for turn in [_turn(one)] * int(one.get("times", 1))]


def _turn(listed: dict[str, Any]) -> ScriptedTurn:
    calls = [ScriptedCall(call["name"], call.get("input", {})) for call in listed.get("tools", [])]
    commands = listed.get("shell", [])
    calls += [run(command) for command in ([commands] if isinstance(commands, str) else commands)]
    if "read" in listed:
        calls.append(read(listed["read"]))
    if "write" in listed:
        calls.append(write(**listed["write"]))
    if "finish" in listed:
        calls.append(ScriptedCall(does="finish", input={"text": listed["finish"]}))
    return ScriptedTurn(
        text=listed.get("text", ""),
        calls=tuple(calls),
        status=listed.get("status", 200),
        delay_s=listed.get("delay_s", 0.0),
        cut=listed.get("cut", False),
        tokens=Tokens(**listed.get("tokens", {})),
    )


def _numbered(turn: ScriptedTurn, number: int) -> ScriptedTurn:
    calls = tuple(replace(call, input=_fill_number(call.input, number)) for call in turn.calls)
    return replace(turn, text=turn.text.replace(NUMBER, str(number)), calls=calls)


def _fill_number(value: Any, number: int) -> Any:
    if isinstance(value, str):
        return value.replace(NUMBER, str(number))
    if isinstance(value, list):
        return [_fill_number(one, number) for one in value]
    if isinstance(value, dict):
        return {key: _fill_number(one, number) for key, one in value.items()}
    return value


SHELLS = ("Bash", "bash", "exec_command", "shell", "shell_command", "run_shell_command", "run_command", "execute")
READERS = ("Read", "read", "read_file")
WRITERS = ("Write", "write", "write_file")
COMMANDS = ("command", "cmd", "script", "code")
PATHS = ("file_path", "filePath", "absolute_path", "path")
CONTENTS = ("content", "text")
SUBMIT = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""What a shell-only agent prints to end its task, according to its prompt."""


def with_client_tools(turn: ScriptedTurn, request: ModelRequest) -> ScriptedTurn:
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
    """The last turn: text only, unless the agent ends in another way."""
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
