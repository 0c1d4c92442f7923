"""The supported agents, one entry each; the table in docs/agents.md is generated from them."""

from __future__ import annotations

from msgspec import Struct

from ..core import Capability
from .hooks.clients import BUILT_IN
from .inprocess import adapter as inprocess
from .proxy import PROXIED
from .steps.step_protocol import PRINTING, SILENT, SPEAKING

COLUMNS: tuple[Capability, ...] = (
    "deny", "rewrite", "inject", "hold", "defer", "stop", "switch_model", "usage", "conversation", "relaunch",
)  # fmt: skip


class Client(Struct, frozen=True):
    """One kind of agent: its name in commands, its title for people, and its capabilities.

    `how` is a short description of the connection, `module` the module for it, `notes` what else to know.
    """

    name: str
    title: str
    how: str
    module: str
    capabilities: frozenset[Capability]
    notes: str = ""


PYTHON: tuple[Client, ...] = (
    Client(
        "langchain", "LangChain, LangGraph", "`middleware=[supervise()]`", "interlock.adapters.langchain",
        inprocess.LANGCHAIN, "a stopped run ends with a message that says so",
    ),
    Client(
        "openai-agents", "OpenAI Agents SDK", "`supervise().run(agent)`", "interlock.adapters.openai_agents",
        inprocess.OPENAI_AGENTS, "hosted tools are visible in the conversation only",
    ),
    Client(
        "claude-agent-sdk", "Claude Agent SDK", "`supervise(options)`", "interlock.adapters.claude_agent_sdk",
        inprocess.CLAUDE_AGENT_SDK, "a rollback restores files, not the conversation",
    ),
    Client(
        "pydantic-ai", "Pydantic AI", "`capabilities=[supervise()]`", "interlock.adapters.pydantic_ai",
        inprocess.PYDANTIC_AI,
    ),
    Client(
        "mini-swe-agent", "mini-swe-agent", "`supervise(agent).run()`", "interlock.adapters.mini_swe_agent",
        inprocess.MINI_SWE_AGENT,
    ),
    Client(
        "smolagents", "smolagents", "`supervise(agent).run()`", "interlock.adapters.smolagents",
        inprocess.SMOLAGENTS, "code that the agent writes is supervised through the tools that it calls",
    ),
)  # fmt: skip
"""Frameworks whose agents run in our process."""

CLIENTS: tuple[Client, ...] = (
    Client("silent", "silent process", "`interlock run`", "interlock.adapters.command", SILENT, "held by freezing it"),
    Client(
        "printing", "process that prints its steps", "`--steps stdout`", "interlock.adapters.command", PRINTING,
        "steps are observed after they happen",
    ),
    Client("process", "process that reports its steps", "`INTERLOCK_SOCKET`", "interlock.adapters.command", SPEAKING),
    Client(
        "proxy", "agent behind the model proxy", "its base URL", "interlock.adapters.proxy", PROXIED,
        "results are seen one request late; in front of a hooked client it adds switch_model and conversation",
    ),
    *(
        Client(one.name, one.title, one.how, one.dialect.__module__, one.dialect().capabilities, one.notes)
        for one in BUILT_IN
    ),
    *PYTHON,
)  # fmt: skip


def capability_table() -> str:
    """The capabilities of each agent, as the Markdown table of docs/agents.md."""
    rows = [["", "reached by", *COLUMNS, "notes"], ["---"] * (len(COLUMNS) + 3)]
    for client in CLIENTS:
        can = ["yes" if column in client.capabilities else "" for column in COLUMNS]
        rows.append([client.title, client.how, *can, client.notes])
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)
