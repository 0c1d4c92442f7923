"""The Claude Agent SDK with the Claude Code that it brings, the real one."""

from interlock.adapters.inprocess.abilities import CLAUDE_AGENT_SDK

from .contract import Contract, program, pytestmark
from .frameworks import Framework

__all__ = ["program", "pytestmark"]


class TestClaudeAgentSDK(Contract):
    framework = Framework("claude-agent-sdk", CLAUDE_AGENT_SDK, ("claude-haiku-4-5", "claude-opus-5-5"))
