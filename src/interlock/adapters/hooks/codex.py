"""Codex: its hook payloads, replies and transcript; and its wiring for one run, by `-c` overrides."""

from __future__ import annotations

import os
import re
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from ...core import Capability, Decision, Usage, read_small
from .claude_code import CONTEXT, prompt_in, read_event, reply_after, reply_before, reply_turn_end
from .client_format import Payload, TranscriptDialect
from .hook_event import HookEvent, Moment, TranscriptEntry, exit_code_in, without
from .wiring import HOLD_S, HookWords, RunAddress, Wired

CAPABILITIES: frozenset[Capability] = frozenset(("deny", "rewrite", "inject", "hold", "stop", "usage", "relaunch"))

MOMENTS: dict[str, Moment] = {
    "SessionStart": "begin",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "before",
    "PostToolUse": "after",
    "Stop": "turn_end",
    "SubagentStop": "turn_end",
    "SessionEnd": "end",
}


class _Spent(Struct):
    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_input_tokens: int = 0

    def neutral(self) -> Usage:
        return Usage(
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cache_read_tokens=self.cached_input_tokens,
            cache_write_tokens=self.cache_write_input_tokens,
        )


class _Part(Struct):
    text: str = ""


class _Payload(Struct):
    type: str = ""
    role: str = ""
    response_id: str = ""
    call_id: str = ""
    usage: _Spent | None = None
    content: list[_Part] = []


class _Line(Struct):
    type: str = ""
    payload: _Payload = field(default_factory=_Payload)


ADDED = re.compile(
    r"^(?:Chunk ID|Wall time|Original token count|Total output lines): [^\n]*\n|…\d+ (?:tokens|chars|lines) truncated…",
    re.MULTILINE,
)
"""The heading of each command's result, and the mark where a long one was cut."""


class CodexDialect(TranscriptDialect[_Line]):
    """See the module."""

    name = "codex"
    capabilities = CAPABILITIES
    context = CONTEXT
    line = _Line

    def read(self, payload: Payload) -> HookEvent:
        event = read_event(self.name, payload, MOMENTS)
        if not event.outcomes:
            return event
        # A result has no exit status: whether the call failed is read from its text.
        unsaid = tuple(
            replace(
                one,
                content=without(ADDED, one.content),
                error=one.error or None,
                exit_code=exit_code_in(one.content) if one.exit_code is None else one.exit_code,
            )
            for one in event.outcomes
        )
        return replace(event, outcomes=unsaid)

    def reply(self, event: HookEvent, decision: Decision) -> Payload:
        if event.moment == "before":
            reply = reply_before(event, decision)
            said = reply.get("hookSpecificOutput")
            if decision.action == "rewrite" and isinstance(said, dict):
                # Codex accepts arguments only from a hook that allows the call.
                said["permissionDecision"] = "allow"
            return {"hookSpecificOutput": said} if said else {}
        if event.moment == "turn_end":
            return reply_turn_end(decision)
        return {} if event.moment in ("end", "other") else reply_after(event, decision)

    def understand(self, record: _Line) -> TranscriptEntry | None:
        payload = record.payload
        if record.type == "token_usage_record" and payload.usage is not None:
            return TranscriptEntry(key=payload.response_id, usage=payload.usage.neutral())
        if record.type == "response_item" and payload.role == "assistant":
            words = "\n".join(part.text for part in payload.content if part.text)
            return TranscriptEntry(text=words) if words else None
        if record.type == "response_item" and payload.type.endswith("_output") and payload.call_id:
            return TranscriptEntry(results=(payload.call_id,))
        return None


NOT_A_SESSION = frozenset(
    ("-V", "--version", "-h", "--help", "help", "login", "logout", "mcp", "plugin", "completion", "update", "doctor",
     "sandbox", "debug", "execpolicy", "apply", "a", "cloud", "features", "archive", "delete", "unarchive")
)  # fmt: skip
SESSIONS = frozenset(("exec", "e", "review", "resume", "fork"))
FLAGS = frozenset(
    ("--json", "--skip-git-repo-check", "--ephemeral", "--full-auto", "--oss", "--search", "--last",
     "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", "--ignore-user-config")
)  # fmt: skip

