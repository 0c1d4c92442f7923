"""The agent clients with hooks: built-in ones, and those that packages add."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from ...core import HOOK_CLIENTS, Adapter, BadInput
from ..steps.step_protocol import ProcessAdapter
from . import claude_code, codex, gemini, opencode
from .claude_code import ClaudeCodeDialect
from .client_format import Dialect
from .codex import CodexDialect
from .exchange import HookAdapter
from .gemini import GeminiDialect
from .opencode import OpencodeDialect
from .wiring import RUNNERS, Wiring, program_of

if TYPE_CHECKING:
    from .installation import FileChange

Plan = Callable[[Path | None], "tuple[FileChange, ...]"]
"""Returns what installing or uninstalling changes, in a project's settings or in the user's."""


class HookClient(Struct, frozen=True, kw_only=True):
    """One agent client: the format of its hooks, how to add them to a command, and how to install them permanently.

    `dialect` is called once per run. `program` is the command that starts the client and `packages` are its names
    for npx and the like; a command whose first argument is in `not_a_session` starts no agent. `wiring` takes the
    words up to the program and those after it. Without `install` and `uninstall`, hooks can be wired in for single runs
    only. `title`, `how` and `notes` are for the table of agents.
    """

    dialect: Callable[[], Dialect]
    program: str
    wiring: Callable[[tuple[str, ...], tuple[str, ...]], Wiring]
    title: str
    packages: tuple[str, ...] = ()
    not_a_session: frozenset[str] = frozenset()
    install: Plan | None = None
    uninstall: Plan | None = None
    how: str = "hooks"
    notes: str = ""

    @property
    def name(self) -> str:
        return self.dialect().name


def _later(name: str) -> Plan:
    """A plan of `settings_files`, which is imported on first use as only installing needs it."""

    def plan(project: Path | None) -> tuple[FileChange, ...]:
        from . import settings_files

        made: Plan = getattr(settings_files, name)
        return made(project)

    return plan


BUILT_IN = (
    HookClient(
        dialect=ClaudeCodeDialect,
        program="claude",
        wiring=claude_code.ClaudeWiring,
        title="Claude Code",
        packages=("@anthropic-ai/claude-code",),
        not_a_session=claude_code.NOT_A_SESSION,
        install=_later("install_claude"),
        uninstall=_later("uninstall_claude"),
        notes="the complete feed (PostToolBatch) includes calls that failed before they ran",
    ),
    HookClient(
        dialect=CodexDialect,
        program="codex",
        wiring=codex.CodexWiring,
        title="Codex CLI",
        packages=("@openai/codex",),
        not_a_session=codex.NOT_A_SESSION,
        install=_later("install_codex"),
        uninstall=_later("uninstall_codex"),
        notes="stopped by ending its process; no event for calls that fail before they run",
    ),
    HookClient(
        dialect=GeminiDialect,
        program="gemini",
        wiring=gemini.GeminiWiring,
        title="Gemini CLI",
        packages=("@google/gemini-cli",),
        not_a_session=gemini.NOT_A_SESSION,
        install=_later("install_gemini"),
        uninstall=_later("uninstall_gemini"),
        notes="no event for calls that fail before they run",
    ),
    HookClient(
        dialect=OpencodeDialect,
        program="opencode",
        wiring=opencode.OpencodeWiring,
        title="opencode",
        packages=("opencode-ai",),
        not_a_session=opencode.NOT_A_SESSION,
        install=_later("install_opencode"),
        uninstall=_later("uninstall_opencode"),
        how="plugin",
        notes="what the model says is not visible, only what it does and costs",
    ),
)


def register_hook_client(client: HookClient) -> None:
    """Add a client for as long as this program runs."""
    HOOK_CLIENTS.register(client)


def unregister_hook_client(client: HookClient) -> None:
    """Remove a registered client."""
    HOOK_CLIENTS.unregister(client)


def hook_clients() -> tuple[HookClient, ...]:
    """Every client known now: built-in, installed, registered."""
    found = HOOK_CLIENTS.found(lambda thing: isinstance(thing, HookClient))
    return (*BUILT_IN, *(client for _, client in found if isinstance(client, HookClient)))


def new_dialects() -> tuple[Dialect, ...]:
    """A new dialect of each client, for one run: some remember which calls are under way."""
    return tuple(client.dialect() for client in hook_clients())


def dialect_named(name: str) -> Dialect | None:
    return next((dialect for dialect in new_dialects() if dialect.name == name), None)


def adapter_named(name: str) -> Adapter:
    """The adapter of a run: of a known client, else of any process."""
    dialect = dialect_named(name)
    return ProcessAdapter() if dialect is None else HookAdapter(dialect.name, dialect.capabilities)


def plan_install(client: str, project: Path | None) -> tuple[FileChange, ...]:
    """What installing changes; nothing is changed yet, except that the hook client is copied."""
    return _plan(client, lambda one: one.install)(project)


def plan_uninstall(client: str, project: Path | None) -> tuple[FileChange, ...]:
    """What uninstalling changes."""
    return _plan(client, lambda one: one.uninstall)(project)


def _plan(name: str, of: Callable[[HookClient], Plan | None]) -> Plan:
    plans = {client.name: plan for client in hook_clients() if (plan := of(client)) is not None}
    if name not in plans:
        raise BadInput(f"there are no hooks to install for {name!r}", todo=f"Known: {', '.join(plans)}.")
    return plans[name]


def wiring_for(argv: tuple[str, ...]) -> Wiring | None:
    """The wiring for the agent that this command starts; None if it starts no known agent."""
    at = _program_at(argv)
    if at is None:
        return None
    client, position = at
    command, arguments = argv[: position + 1], argv[position + 1 :]
    if arguments and arguments[0] in client.not_a_session:
        return None
    return client.wiring(command, arguments)


def _program_at(argv: tuple[str, ...]) -> tuple[HookClient, int] | None:
    """The client, and the position of its program in the command."""
    known = {client.program: client for client in hook_clients()}
    first = program_of(argv)
    if first in known:
        return known[first], 0
    if first in RUNNERS:
        for position, word in enumerate(argv[1:], 1):
            if not word.startswith("-"):
                package = word if not word.rfind("@") > 0 else word[: word.rfind("@")]
                return next(
                    ((one, position) for one in known.values() if package in (*one.packages, one.program)), None
                )
    if first == "env":
        for position, word in enumerate(argv[1:], 1):
            if "=" not in word and not word.startswith("-"):
                found = known.get(Path(word).name)
                return (found, position) if found is not None else None
    return None
