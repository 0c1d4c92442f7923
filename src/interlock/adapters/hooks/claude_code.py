"""Claude Code: its hook payloads, replies and transcript; and its wiring for one run, by `--settings`."""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec

from ...core import BadInput, Capability, Decision, Tool, from_json, read_small
from ..traces.transcript import Block, TranscriptLine, TranscriptMessage, usage_of
from .client_format import Payload, TranscriptDialect, mapping, number, refusal_of, text, words_of
from .hook_event import HookEvent, Moment, ToolOutcome, TranscriptEntry, content_of, exit_code_in, is_failure, without
from .hook_guardian import switches_hooks_off
from .wiring import HOLD_S, HookCommand, HookWords, RunAddress, Wired, add_groups

CAPABILITIES: frozenset[Capability] = frozenset(
    ("deny", "rewrite", "inject", "hold", "defer", "stop", "usage", "relaunch")
)

MOMENTS: dict[str, Moment] = {
    "SessionStart": "begin",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "before",
    "PostToolUse": "after",
    "PostToolUseFailure": "after",
    "PostToolBatch": "batch",
    "ConfigChange": "settings",
    "Stop": "turn_end",
    "SubagentStop": "turn_end",
    "SessionEnd": "end",
}
"""The events that we hook into."""

SAID = {"prompt": "prompt", "turn_end": "last_assistant_message"}
"""The field of an event with the text of the person or of the model."""

CONTEXT = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit", "SessionStart")
"""The events whose reply can contain text for the model."""


class ClaudeCodeDialect(TranscriptDialect[TranscriptLine]):
    """See the module."""

    name = "claude-code"
    capabilities = CAPABILITIES
    context = CONTEXT
    line = TranscriptLine

    def read(self, payload: Payload) -> HookEvent:
        return read_event(self.name, payload, MOMENTS)

    def reply(self, event: HookEvent, decision: Decision) -> Payload:
        match event.moment:
            case "before":
                return reply_before(event, decision)
            case "settings":
                return {"decision": "block", "reason": decision.reason} if decision.action == "deny" else {}
            case "turn_end":
                return reply_turn_end(decision)
            case "end":
                return {}
            case _:
                return reply_after(event, decision)

    def understand(self, said: TranscriptLine) -> TranscriptEntry | None:
        message = said.message
        if message is None or said.type not in ("assistant", "user") or said.isMeta:
            return None
        blocks = [] if isinstance(message.content, str) else message.content
        if said.type == "user":
            results = tuple(block.tool_use_id for block in blocks if block.tool_use_id)
            return TranscriptEntry(results=results, agent=said.agentId) if results else None
        return TranscriptEntry(
            key=message.id or "",
            text=_spoken(message, blocks),
            model=message.model,
            usage=usage_of(message),
            agent=said.agentId,
        )


def read_event(client: str, payload: Payload, moments: dict[str, Moment]) -> HookEvent:
    """An event from a payload in Claude Code's format, which Codex shares."""
    name = text(payload, "hook_event_name")
    moment = moments.get(name, "other")
    tool = Tool(text(payload, "tool_name") or "unknown", mapping(payload, "tool_input"), _call_id(payload))
    outcomes: tuple[ToolOutcome, ...] = ()
    if moment == "after":
        outcomes = (_outcome(payload, tool),)
    elif moment == "batch":
        calls = payload.get("tool_calls")
        outcomes = tuple(_batched(call) for call in calls if isinstance(call, dict)) if isinstance(calls, list) else ()
    return HookEvent(
        client=client,
        name=name,
        moment=moment,
        session=text(payload, "session_id"),
        agent=text(payload, "agent_id") or None,
        tool=tool if moment == "before" else None,
        outcomes=outcomes,
        content=text(payload, SAID.get(moment, "")),
        model=text(payload, "model") or None,
        transcript=text(payload, "agent_transcript_path") or text(payload, "transcript_path"),
        cwd=text(payload, "cwd"),
        path=text(payload, "file_path"),
        final=moment != "turn_end" or name == "Stop",
        compacted=moment == "begin" and text(payload, "source") == "compact",
    )


def reply_before(event: HookEvent, decision: Decision) -> Payload:
    """Deny, rewrite, defer or stop; messages can accompany an allowed call."""
    said: Payload = {"hookEventName": event.name}
    reply: Payload = {}
    match decision.action:
        case "deny" | "stop":
            said |= {"permissionDecision": "deny", "permissionDecisionReason": refusal_of(decision)}
            if decision.action == "stop":
                reply = stopping(decision)
        case "defer":
            said |= {"permissionDecision": "defer", "permissionDecisionReason": decision.reason}
        case "rewrite":
            said |= {"updatedInput": decision.arguments or {}, "additionalContext": refusal_of(decision)}
        case _:
            if not decision.messages:
                return {}
            said["additionalContext"] = words_of(decision)
    return {**reply, "hookSpecificOutput": said}


def reply_after(event: HookEvent, decision: Decision) -> Payload:
    """Messages for the model, and the stop if the run has ended."""
    reply = stopping(decision) if decision.action == "stop" else {}
    if decision.messages and event.name in CONTEXT:
        reply["hookSpecificOutput"] = {"hookEventName": event.name, "additionalContext": words_of(decision)}
    return reply


def reply_turn_end(decision: Decision) -> Payload:
    """Let the agent stop, or tell it what to do first."""
    return {"decision": "block", "reason": refusal_of(decision)} if decision.action == "deny" else {}


