"""The contract of a run on the command line: read from options and file, validated, and shown at the start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from ..config import FILE_NAME, Config, read_contract_file
from ..contract import agree, common_hosts, given, protect_itself
from ..core import CLAUSE_KEYS, BadInput, Clause, Context, Contract, check_glob
from ..runtime import missing_task_files, read_task_files
from .output import say_error

OPTIONS = {
    "may_change": "--may-change", "protect": "--protect", "done_when": "--done-when", "constraints": "--constraint",
    "goals": "--goal",
}  # fmt: skip
INTO_SHELL = frozenset(("cd", "test", "[", "[[", "true", "false", ":", "export", "set", "exit", "!", "."))
"""First words that are shell built-ins."""


def read_options(
    options: Mapping[str, Sequence[str] | None], file: Path | None, workspace: Path, config: Config
) -> Contract:
    """The contract from options and file. Raises BadInput for invalid clauses, before anything starts."""
    clauses = list(read_contract_file(file)) if file is not None else []
    for key in CLAUSE_KEYS:
        values = options.get(key) or ()
        if key == "may_change" and values:
            # The command line overrides the file.
            clauses = [clause for clause in clauses if clause.key != key]
        for value in values:
            if not value.strip():
                raise BadInput("is empty", where=OPTIONS[key])
            if key in ("may_change", "protect"):
                _check_glob(value, OPTIONS[key])
            clauses.append(Clause(key, value, OPTIONS[key]))
    for clause in clauses:
        if clause.key == "done_when":
            check_command(clause.value, clause.source, workspace)
    for command in config.contract.done_when:
        check_command(command, "contract.done_when", workspace)
    contract = given(clauses)
    holders = [str(file.resolve())] if file is not None else []
    if (contract or config.contract.may_change or config.contract.protect) and (workspace / FILE_NAME).exists():
        holders.append(str(workspace / FILE_NAME))
    return protect_itself(contract, holders, str(workspace))


def check_command(command: str, where: str, workspace: Path) -> None:
    """Raise BadInput for a command of `done_when` that cannot be run."""
    from ..calls import read_script
    from ..runtime import missing_program

    reading = read_script(command, str(workspace))
    if reading.unread or not reading.programs:
        raise BadInput(f"{command!r} is not a command", where=where)
    program = reading.programs[0].name
    words = command.split()
    if words[0] in INTO_SHELL or program in INTO_SHELL or program.startswith("$"):
        return
    if missing_program(words[0] if "=" not in words[0] else program, workspace):
        raise BadInput(f"{command!r}: there is no command {words[0]!r}", where=where, todo="Check PATH and spelling.")


def with_hosts(config: Config, contract: Contract) -> Config:
    """The configuration with the fence's hosts restricted to those of the contract."""
    agreed = contract.hosts or config.contract.hosts
    return replace(config, contain=replace(config.contain, hosts=common_hosts(agreed, config.contain.hosts)))


def show_contract(context: Context, config: Config) -> None:
    """Print the contract in a few lines, and which files of the task are missing."""
    for name in missing_task_files(context):
        say_error(f"{name}: the task points to this file, and it does not exist")
    agreed = agree(read_task_files(context), config.contract).contract
    if not agreed:
        return
    from ..report import contract_lines

    for line in contract_lines(agreed):
        say_error(line)


def _check_glob(glob: str, where: str) -> None:
    try:
        check_glob(glob)
    except BadInput as error:
        raise BadInput(error.what, where=where, todo=error.todo) from None
