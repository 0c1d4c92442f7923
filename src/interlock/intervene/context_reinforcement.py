"""Context reinforcement: repeats the task, emphasising what is relevant to the issue."""

from __future__ import annotations

import hashlib
import re

from msgspec.structs import replace

from ..config import ContextReinforcement
from ..core import (
    BROKEN_CALLS,
    DESTRUCTIVE_ACTION,
    EXPLORATION_WANDERING,
    GOAL_DRIFT,
    HALLUCINATION,
    HISTORY,
    LONG_WAIT,
    LOOP,
    REPETITIVE_ERRORS,
    RESOURCE_SPIRAL,
    SCOPE_CREEP,
    Context,
    Inject,
    Issue,
    Message,
    RunState,
)
from .message import FIRST, Attempt, guidance, one_line
from .outcome import Continue
from .templates import by_priority

NAME = "context_reinforcement"

SHOWN: dict[str, int | None] = {"light": 3, "medium": 6, "strong": None}
"""How many constraints, goals, boundaries and examples a strength repeats; None means all."""

REQUEST_LENGTH = 4000
"""Longer requests are truncated: repeating a document does not make it clearer."""


def context_reinforcement(
    issue: Issue, state: RunState, config: ContextReinforcement, now: float, attempt: Attempt = FIRST
) -> Continue:
    """Repeat the context. The same text is never sent twice: only new text is sent, or nothing."""
    context = merged(state.context, issue)
    state = replace(state, context=context)
    reason = f"A reminder because of this: {one_line(issue.description or issue.type)}"
    if news := attempt.news():
        reason = f"{news} {reason}"
    body = context_text(context, config.reinforcement_strength, issue, examples=config.include_examples)
    said, new = state.reinforced, [mark for mark in (digest(reason), digest(body)) if mark not in state.reinforced]
    if not new:
        return Continue(state=state, log="the same reminder is already in the conversation: not added again")
    if digest(body) in said:
        body = "The earlier reminder still applies. Read it again before you continue."
    text = f"{reason}\n\n{body}".strip()
    state = replace(state, reinforced=(*said, *new)[-HISTORY:])
    message = guidance(text, NAME, issue, state, now)
    return Continue(
        state=state, log=f"context repeated ({config.reinforcement_strength})", directives=(Inject(message),)
    )


def restore_after_compaction(state: RunState, now: float) -> tuple[RunState, Message | None]:
    """Restore the stored context after the agent has compacted its own; None if there is none.

    Earlier messages are no longer in the conversation, so they may be repeated.
    """
    body = context_text(state.context, "strong", None, examples=True)
    if not body:
        return replace(state, reinforced=()), None
    text = f"Your conversation was shortened. Your task has not changed.\n\n{body}"
    cause = Issue(id="compaction", type="compaction", step=state.step, description="the conversation was shortened")
    return replace(state, reinforced=(digest(body),)), guidance(text, NAME, cause, state, now)


def merged(context: Context, issue: Issue) -> Context:
    """The context with the constraints that this type of issue adds, without duplicates."""
    new = tuple(line for line in ADDITIONS.get(issue.type, ()) if line not in context.constraints)
    return replace(context, constraints=(*context.constraints, *new)) if new else context


def context_text(context: Context, strength: str, issue: Issue | None, *, examples: bool) -> str:
    """The context as text: request, constraints, goals, boundaries, examples; missing parts are omitted."""
    count = SHOWN[strength]
    blocks: list[str] = []
    if context.original_prompt:
        blocks.append(f"The original request:\n{bounded(context.original_prompt)}")
        if context.instructions:
            blocks.append(f"The instructions that it points to:\n{bounded(context.instructions)}")
    elif context.primary_goal:
        blocks.append(f"The goal:\n{bounded(context.primary_goal)}")
    blocks.append(_block("Constraints", constraint_lines(context, issue)[:count]))
    blocks.append(_block("Goals, the most important first", goal_lines(context)[:count]))
    blocks.append(_block("Boundaries", list(context.boundaries)[:count]))
    blocks.append(_block("Expected paths", list(context.places)[:count]))
    if examples:
        built_in = EXAMPLES.get(issue.type, ()) if issue is not None else ()
        shown = list(dict.fromkeys((*context.examples, *built_in)))
        blocks.append(_block("Examples", shown[:count]))
    return "\n\n".join(block for block in blocks if block)


def constraint_lines(context: Context, issue: Issue | None) -> list[str]:
    """The constraints, those relevant to the issue first and emphasised."""
    if issue is None:
        return list(context.constraints)
    relevant = [line for line in context.constraints if is_relevant(line, issue)]
    return [f"IMPORTANT: {line}" for line in relevant] + [line for line in context.constraints if line not in relevant]


