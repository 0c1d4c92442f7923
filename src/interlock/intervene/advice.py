"""What to try, the cause and the prevention, by type of issue; and what a call that review blocks would do."""

from __future__ import annotations

from typing import NamedTuple

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
    Issue,
)


class Advice(NamedTuple):
    """For one type of issue: what the agent can try, and what people read in a report."""

    attempt: str
    cause: str
    immediate: tuple[str, ...]
    preventive: tuple[str, ...]
    configuration: tuple[str, ...]


def advice_for(issue: Issue) -> Advice:
    """The advice for an issue's type; general advice for an unknown type."""
    if issue.type == DESTRUCTIVE_ACTION:
        return advice_on_danger(issue)
    if issue.type == RESOURCE_SPIRAL and "count" in issue.details:
        return FOR_NOTHING
    return ADVICE.get(issue.type, GENERAL)


def advice_on_danger(issue: Issue) -> Advice:
    """Advice for the harm that the call does, or would have done had it not been blocked."""
    danger = danger_of(issue)
    refused = issue.details.get("prevented") is True
    return Advice(
        attempt=danger.attempt,
        cause=f"The agent tried to {danger.tried}; the call was blocked." if refused else danger.done,
        immediate=(REFUSED if refused else danger.immediate,),
        preventive=(danger.preventive,),
        configuration=("review.rules_path: a rule that blocks this kind of command",),
    )


REFUSED = "No harm done: the call was blocked. Find out why the agent wanted it, and give it another way."


FOR_NOTHING = Advice(
    attempt="Stop asking for what you have already seen; say what is missing, and try another way.",
    cause="Call after call changed nothing and returned nothing new.",
    immediate=("Read the last calls: they repeat, or fail in the same way. Give the agent what it needs.",),
    preventive=("Tell the agent what to do when it is stuck: stop, and say why.",),
    configuration=("limits.max_steps: a bound on calls",),
)
"""For a spiral measured by repeated calls rather than by resources."""


GENERAL = Advice(
    attempt="Say what went wrong, choose another approach and take one small step that you can check.",
    cause="The agent did not react to what it saw.",
    immediate=("Read the last actions and the steps that prove the issue.",),
    preventive=("Describe the task with a goal, constraints and expected paths.",),
    configuration=("interventions.strategy.type: how quickly interventions escalate",),
)

ADVICE: dict[str, Advice] = {
    REPETITIVE_ERRORS: Advice(
        attempt="Read the error, check the path, the permissions and the spelling, then take a different approach.",
        cause="The same failure occurred again and again without a change of approach.",
        immediate=("Run the failing command by hand and check whether the cause is outside the agent.",),
        preventive=("Give the agent what the failing step needs: files, permissions, tools, network.",),
        configuration=("detect.sensitivity: how soon repeated errors raise an alarm",),
    ),
    LOOP: Advice(
        attempt="Do not repeat the call: its result will not change. Change something that matters first.",
        cause="The agent repeated itself although nothing changed between the rounds.",
        immediate=("Find out what would have to change for the repeated call to give another result.",),
        preventive=("State in the task when the agent should give up and report.",),
        configuration=("limits.max_steps: a bound for the whole run",),
    ),
    SCOPE_CREEP: Advice(
        attempt="Return to the expected paths; if another path is needed, say why first.",
        cause="The agent worked on files that the task does not need.",
        immediate=("Check the files outside the expected paths, especially secrets and configuration.",),
        preventive=("Declare expected paths and boundaries in the context of the run.",),
        configuration=("review.rules_path: a rule that blocks the paths that matter",),
    ),
    GOAL_DRIFT: Advice(
        attempt="Read the goal again and take the one step that serves it most directly.",
        cause="The steps had less and less to do with the goal.",
        immediate=("Compare the last actions with the goal.",),
        preventive=("Split the task into goals with priorities.",),
        configuration=("interventions.context_reinforcement.reinforcement_strength: strong",),
    ),
    RESOURCE_SPIRAL: Advice(
        attempt="Drop unnecessary work, use smaller batches and clean up before you continue.",
        cause="Resource use kept growing without matching progress.",
        immediate=("Check the spend and what is still running.",),
        preventive=("Give the run limits that fit the task.",),
        configuration=("limits.max_tokens, limits.max_cost_usd, limits.max_memory_mb",),
    ),
    EXPLORATION_WANDERING: Advice(
        attempt="Stop exploring; write down what you know and act on it.",
        cause="The agent looked at more and more places without a result.",
        immediate=("Tell the agent where the relevant files are.",),
        preventive=("Name the relevant directories in the task.",),
        configuration=("limits.max_file_operations: a bound on exploring",),
    ),
    BROKEN_CALLS: Advice(
        attempt="Send one small call with plain arguments and read its result before the next.",
        cause="The agent's calls were garbled, so that they did nothing.",
        immediate=("Read the last calls: a prefix, markup or missing arguments make them useless.",),
        preventive=("Check that the model and the client agree on how tools are called.",),
        configuration=("limits.max_steps: a bound on calls",),
    ),
    HALLUCINATION: Advice(
        attempt="Verify each claim against the files and the real output before you build on it.",
        cause="The agent stated things that the trace or the disk contradicts, and built on them.",
        immediate=("Check the claims listed in the issue; do not trust results that rest on them.",),
        preventive=("Ask for evidence: commands that show each result.",),
        configuration=("detect.judge.enabled: a model checks claims too",),
    ),
}

