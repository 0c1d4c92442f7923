"""The built-in hints, by type of issue. A line whose placeholder has no value is left out."""

from __future__ import annotations

from ..core import (
    BROKEN_CALLS,
    DESTRUCTIVE_ACTION,
    EXPLORATION_WANDERING,
    GOAL_DRIFT,
    HALLUCINATION,
    LOOP,
    REPETITIVE_ERRORS,
    RESOURCE_SPIRAL,
    SCOPE_CREEP,
)

DEFAULT = "default"
"""The name of the general hint, for every type without one of its own."""

HINTS: dict[str, str] = {
    DEFAULT: """\
{description}
Stop and check this before you continue: what did you expect, what happened, and what will you do differently?
""",
    REPETITIVE_ERRORS: """\
The same error keeps coming back. Take a different approach instead of trying the same thing again.
Observed: {description}
The error: {error}
The path: {path}
Before the next attempt, check that what you refer to exists, that its permissions allow what you want to do, and \
that its spelling is right.
""",
    LOOP: """\
You are going in circles: the same actions give the same outcome. Take a different approach.
Observed: {description}
The repeated call: {tool}
The error: {error}
The path: {path}
Before you continue, check that what you refer to exists, that its permissions allow what you want to do, and that its \
spelling is right. Repeat a call only after something has changed that makes another outcome likely.
""",
    SCOPE_CREEP: """\
You are working outside what this task needs.
Observed: {description}
The task: {task}
The expected paths: {expected_paths}
Outside of them: {outside_path}
Return to the expected paths. If you really need the other path, give the reason before you touch it again.
""",
    GOAL_DRIFT: """\
Your last steps lead away from the goal.
Observed: {description}
The goal: {goal}
Progress so far: {progress}
The next step: {next_step}
Say in one sentence how your next action serves the goal, then take it.
""",
    EXPLORATION_WANDERING: """\
You have explored for a while without using what you found.
Observed: {description}
The goal: {goal}
Progress so far: {progress}
The next step: {next_step}
Write down what you know already and act on it; look only at what the next step needs.
""",
    RESOURCE_SPIRAL: """\
You are spending more than the results justify.
Observed: {description}
Usage so far: {usage}
What grows: {growth}
Drop work that the task does not need, use smaller batches, and clean up what you no longer need (files, processes, \
long outputs).
""",
    BROKEN_CALLS: """\
Your calls do nothing, because their arguments are garbled.
Observed: {description}
The tool: {tool}
Send one small call with plain arguments, without any prefix or markup, and read its result before you send the next.
""",
    HALLUCINATION: """\
Something that you stated does not match what happened.
Observed: {description}
What was claimed: {claim}
What the trace says: {observed}
Look at the real file or output before you build on it, and correct what you said.
""",
    DESTRUCTIVE_ACTION: """\
That call is dangerous: it harms what people rely on, or cannot be undone. Do not try it again.
Observed: {description}
The command: {command}
The path: {path}
What to do instead: {instead}
Use a method that can be undone and that stays within the task, or ask first.
""",
}