def stopping(decision: Decision) -> Payload:
    return {"continue": False, "stopReason": decision.reason or "Interlock ended the run."}


def _call_id(payload: Payload) -> str | None:
    return text(payload, "tool_use_id") or None


def _outcome(payload: Payload, tool: Tool) -> ToolOutcome:
    failed = "error" in payload
    content = without(ADDED, text(payload, "error") if failed else content_of(payload.get("tool_response")))
    return ToolOutcome(
        tool=tool,
        content=content,
        error=failed or _is_interrupted(payload),
        exit_code=exit_code_in(content) if failed else None,
        duration_ms=number(payload, "duration_ms"),
    )


def _batched(call: Payload) -> ToolOutcome:
    """A call of the batch without an event of its own: it failed before it ran."""
    content = without(ADDED, content_of(call.get("tool_response")))
    tool = Tool(text(call, "tool_name") or "unknown", mapping(call, "tool_input"), _call_id(call))
    return ToolOutcome(tool=tool, content=content, error=is_failure(content), exit_code=exit_code_in(content))


ADDED = re.compile(
    r"\s*<system-reminder>.*?</system-reminder>|\n*\.\.\. \[\d[\d,]* (?:characters|lines) truncated\] \.\.\.\n*",
    re.DOTALL,
)
"""Reminders to the model behind a result, and the mark where a long one was cut."""


def _is_interrupted(payload: Payload) -> bool:
    return mapping(payload, "tool_response").get("interrupted") is True


def _spoken(message: TranscriptMessage, blocks: list[Block]) -> str:
    if isinstance(message.content, str):
        return message.content
    return "\n".join(block.text for block in blocks if block.type == "text" and block.text)


NOT_A_SESSION = frozenset(
    ("-v", "--version", "-h", "--help", "agents", "auth", "config", "doctor", "install", "mcp", "migrate-installer",
     "plugin", "plugins", "project", "remote-control", "setup-token", "ultrareview", "update", "upgrade")
)  # fmt: skip
"""First arguments with which the client starts no agent."""

END_S = 5
"""Timeout at the end of a session."""


class ClaudeWiring:
    """`arguments` are the words after the client's own."""

    client = ClaudeCodeDialect.name
    api = ""

    def __init__(self, command: tuple[str, ...], arguments: tuple[str, ...]) -> None:
        self._command, self._arguments = command, arguments
        self.task = prompt_in(arguments, FLAGS)

    def wire(self, address: RunAddress) -> Wired:
        from .hookclient_build import hook_command

        rest, given = _split_settings(self._arguments)
        words = HookWords(hook_command(), address, self.client)
        settings = add_groups(given, MOMENTS, lambda event: {"hooks": [exec_form(event, words)]})
        user, *projects = settings_files()
        notes = []
        if switches_hooks_off(user):
            notes.append(f"hooks are switched off in {user}: its steps are not visible")
        else:
            # A project's settings, which the agent can write, must not switch supervision off.
            settings = {"disableAllHooks": False, **settings}
        if "--bare" in self._arguments:
            notes.append("--bare switches its hooks off: its steps are not visible")
        path = address.folder / "settings.json"
        path.write_bytes(msgspec.json.format(msgspec.json.encode(settings), indent=2))
        path.chmod(0o400)
        argv = (*self._command, "--settings", str(path), *rest)
        files = (path, Path(words.command[0]))
        headless = bool({"-p", "--print"} & set(self._arguments))
        return Wired(argv=argv, files=files, settings=(user, *projects), notes=tuple(notes), headless=headless)


def settings_files() -> tuple[Path, ...]:
    """The user's settings, then those of the current project."""
    user = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "settings.json"
    project = Path.cwd() / ".claude"
    return user, project / "settings.json", project / "settings.local.json"


def exec_form(event: str, words: HookCommand) -> dict[str, object]:
    """One hook without a shell in between."""
    command, *arguments = words.words(before=MOMENTS[event] == "before")
    timeout = END_S if event == "SessionEnd" else HOLD_S
    return {"type": "command", "command": command, "args": arguments, "timeout": timeout}


def prompt_in(arguments: tuple[str, ...], flags: frozenset[str]) -> str:
    """The client's prompt: the first argument that does not belong to an option."""
    previous = ""
    for word in arguments:
        if not word.startswith("-") and (not previous.startswith("-") or previous in flags):
            return word
        previous = word
    return ""


FLAGS = frozenset(
    ("-p", "--print", "-c", "--continue", "--verbose", "--dangerously-skip-permissions", "--bare", "--debug",
     "--include-partial-messages", "--include-hook-events", "--replay-user-messages", "--strict-mcp-config", "--ide")
)  # fmt: skip
"""Options without a value, which the prompt may follow."""


def _split_settings(arguments: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, object]]:
    """The arguments without --settings, and its settings, from a file or JSON."""
    rest: list[str] = []
    given: dict[str, object] = {}
    words = iter(arguments)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word == "--settings":
            given = _read(next(words, ""))
        elif word.startswith("--settings="):
            given = _read(word.partition("=")[2])
        else:
            rest.append(word)
    return tuple(rest), given


def _read(value: str) -> dict[str, object]:
    try:
        data = value if value.lstrip().startswith("{") else read_small(Path(value).expanduser(), links=True)
        return from_json(data, dict[str, object])
    except (OSError, msgspec.DecodeError) as error:
        raise BadInput(f"the settings cannot be read ({error})", where="--settings", todo="Use a JSON file.") from None