SOURCE = "/<session-flags>/config.toml"
"""Codex's source name for hooks given by `-c`."""

CHOOSES = frozenset(("-c", "--config", "-p", "--profile", "--oss", "--ignore-user-config"))
"""Options that may select another API than the configuration file does."""

END_S = 3
"""The longest timeout of a hook at the end of a session."""


class CodexWiring:
    """`arguments` are the words after the client's own."""

    client = CodexDialect.name

    def __init__(self, command: tuple[str, ...], arguments: tuple[str, ...]) -> None:
        self._command, self._arguments = command, arguments
        words = arguments[1:] if arguments and arguments[0] in SESSIONS else arguments
        self.task = prompt_in(words, FLAGS)
        chosen = any(word.partition("=")[0] in CHOOSES for word in arguments)
        self._own = None if chosen else named_api()
        self.api = self._own.url if self._own is not None else ""

    def wire(self, address: RunAddress) -> Wired:
        from .hookclient_build import hook_command

        words = HookWords(hook_command(), address, self.client)
        options: list[str] = []
        trusted = []
        for event in MOMENTS:
            command = words.line(before=MOMENTS[event] == "before")
            timeout = END_S if event == "SessionEnd" else HOLD_S
            options += ["-c", f"hooks.{event}={toml_groups(command, timeout)}"]
            trusted.append(f'"{SOURCE}:{label(event)}:0:0"={{trusted_hash="{trust_hash(event, command, timeout)}"}}')
        options += ["-c", f"hooks.state={{{','.join(trusted)}}}"]
        if self._own is not None and address.api:
            options += ["-c", f"{self._own.key}={_quoted(address.api)}"]
        argv = (*self._command, *options, *self._arguments)
        headless = bool(self._arguments) and self._arguments[0] in ("exec", "e")
        return Wired(argv=argv, files=(Path(words.command[0]),), headless=headless)


class NamedApi(Struct, frozen=True):
    """The URL of the model's API in a configuration file, and its key."""

    key: str
    url: str


def named_api() -> NamedApi | None:
    """The API in the user's configuration file; None if Codex uses its default."""
    folder = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
    import tomllib

    try:
        config = tomllib.loads(read_small(folder / "config.toml", links=True).decode())
    except (OSError, ValueError):
        return None
    profile = _table(_table(config, "profiles"), str(config.get("profile")))
    name = str(profile.get("model_provider") or config.get("model_provider") or MAKER)
    own = _table(_table(config, "model_providers"), name).get("base_url")
    if isinstance(own, str) and PLAIN_KEY.fullmatch(name):
        return NamedApi(f"model_providers.{name}.base_url", own.rstrip("/"))
    makers = config.get("openai_base_url")
    return NamedApi("openai_base_url", makers.rstrip("/")) if name == MAKER and isinstance(makers, str) else None


def _table(table: dict[str, object], key: str) -> dict[str, object]:
    value = table.get(key)
    return value if isinstance(value, dict) else {}


MAKER = "openai"
PLAIN_KEY = re.compile(r"[\w-]+")


def toml_groups(command: str, timeout: int) -> str:
    """One hook as an inline TOML value. JSON strings are TOML strings."""
    return f'[{{hooks=[{{type="command",command={_quoted(command)},timeout={timeout}}}]}}]'


def trust_hash(event: str, command: str, timeout: int) -> str:
    """Codex's trust hash of a hook, over its canonical JSON."""
    hook = {"async": False, "command": command, "timeout": timeout, "type": "command"}
    import hashlib
    import json

    canonical = json.dumps({"event_name": label(event), "hooks": [hook]}, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"


def label(event: str) -> str:
    """Convert an event name to snake case: PreToolUse to pre_tool_use."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in event).lstrip("_")


def _quoted(words: str) -> str:
    import json

    return json.dumps(words)