DEFAULT = "default"
"""The name of the general hint, for every type without its own."""

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
"""The built-in hints for the agent. A line whose placeholder has no value is omitted."""


class Danger(NamedTuple):
    """One kind of harm: `tried` follows "tried to", `done` is the cause if the call ran."""

    attempt: str
    tried: str
    done: str
    immediate: str
    preventive: str


def danger_of(issue: Issue) -> Danger:
    """The danger that the issue's first rule protects against; loss of data if it has no rule."""
    rules = issue.details.get("rules")
    first = str(rules[0]) if isinstance(rules, list | tuple) and rules else ""
    return next((danger for prefix, danger in BY_RULE if first.startswith(prefix)), LOSS)


LOSS = Danger(
    attempt="Use a method that can be undone, stay in the workspace, and ask before you delete anything.",
    tried="do something that destroys data or cannot be undone",
    done="The agent did something that destroys data or cannot be undone.",
    immediate="Find out what was destroyed, and restore it from a checkpoint or a backup.",
    preventive="Run the agent without access to what must not be lost.",
)

SECRETS = Danger(
    attempt="Do not read secrets: let the tool that needs one find it, or ask for what you need.",
    tried="read private keys, passwords or tokens",
    done="The agent read private keys, passwords or tokens, which have reached the model and its logs.",
    immediate="Replace the secrets that were read; anyone who sees the conversation can use them.",
    preventive="Run the agent as a user who cannot read secrets, and hand them to the tools that need them.",
)

UNREAD_CODE = Danger(
    attempt="Save the code, read it, and run it only when you know what it does.",
    tried="run code that nobody has reviewed",
    done="The agent ran code that nobody has reviewed.",
    immediate="Read the code that ran, and check the machine for what it changed.",
    preventive="Install what the task needs beforehand, and keep the agent off the network otherwise.",
)

RIGHTS = Danger(
    attempt="Work with the rights that you have; ask if the task needs more.",
    tried="gain rights or weaken its restrictions",
    done="The agent gained rights or weakened its restrictions.",
    immediate="Find out which rights, keys and settings were changed, and revert them.",
    preventive="Run the agent in a container or as a user with few rights.",
)

OTHERS = Danger(
    attempt="Leave shared systems alone; prepare the change and let a person make it.",
    tried="change what others depend on",
    done="The agent changed what others depend on.",
    immediate="Find out who is affected, tell them, and revert the change if possible.",
    preventive="Do not give the agent credentials for live systems.",
)

BY_RULE: tuple[tuple[str, Danger], ...] = (
    ("secrets.read", SECRETS),
    ("fetch.", UNREAD_CODE),
    ("concealed.", UNREAD_CODE),
    ("privilege.", RIGHTS),
    ("supervision.", RIGHTS),
    ("containers.escape", RIGHTS),
    ("effects.autostart", RIGHTS),
    ("effects.profile", RIGHTS),
    ("packages.publish", OTHERS),
    ("services.", OTHERS),
    ("network.", OTHERS),
    ("system.power", OTHERS),
    ("system.stop-services", OTHERS),
    ("system.kill-all", OTHERS),
    ("git.push-onto-default-branch", OTHERS),
)
"""By prefix of the rule's id; every other rule protects from loss."""
