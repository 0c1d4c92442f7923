"""Gemini CLI: its hook payloads, replies and session file; and its wiring for one run, with a home of its own."""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec
from msgspec import Struct

from ...core import (
    BadInput,
    Capability,
    Decision,
    Tool,
    Usage,
    copy_files,
    from_json,
    read_small,
    write_whole,
)
from .claude_code import prompt_in
from .client_format import Payload, TranscriptDialect, mapping, refusal_of, text, words_of
from .hook_event import HookEvent, Moment, ToolOutcome, TranscriptEntry, content_of, exit_code_in, without
from .wiring import HOLD_S, HookCommand, HookWords, RunAddress, Wired, add_groups, without_groups

CAPABILITIES: frozenset[Capability] = frozenset(
    ("deny", "rewrite", "inject", "hold", "stop", "switch_model", "usage", "relaunch")
)

MOMENTS: dict[str, Moment] = {
    "SessionStart": "begin",
    "BeforeAgent": "prompt",
    "BeforeModel": "model",
    "BeforeTool": "before",
    "AfterTool": "after",
    "AfterAgent": "turn_end",
    "SessionEnd": "end",
}

CONTEXT = ("SessionStart", "BeforeAgent", "AfterTool")
"""The events whose reply can contain text for the model."""

REMEMBERED = 256


class _Tokens(Struct):
    input: int = 0
    output: int = 0
    cached: int = 0
    thoughts: int = 0

    def neutral(self) -> Usage:
        return Usage(input_tokens=self.input, output_tokens=self.output + self.thoughts, cache_read_tokens=self.cached)


class _Line(Struct):
    id: str = ""
    type: str = ""
    content: object = None
    tokens: _Tokens | None = None
    model: str | None = None
    toolCalls: list[object] = []  # noqa: N815  the session file's own name


class GeminiDialect(TranscriptDialect[_Line]):
    """See the module. Remembers which calls are under way, to match results with calls."""

    name = "gemini"
    capabilities = CAPABILITIES
    context = CONTEXT
    line = _Line

    def __init__(self) -> None:
        self._open: dict[str, list[str]] = {}
        self._ended: dict[str, str] = {}

    def read(self, payload: Payload) -> HookEvent:
        name = text(payload, "hook_event_name")
        moment = MOMENTS.get(name, "other")
        tool = Tool(text(payload, "tool_name") or "unknown", mapping(payload, "tool_input"))
        call_id = ""
        if moment == "before":
            call_id = self._begin(payload, tool)
        elif moment == "after":
            call_id = self._end(payload, tool)
        tool = Tool(tool.name, tool.arguments, call_id or None)
        return HookEvent(
            client=self.name,
            name=name,
            moment=moment,
            session=text(payload, "session_id"),
            tool=tool if moment == "before" else None,
            outcomes=(_outcome(payload, tool),) if moment == "after" else (),
            content=text(payload, {"prompt": "prompt", "turn_end": "prompt_response"}.get(moment, "")),
            model=text(mapping(payload, "llm_request"), "model") or None,
            transcript=text(payload, "transcript_path"),
            cwd=text(payload, "cwd"),
        )

    def reply(self, event: HookEvent, decision: Decision) -> Payload:
        reply: Payload = {}
        said: Payload = {"hookEventName": event.name}
        if decision.action == "stop" and event.moment not in ("turn_end", "end", "other"):
            reply = {"continue": False, "stopReason": decision.reason or "Interlock ended the run."}
        if event.moment == "turn_end" and decision.action == "deny":
            return {"decision": "deny", "reason": refusal_of(decision)}
        if event.moment == "before":
            if decision.action in ("deny", "stop", "defer"):
                return {**reply, "decision": "deny", "reason": refusal_of(decision)}
            if decision.action == "rewrite":
                said["tool_input"] = decision.arguments or {}
                return {**reply, "hookSpecificOutput": said, "systemMessage": decision.reason}
        if event.moment == "model" and decision.model:
            said["llm_request"] = {"model": decision.model}
            return {**reply, "hookSpecificOutput": said}
        if decision.messages and self.carries(event):
            said["additionalContext"] = words_of(decision)
            return {**reply, "hookSpecificOutput": said}
        return reply

    def understand(self, record: _Line) -> TranscriptEntry | None:
        if record.type != "gemini" or record.tokens is None:
            return None
        words = record.content if isinstance(record.content, str) and not record.toolCalls else ""
        return TranscriptEntry(key=record.id, text=words, model=record.model, usage=record.tokens.neutral())

    def _begin(self, payload: Payload, tool: Tool) -> str:
        call_id = _digest(text(payload, "session_id"), text(payload, "timestamp"), tool)
        waiting = self._open.setdefault(_digest("", "", tool), [])
        if call_id not in waiting:
            waiting.append(call_id)
        while len(self._open) > REMEMBERED:
            del self._open[next(iter(self._open))]
        return call_id

    def _end(self, payload: Payload, tool: Tool) -> str:
        """The oldest equal call under way; a repeated result belongs to the same call."""
        event_id = _digest(text(payload, "session_id"), text(payload, "timestamp"), tool)
        if event_id in self._ended:
            return self._ended[event_id]
        waiting = self._open.get(_digest("", "", tool), [])
        self._ended[event_id] = waiting.pop(0) if waiting else event_id
        while len(self._ended) > REMEMBERED:
            del self._ended[next(iter(self._ended))]
        return self._ended[event_id]


