"""How each client is started again in the session that it had, with something to say to it."""

from __future__ import annotations

from collections.abc import Callable

Resumption = Callable[[tuple[str, ...], str, str, str], tuple[str, ...]]
"""From the command, its prompt, the session and the new prompt to the command that continues the session."""

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
    """The command without its prompt: the last place where these words follow one another."""
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
