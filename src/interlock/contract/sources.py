"""Sources: one contract from the configuration, the task's wording and the options of this run.

Later sources win for `may_change`, `may_run` and `hosts`; the others add up. The task's wording only tightens.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache

from msgspec.structs import replace

from ..config import Contract as ContractConfig
from ..core import CLAUSE_KEYS, NO_CONTRACT, Clause, ClauseKey, Context, Contract, Goal, as_relative

CONFIGURED = "the configuration"
TASK_FILE = "the file named in the task"
WINS: tuple[ClauseKey, ...] = ("may_change", "may_run", "hosts")
ADDING: tuple[ClauseKey, ...] = tuple(key for key in CLAUSE_KEYS if key not in WINS)
LISTED = 200
"""Characters of a constraint kept as the text of a clause."""


def given(clauses: Iterable[Clause]) -> Contract:
    """The contract with these clauses, for example from a command's options."""
    clauses = tuple(dict.fromkeys(clauses))
    values = {key: tuple(clause.value for clause in clauses if clause.key == key) for key in CLAUSE_KEYS}
    return Contract(**values, origins=clauses)  # type: ignore[arg-type]


def agree(context: Context, config: ContractConfig) -> Context:
    """The context with its whole contract: configuration, the task's wording, then the context's own.

    Calling it again changes nothing, so that later information about the task tightens the same contract.
    """
    boundaries, examples = _joined(config.boundaries, context.boundaries), _joined(config.examples, context.examples)
    context = replace(context, boundaries=boundaries, examples=examples)
    contract = _agreed(context.contract, _configured(config))
    if config.task:
        contract = _tighten(contract, context)
    if contract == NO_CONTRACT and not context.constraints:
        return replace(context, contract=contract)
    return replace(_with_words(context, contract), contract=contract)


def _agreed(known: Contract, below: Contract) -> Contract:
    """The contract of this run, with the configuration's as defaults."""
    if known == NO_CONTRACT:
        return below
    return replace(
        known,
        **{key: getattr(known, key) or getattr(below, key) for key in WINS},
        **{key: _joined(getattr(below, key), getattr(known, key)) for key in ADDING},
        origins=_origins(known.origins, below.origins),
    )


def protect_itself(contract: Contract, files: Iterable[str], workspace: str | None) -> Contract:
    """The contract, also protecting the workspace files that contain it: an agent must not rewrite its own terms."""
    new = []
    for file in files:
        glob = as_relative(posixpath.normpath(file), workspace)
        if not glob.startswith("/") and glob not in contract.protect:
            new.append(Clause("protect", f"/{glob}" if "/" not in glob else glob, "it contains the contract"))
    return replace(
        contract,
        protect=_joined(contract.protect, tuple(clause.value.lstrip("/") for clause in new)),
        origins=_origins(contract.origins, tuple(replace(clause, value=clause.value.lstrip("/")) for clause in new)),
    )


@lru_cache(8)
def _configured(config: ContractConfig) -> Contract:
    return given(Clause(key, value, CONFIGURED) for key in CLAUSE_KEYS for value in getattr(config, key))


def _tighten(contract: Contract, context: Context) -> Contract:
    """The contract, tightened by the task's own wording."""
    if not context.original_prompt and not context.instructions:
        return contract
    from .task_words import clauses_in  # a grammar, needed only with a task

    said = [*clauses_in(context.original_prompt)]
    if context.instructions:
        # The text of a file is not the user's: no command runs because a file says so.
        said += clauses_in(context.instructions, TASK_FILE, runs=False)
    if not said:
        return contract
    values: dict[ClauseKey, tuple[str, ...]] = {}
    for at, clause in enumerate(said):
        clause = said[at] = _settled(clause, context.workspace)
        values[clause.key] = (*values.get(clause.key, ()), clause.value)
    only = values.pop("may_change", ())
    narrowed = () if contract.may_change and not contract.narrowed and _by_option(contract) else only
    return replace(
        contract,
        **{key: _joined(getattr(contract, key), more) for key, more in values.items() if key in ADDING},
        narrowed=_joined(contract.narrowed, narrowed),
        origins=_origins(contract.origins, tuple(said)),
    )


def _by_option(contract: Contract) -> bool:
    """Whether an option of this run sets what may change: that overrides the task's wording."""
    return any(clause.key == "may_change" and clause.source.startswith("--") for clause in contract.origins)


def _settled(clause: Clause, workspace: str | None) -> Clause:
    """A clause of the task, relative to this workspace; an only-clause about other paths becomes a constraint."""
    if clause.key not in ("may_change", "protect"):
        return clause
    glob = as_relative(clause.value, workspace)
    if clause.key == "may_change" and (glob.startswith("/") or glob == "**"):
        return replace(clause, key="constraints", value=clause.phrase[:LISTED])
    return replace(clause, value=glob)


def _with_words(context: Context, contract: Contract) -> Context:
    """The context with the contract's constraints and goals, which hints and reinforcement repeat."""
    told = tuple(
        dict.fromkeys(_in_words(clause) for clause in contract.clauses if clause.key not in ("goals", "done_when"))
    )
    done = tuple(f"`{command}` must pass before you are done" for command in contract.done_when)
    goals = tuple(Goal(text) for text in contract.goals if text not in {goal.text for goal in context.goals})
    return replace(
        context,
        constraints=_joined(context.constraints, (*told, *done)),
        goals=(*context.goals, *goals),
    )


def _in_words(clause: Clause) -> str:
    if clause.phrase:
        return clause.phrase
    return IN_WORDS[clause.key].format(clause.value)


IN_WORDS: dict[ClauseKey, str] = {
    "may_change": "Change only files that match {}", "protect": "Do not change {}", "may_not": "Do not {}",
    "may_run": "Run only allowed commands: {}", "hosts": "Use only the host {}", "done_when": "`{}` must pass",
    "constraints": "{}", "goals": "{}",
}  # fmt: skip


def _joined(first: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *more)))


def _origins(first: tuple[Clause, ...], more: tuple[Clause, ...]) -> tuple[Clause, ...]:
    known = {(clause.key, clause.value): clause for clause in (*more, *first)}
    return tuple(known.values())


def common_hosts(agreed: tuple[str, ...], allowed: tuple[str, ...]) -> tuple[str, ...]:
    """The hosts that both lists allow; without an agreement, the allowed ones."""
    if not agreed:
        return allowed
    return tuple(dict.fromkeys(
        (*(host for host in agreed if any(fnmatchcase(host, wide) for wide in allowed)),
         *(host for host in allowed if any(fnmatchcase(host, wide) for wide in agreed)))
    ))  # fmt: skip
