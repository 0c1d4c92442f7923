"""opencode: its plugin speaks in our own words (see opencode_plugin.js), so there is little to translate."""

from __future__ import annotations

from ...core import Capability, Decision, Tool, Usage
from .client_format import Payload, mapping, refusal_of, text, words_of
from .event import HookEvent, Moment, ToolOutcome, TranscriptEntry

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
            content=text(payload, "output"),
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
            final=False,  # `opencode run` ends at once: nothing that is said then is heard
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
        """There is no transcript: the plugin tells words and tokens itself."""
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
