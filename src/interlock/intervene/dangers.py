"""Dangers: what a call that review blocks would do, by the rule that it broke."""

from __future__ import annotations

from typing import NamedTuple

from ..core import Issue


class Danger(NamedTuple):
    """One kind of harm: `tried` follows "tried to", `done` is the cause where the call ran."""

    attempt: str
    tried: str
    done: str
    immediate: str
    preventive: str


def danger_of(issue: Issue) -> Danger:
    """What the first rule that the issue names protects from; without one, from loss."""
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
    ("fs.hidden-command", UNREAD_CODE),
    ("privilege.", RIGHTS),
    ("supervision.", RIGHTS),
    ("containers.escape", RIGHTS),
    ("system.shell-start", RIGHTS),
    ("system.install-jobs", RIGHTS),
    ("packages.publish", OTHERS),
    ("services.", OTHERS),
    ("network.", OTHERS),
    ("system.power", OTHERS),
    ("system.stop-services", OTHERS),
    ("system.kill-all", OTHERS),
    ("system.clock", OTHERS),
    ("git.push-onto-default-branch", OTHERS),
)
"""Where a rule's id begins like this; every other rule protects from loss."""
