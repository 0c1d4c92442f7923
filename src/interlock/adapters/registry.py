"""The agents that Interlock reaches: one entry each, from which the table in docs/agents.md is made."""

from __future__ import annotations

from msgspec import Struct

from ..core import Capability
from .process.adapter import SILENT, SPEAKING

COLUMNS: tuple[Capability, ...] = (
    "deny", "rewrite", "inject", "hold", "defer", "stop", "switch_model", "usage", "conversation", "relaunch",
)  # fmt: skip


class Client(Struct, frozen=True):
    """One kind of agent: its name in commands, its title for people, and what can be done to it.

    `how` says in a few words how it is reached, `module` which of our modules does it, `notes` what else to know.
    """

    name: str
    title: str
    how: str
    module: str
    capabilities: frozenset[Capability]
    notes: str = ""


CLIENTS: tuple[Client, ...] = (
    Client("silent", "silent process", "`interlock run`", "interlock.adapters.process", SILENT, "held by freezing it"),
    Client("process", "process that tells its steps", "`INTERLOCK_SOCKET`", "interlock.adapters.process", SPEAKING),
)


def client_named(name: str) -> Client | None:
    """The entry with this name."""
    return next((client for client in CLIENTS if client.name == name), None)


def capability_table() -> str:
    """Who can do what, as the Markdown table of docs/agents.md."""
    rows = [["", "reached by", *COLUMNS, "notes"], ["---"] * (len(COLUMNS) + 3)]
    for client in CLIENTS:
        can = ["yes" if column in client.capabilities else "" for column in COLUMNS]
        rows.append([client.title, client.how, *can, client.notes])
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)
