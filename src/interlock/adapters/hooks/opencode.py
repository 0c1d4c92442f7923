"""opencode: its plugin uses our own format (see opencode_plugin.js); and its wiring for one run."""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec

from ...core import BadInput, Capability, Decision, Tool, Usage, from_json
from .client_format import Payload, mapping, refusal_of, text, words_of
from .hook_event import HookEvent, Moment, ToolOutcome, TranscriptEntry, without
from .wiring import RunAddress, Wired

CAPABILITIES: frozenset[Capability] = frozenset(("deny", "rewrite", "inject", "hold", "stop", "usage", "relaunch"))

MOMENTS: dict[str, Moment] = {
    "session": "begin",
    "chat.message": "prompt",
    "tool.execute.before": "before",
    "tool.execute.after": "after",
    "tool.failed": "after",
    "step.finished": "turn_end",
    "session.idle": "turn_end",
    "session.retry": "limited",
}


ADDED = re.compile(r"\n*\(?(?:Output|Results?) (?:was|were|is|are) truncated[^\n]*|\n*Full output saved to: [^\n]*")
"""The marks behind a long result that was cut: they name a new file each time."""


class OpencodeDialect:
    """See the module."""

    name = "opencode"
    capabilities = CAPABILITIES

    def read(self, payload: Payload) -> HookEvent:
        name = text(payload, "hook_event_name")
        moment = MOMENTS.get(name, "other")
        tool = Tool(text(payload, "tool") or "unknown", mapping(payload, "arguments"), text(payload, "call") or None)
        exit_code = payload.get("exit")
        outcome = ToolOutcome(
            tool=tool,
            content=without(ADDED, text(payload, "output")),
            error=name == "tool.failed" or (isinstance(exit_code, int) and exit_code != 0),
            exit_code=exit_code if isinstance(exit_code, int) else None,
        )
        tokens, seconds = mapping(payload, "tokens"), payload.get("seconds")
        return HookEvent(
            client=self.name,
            name=name,
            moment=moment,
            session=text(payload, "root") or text(payload, "session"),
            agent=text(payload, "session") if text(payload, "root") not in ("", text(payload, "session")) else None,
            tool=tool if moment == "before" else None,
            outcomes=(outcome,) if moment == "after" else (),
            content=text(payload, "text"),
            model=text(payload, "model") or None,
            usage=_usage(tokens) if tokens else None,
            cwd=text(payload, "cwd"),
            resets_in=max(0.0, float(seconds)) if isinstance(seconds, (int, float)) else None,
            final=False,  # `opencode run` ends at once: it would not see a reply
        )

    def reply(self, event: HookEvent, decision: Decision) -> Payload:
        reply: Payload = {"action": decision.action}
        if decision.action in ("deny", "stop", "defer"):
            reply["reason"] = refusal_of(decision)
        if decision.action == "rewrite":
            reply["arguments"] = decision.arguments or {}
        if decision.messages and self.carries(event):
            reply["text"] = words_of(decision)
        return reply

    def carries(self, event: HookEvent) -> bool:
        return event.name == "tool.execute.after"

    def hear(self, line: bytes) -> TranscriptEntry | None:
        """There is no transcript: the plugin reports text and tokens itself."""
        return None


def _usage(tokens: Payload) -> Usage:
    cache = mapping(tokens, "cache")
    read, written = _count(cache, "read"), _count(cache, "write")
    return Usage(
        input_tokens=_count(tokens, "input") + read + written,
        output_tokens=_count(tokens, "output") + _count(tokens, "reasoning"),
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


def _count(payload: Payload, key: str) -> int:
    value = payload.get(key)
    return value if isinstance(value, int) else 0


PLUGIN = Path(__file__).with_name("opencode_plugin.js")
INLINE = "OPENCODE_CONFIG_CONTENT"
"""A variable with configuration, which opencode merges over its files."""

NOT_A_SESSION = frozenset(
    ("-v", "--version", "-h", "--help", "acp", "agent", "auth", "completion", "debug", "export", "github", "import",
     "mcp", "models", "plugin", "pr", "session", "stats", "uninstall", "upgrade", "attach", "db", "providers")
)  # fmt: skip
VALUES = frozenset(
    ("-m", "--model", "-s", "--session", "--agent", "--format", "-f", "--file", "--title", "--attach", "--port",
     "--variant", "--dir", "--command", "--log-level", "--hostname", "--prompt")
)  # fmt: skip
"""Options that take a value."""


class OpencodeWiring:
    """`arguments` are the words after the client's own."""

    client = OpencodeDialect.name
    api = ""

    def __init__(self, command: tuple[str, ...], arguments: tuple[str, ...]) -> None:
        self._command, self._arguments = command, arguments
        self.task = _message(arguments)

    def wire(self, address: RunAddress) -> Wired:
        plugin = address.folder / "interlock.js"
        plugin.write_bytes(PLUGIN.read_bytes())
        plugin.chmod(0o400)
        given = _given()
        present = given.get("plugin")
        given["plugin"] = [*(present if isinstance(present, list) else []), plugin.as_uri()]
        environment = {INLINE: msgspec.json.encode(given).decode()}
        argv, headless = (*self._command, *self._arguments), self._arguments[:1] == ("run",)
        return Wired(argv=argv, environment=environment, files=(plugin,), headless=headless)


def _given() -> dict[str, object]:
    """The user's own value of that variable."""
    try:
        return from_json(os.environ.get(INLINE) or "{}", dict[str, object])
    except msgspec.DecodeError as error:
        raise BadInput(f"it is not JSON ({error})", where=INLINE, todo="Fix or unset it.") from None


def _message(arguments: tuple[str, ...]) -> str:
    """The message of `opencode run MESSAGE...`."""
    if not arguments or arguments[0] != "run":
        return ""
    words, previous = [], ""
    for word in arguments[1:]:
        if not word.startswith("-") and previous not in VALUES:
            words.append(word)
        previous = word
    return " ".join(words)
