"""Context reinforcement: what the run is for, said again, with what matters to the issue emphasised."""

from __future__ import annotations

import hashlib

from msgspec.structs import replace

from ..config import ContextReinforcement
from ..core import HISTORY, Context, Inject, Issue, Message, RunState
from .attempt import FIRST, Attempt
from .emphasis import ADDITIONS, EXAMPLES, is_relevant
from .message import guidance, one_line
from .outcome import Continue
from .values import by_priority

NAME = "context_reinforcement"

SHOWN: dict[str, int | None] = {"light": 3, "medium": 6, "strong": None}
"""How many constraints, goals, boundaries and examples a strength repeats; None means all."""

REQUEST_LENGTH = 4000
"""Longer requests are cut: repeating a document does not make it clearer."""


def context_reinforcement(
    issue: Issue, state: RunState, config: ContextReinforcement, now: float, attempt: Attempt = FIRST
) -> Continue:
    """Repeat the context. The same text is never added twice: then only what is new is said, or nothing."""
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
    """Put the stored context back after the agent has compacted its own; None if there is none.

    What was said before the compaction is gone from the conversation, so it may be said again.
    """
    body = context_text(state.context, "strong", None, examples=True)
    if not body:
        return replace(state, reinforced=()), None
    text = f"Your conversation was shortened. Your task has not changed.\n\n{body}"
    cause = Issue(id="compaction", type="compaction", step=state.step, description="the conversation was shortened")
    return replace(state, reinforced=(digest(body),)), guidance(text, NAME, cause, state, now)


def merged(context: Context, issue: Issue) -> Context:
    """The context with what this type of issue adds to the constraints, each once."""
    new = tuple(line for line in ADDITIONS.get(issue.type, ()) if line not in context.constraints)
    return replace(context, constraints=(*context.constraints, *new)) if new else context


def context_text(context: Context, strength: str, issue: Issue | None, *, examples: bool) -> str:
    """The context as text: request, constraints, goals, boundaries, examples; what is missing is left out."""
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