def _outcome(payload: Payload, tool: Tool) -> ToolOutcome:
    response = mapping(payload, "tool_response")
    content = content_of(response)
    code = exit_code_in(content)
    failed = response.get("error") is not None or code not in (None, 0)
    return ToolOutcome(tool=tool, content=without(ADDED, content), error=failed, exit_code=code)


ADDED = re.compile(r"^(?:Process Group PGID|Background PIDs): [^\n]*(?:\n|\Z)", re.MULTILINE)
"""The process ids at the end of each command's result."""


def _digest(session: str, time: str, tool: Tool) -> str:
    data = msgspec.json.encode((session, time, tool.name, tool.arguments), order="sorted")
    import hashlib

    return hashlib.blake2b(data, digest_size=12).hexdigest()


HOME = "GEMINI_CLI_HOME"
FOLDER = ".gemini"
SETTINGS = "settings.json"
SWITCHES = "hooksConfig"
NAME = "interlock"
END_S = 5
NOT_A_SESSION = frozenset(("-v", "--version", "-h", "--help", "mcp", "extensions", "extension", "skills", "hooks"))
FLAGS = frozenset(("-d", "--debug", "-s", "--sandbox", "-y", "--yolo", "-p", "--prompt", "-i", "--prompt-interactive"))


class GeminiWiring:
    """`arguments` are the words after the client's own."""

    client = GeminiDialect.name
    api = ""

    def __init__(self, command: tuple[str, ...], arguments: tuple[str, ...]) -> None:
        self._command, self._arguments = command, arguments
        self.task = prompt_in(arguments, FLAGS)

    def wire(self, address: RunAddress) -> Wired:
        from .hookclient_build import hook_command

        real = Path(os.environ.get(HOME) or Path.home()) / FOLDER
        ours = address.folder / FOLDER
        ours.mkdir(mode=0o700)
        for entry in real.iterdir() if real.is_dir() else ():
            if entry.name != SETTINGS:
                (ours / entry.name).symlink_to(entry)
        words = HookWords(hook_command(), address, self.client)
        original = _read(real / SETTINGS)
        written = with_hooks(original, words)
        (ours / SETTINGS).write_bytes(written)
        argv = (*self._command, *self._arguments)
        return Wired(
            argv=argv,
            environment={HOME: str(address.folder)},
            files=(ours / SETTINGS, Path(words.command[0])),
            settings=(Path.cwd() / FOLDER / SETTINGS,),
            headless=bool({"-p", "--prompt"} & set(self._arguments)),
            settle=lambda: _settle(ours, real, written, original),
        )


def group(event: str, words: HookCommand) -> dict[str, object]:
    """Our group of hooks for an event; Gemini counts timeouts in milliseconds."""
    timeout = (END_S if event == "SessionEnd" else HOLD_S) * 1000
    line = words.line(before=MOMENTS[event] == "before")
    return {"matcher": "*", "hooks": [{"type": "command", "name": NAME, "command": line, "timeout": timeout}]}


def with_hooks(settings: dict[str, object], words: HookCommand) -> bytes:
    """The settings with our hooks after the user's own, and hooks switched on."""
    switches = settings.get(SWITCHES)
    switched = {**(switches if isinstance(switches, dict) else {}), "enabled": True}
    whole = {**add_groups(settings, MOMENTS, lambda event: group(event, words)), SWITCHES: switched}
    return msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n"


def _is_ours(group: object) -> bool:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(hooks, list) and any(isinstance(one, dict) and one.get("name") == NAME for one in hooks)


def _read(path: Path) -> dict[str, object]:
    try:
        return from_json(read_small(path, links=True), dict[str, object])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError) as error:
        todo = "Fix it; comments are not supported here."
        raise BadInput(f"the settings cannot be read ({error})", where=str(path), todo=todo) from None


def _settle(ours: Path, real: Path, written: bytes, original: dict[str, object]) -> None:
    """Copy back what the client wrote: new and replaced files, and changed settings."""
    copy_files(ours, real, leave=SETTINGS)
    try:
        changed = read_small(ours / SETTINGS)
    except OSError:
        return
    if changed != written:
        real.mkdir(mode=0o700, exist_ok=True)
        settings = without_groups(from_json(changed, dict[str, object]), _is_ours)
        settings.pop(SWITCHES, None)
        if SWITCHES in original:
            settings[SWITCHES] = original[SWITCHES]
        write_whole(real / SETTINGS, msgspec.json.format(msgspec.json.encode(settings), indent=2) + b"\n")
