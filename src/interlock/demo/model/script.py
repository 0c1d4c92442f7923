"""Scripts: what the model says, turn by turn. Plain data, in JSON or in Python."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from .request import ModelRequest

BUILT_IN = Path(__file__).with_name("scripts.json")
MARK = re.compile(r"\[\[script:([\w.-]+)\]\]")
NUMBER = "__N__"
"""Stands for the turn's number inside a script's strings."""


@dataclass(frozen=True)
class ScriptedCall:
    """A tool call by name; or a neutral one (`does`), put into the words of the tools that the client has."""

    name: str = ""
    input: dict[str, Any] = field(default_factory=dict)
    does: Literal["", "shell", "read", "write", "finish"] = ""


@dataclass(frozen=True)
class Tokens:
    """What a turn costs. `input` is the whole prompt, None: a quarter of the request's bytes."""

    input: int | None = None
    output: int = 25
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True)
class ScriptedTurn:
    """One answer: words, calls, or an error status; `cut` breaks the connection off in the middle.

    `headers` and `error`, the kind and the words of an error, come with a status other than 200.
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


class Book:
    """Chooses the turn for a request; the same request gets the same turn, so that retries do no harm."""

    def __init__(self, scripts: Scripts, default: str = "") -> None:
        self._answer = scripts if callable(scripts) else None
        self._scripts: dict[str, Script] = {}
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


def _turn(told: dict[str, Any]) -> ScriptedTurn:
    calls = [ScriptedCall(call["name"], call.get("input", {})) for call in told.get("tools", [])]
    commands = told.get("shell", [])
    calls += [run(command) for command in ([commands] if isinstance(commands, str) else commands)]
    if "read" in told:
        calls.append(read(told["read"]))
    if "write" in told:
        calls.append(write(**told["write"]))
    if "finish" in told:
        calls.append(ScriptedCall(does="finish", input={"text": told["finish"]}))
    return ScriptedTurn(
        text=told.get("text", ""),
        calls=tuple(calls),
        status=told.get("status", 200),
        delay_s=told.get("delay_s", 0.0),
        cut=told.get("cut", False),
        tokens=Tokens(**told.get("tokens", {})),
    )


def _numbered(turn: ScriptedTurn, number: int) -> ScriptedTurn:
    calls = tuple(replace(call, input=_put(call.input, number)) for call in turn.calls)
    return replace(turn, text=turn.text.replace(NUMBER, str(number)), calls=calls)


def _put(value: Any, number: int) -> Any:
    if isinstance(value, str):
        return value.replace(NUMBER, str(number))
    if isinstance(value, list):
        return [_put(one, number) for one in value]
    if isinstance(value, dict):
        return {key: _put(one, number) for key, one in value.items()}
    return value
