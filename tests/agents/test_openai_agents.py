"""The OpenAI Agents SDK, the real one."""

from interlock.adapters.inprocess.abilities import OPENAI_AGENTS

from .contract import Contract, program, pytestmark
from .frameworks import Framework

__all__ = ["program", "pytestmark"]


class TestOpenAIAgents(Contract):
    framework = Framework("openai-agents", OPENAI_AGENTS)
