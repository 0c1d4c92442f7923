"""Wiring: adds hooks for one run on top of the user's settings; and resumes a client's session."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from msgspec import Struct

RUNNERS = ("npx", "bunx", "pnpx", "uvx")
"""Commands that run a package by its name."""

HOLD_S = 1_000_000
"""Timeout of a hook: a run can be paused for days. In milliseconds it still fits into 31 bits."""

DEADLINE_S = 10
"""How long the hook client waits for the supervisor."""


class RunAddress(Struct, frozen=True, kw_only=True):
    """A run's socket and gate, and a private folder for the wiring, which is removed after the run.

    `api` is the proxy's address for a client whose own configuration sets the model's address; empty without one.
    """

    socket: Path
    gate: Path
    folder: Path
    closed: bool = False
    api: str = ""


class Wired(Struct, frozen=True, kw_only=True):
    """A command with hooks. `files` are ours, and must not change during the run.

    `settings` are the user's files in which hooks could be switched off; `notes` are for the user. Without a
    person (`headless`) a client's hooks fire at once.
    """

    argv: tuple[str, ...]
    environment: dict[str, str] = {}
    files: tuple[Path, ...] = ()
    settings: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()
    headless: bool = False
    settle: Callable[[], None] = lambda: None


class Wiring(Protocol):
    """One client, recognised in a command.

    `api` is the model's address in the client's own configuration, if a run can change it; else empty.
    """

    client: str
    task: str
    api: str

    def wire(self, address: RunAddress) -> Wired:
        """Add the hooks."""


class HookCommand(Struct, frozen=True):
    """How the hook client is called."""

    def words(self, *, before: bool) -> tuple[str, ...]:
        """The command and its arguments; `before` for hooks that can refuse a step."""
        raise NotImplementedError

    def line(self, *, before: bool) -> str:
        """The same for a shell, which it replaces."""
        import shlex

        return f"exec {shlex.join(self.words(before=before))}"


class HookWords(HookCommand, frozen=True):
    """How the hook client is called for a run."""

    command: tuple[str, ...]
    address: RunAddress
    client: str

    def words(self, *, before: bool) -> tuple[str, ...]:
        options: tuple[str, ...] = ("--before",) if before else ()
        options += ("--closed",) if self.address.closed else ()
        at = ("--deadline", str(DEADLINE_S), "--socket", str(self.address.socket), "--gate", str(self.address.gate))
        return (*self.command, *options, *at, self.client)


def add_groups(
    settings: dict[str, object], events: Iterable[str], group_for: Callable[[str], object]
) -> dict[str, object]:
    """The settings with a group of hooks for each event, after existing groups."""
    hooks = settings.get("hooks")
    merged: dict[str, object] = dict(hooks) if isinstance(hooks, dict) else {}
    for event in events:
        present = merged.get(event)
        merged[event] = [*(present if isinstance(present, list) else []), group_for(event)]
    return {**settings, "hooks": merged}


def without_groups(settings: dict[str, object], is_ours: Callable[[object], bool]) -> dict[str, object]:
    """The settings without the groups that are ours, and without what is then empty."""
    hooks = settings.get("hooks")
    if not isinstance(hooks, dict):
        return settings
    kept: dict[str, object] = {}
    for event, groups in hooks.items():
        left = [group for group in groups if not is_ours(group)] if isinstance(groups, list) else groups
        if left or not groups:
            kept[event] = left
    return {key: kept if key == "hooks" else value for key, value in settings.items() if key != "hooks" or kept}


def program_of(argv: tuple[str, ...]) -> str:
    """The name of a command's program."""
    return Path(argv[0]).name.removesuffix(".exe")


def wire(wiring: Wiring, address: RunAddress) -> Wired:
    """Add the hooks; a failure leaves nothing behind."""
    address.folder.mkdir(mode=0o700)
    try:
        return wiring.wire(address)
    except BaseException:
        import shutil

        shutil.rmtree(address.folder, ignore_errors=True)
        raise


def unwire(address: RunAddress, wired: Wired) -> None:
    """Remove everything again, after copying what the client wrote to where it would have been."""
    import shutil

    try:
        wired.settle()
    finally:
        shutil.rmtree(address.folder, ignore_errors=True)


Resumption = Callable[[tuple[str, ...], str, str, str], tuple[str, ...]]
"""Returns the command that resumes a session, from the command, its prompt, the session and the new prompt."""

SESSION_OPTIONS = frozenset(("--resume", "-r", "--session-id", "--session", "-s"))


def resume_claude(argv: tuple[str, ...], task: str, session: str, words: str) -> tuple[str, ...]:
    """claude ... --resume SESSION -p WORDS."""
    kept = without_options(without_words(argv, (task,)), SESSION_OPTIONS - {"-s", "--session"}, {"-c", "--continue"})
    return (*kept, "--resume", session, "--", words) if "--" not in kept else (*kept, words)


def resume_codex(argv: tuple[str, ...], task: str, session: str, words: str) -> tuple[str, ...]:
    """codex exec ... resume SESSION WORDS."""
    return (*without_words(argv, (task,)), "resume", session, words)


def resume_gemini(argv: tuple[str, ...], task: str, session: str, words: str) -> tuple[str, ...]:
    """gemini --resume SESSION ... -p WORDS."""
    kept = without_options(argv, SESSION_OPTIONS - {"-s", "--session"}, frozenset())
    replaced = tuple(words if word == task else word for word in kept)
    return (*replaced, "--resume", session)


def resume_opencode(argv: tuple[str, ...], task: str, session: str, words: str) -> tuple[str, ...]:
    """opencode run --session SESSION ... WORDS."""
    kept = without_words(argv, tuple(task.split(" ")) if task not in argv else (task,))
    kept = without_options(kept, frozenset(("-s", "--session")), {"-c", "--continue"})
    return (*kept, "--session", session, words)


def without_words(argv: tuple[str, ...], words: tuple[str, ...]) -> tuple[str, ...]:
    """The command without its prompt: the last occurrence of these words in a row."""
    for at in range(len(argv) - len(words), 0, -1):
        if argv[at : at + len(words)] == words:
            return (*argv[:at], *argv[at + len(words) :])
    return argv


def without_options(argv: tuple[str, ...], valued: frozenset[str], flags: frozenset[str] | set[str]) -> tuple[str, ...]:
    """The command without some options."""
    kept: list[str] = []
    words = iter(argv)
    for word in words:
        if word in valued:
            next(words, None)
        elif word not in flags and word.partition("=")[0] not in valued:
            kept.append(word)
    return tuple(kept)


RESUMPTIONS: dict[str, Resumption] = {
    "claude-code": resume_claude,
    "codex": resume_codex,
    "gemini": resume_gemini,
    "opencode": resume_opencode,
}