def goal_lines(context: Context) -> list[str]:
    """The goals by priority with their progress."""
    lines = [
        goal.text if goal.progress is None else f"{goal.text} ({goal.progress:.0%} done)"
        for goal in by_priority(context.goals)
    ]
    if context.primary_goal and context.original_prompt and context.primary_goal not in context.original_prompt:
        lines = [line for line in lines if not line.startswith(context.primary_goal)]
        lines.insert(0, context.primary_goal)
    if context.completed_subtasks:
        lines.append(f"Already done: {', '.join(context.completed_subtasks)}")
    return lines


def bounded(text: str) -> str:
    return text if len(text) <= REQUEST_LENGTH else text[:REQUEST_LENGTH] + " …"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _block(title: str, lines: list[str]) -> str:
    return f"{title}:\n" + "\n".join(f"- {line}" for line in lines) if lines else ""


ADDITIONS: dict[str, tuple[str, ...]] = {
    SCOPE_CREEP: ("Work only in the given directories.", "Touch no system files or configuration outside the project."),
    RESOURCE_SPIRAL: ("Avoid unnecessary operations.", "Work incrementally."),
}

EXAMPLES: dict[str, tuple[str, ...]] = {
    REPETITIVE_ERRORS: (
        "A command fails with 'No such file': list the folder first, then use the name that is really there.",
        "A test fails the same way twice: read the traceback and the code that it names before you run it again.",
    ),
    LOOP: (
        "You have read a file and it has not changed: use what you read instead of reading it again.",
        "An edit did not make the test pass: question your assumption instead of changing the same line again.",
    ),
    SCOPE_CREEP: (
        "The task names src/billing: a change in src/auth needs a reason first, even if it looks like an improvement.",
        "A setting outside the project seems wrong: say so, and do not change it.",
    ),
    GOAL_DRIFT: (
        "You were asked to fix one test and found untidy code next to it: fix the test, mention the code at the end.",
    ),
    RESOURCE_SPIRAL: (
        "A search returns thousands of lines: narrow it, or count first, instead of printing everything.",
        "A thousand files are to be converted: convert ten, check them, then continue in small batches.",
    ),
    EXPLORATION_WANDERING: (
        "You know which module holds the function: open that one file instead of listing more folders.",
    ),
    HALLUCINATION: (
        "Before you write 'all tests pass', run them and quote the last line of their output.",
        "Before you import a helper, check that it exists.",
    ),
    DESTRUCTIVE_ACTION: ("Instead of deleting a folder to start over, move the one file that is in the way.",),
    BROKEN_CALLS: ("A command of yours had no effect: send `ls` alone, and look at what comes back.",),
    LONG_WAIT: ("A deployment has not become ready for a quarter of an hour: look at its events, then report them.",),
}
"""Examples of good continuations, by type of issue; shown after the run's own examples."""

RELEVANT_WORDS: dict[str, str] = {
    REPETITIVE_ERRORS: "error fail failing retry attempt test tests permission approach",
    LOOP: "repeat retry attempt again test tests approach stop",
    SCOPE_CREEP: "only outside inside directory directories folder path paths file files scope configuration "
    "system secret secrets project touch modify",
    GOAL_DRIFT: "goal focus only task scope requirement requirements must",
    RESOURCE_SPIRAL: "memory token tokens cost budget time batch limit limits size small operations incrementally "
    "resources processes",
    EXPLORATION_WANDERING: "only directory directories focus search explore scope path paths",
    HALLUCINATION: "verify check exists exist real test tests evidence true invent claim read",
    DESTRUCTIVE_ACTION: "delete remove overwrite backup production database force push destroy undo never drop",
}
"""Words that make a constraint relevant to a type, whatever the issue's own description."""

COMMON = """about after agent also another been before being called could does file files from have into more same seen
should some step steps such than that their them then there these they this time times tool used using very were what
when which while will with without would your"""
"""Words in descriptions that say nothing about the issue."""


COMMON_WORDS = frozenset(COMMON.split())


def is_relevant(constraint: str, issue: Issue) -> bool:
    """Whether a constraint is relevant to the issue."""
    said = set(_words(constraint))
    if issue.type in ADDITIONS and constraint in ADDITIONS[issue.type]:
        return True
    about = set(RELEVANT_WORDS.get(issue.type, "").split())
    about |= {word for word in _words(issue.description) if len(word) >= 4 and word not in COMMON_WORDS}
    return bool(said & about)


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9_]+", text[:4000].lower())
