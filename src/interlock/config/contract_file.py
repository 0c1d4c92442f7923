"""Contract file: the section `contract` of a file that a person names for one run."""

from __future__ import annotations

from pathlib import Path

from ..core import CLAUSE_KEYS, BadInput, Clause
from ..core.globs import check_glob


def read_contract_file(file: Path) -> tuple[Clause, ...]:
    """The clauses of a file, each with its line. Raises BadInput, naming key and line."""
    from .document import UnreadableDocument, read
    from .document_check import DocumentCheck
    from .key_types import root

    walk = DocumentCheck(str(file))
    try:
        values = walk.section(read(file), root(), "")
    except UnreadableDocument as unreadable:
        raise unreadable.problem.error() from None
    for problem in walk.problems:
        raise problem.error()
    for name in values:
        if name != "contract":
            raise BadInput(f"{name}: a contract file has the section contract alone", where=str(file))
    section = values.get("contract")
    found = []
    for name, value in section.items() if isinstance(section, dict) else ():
        line = walk.lines.get(f"contract.{name}")
        where = f"{file}:{line}" if line else str(file)
        key = next((key for key in CLAUSE_KEYS if key == name), None)
        if key is None or not isinstance(value, list):
            raise BadInput(f"contract.{name}: belongs into the configuration", where=where)
        for each in value:
            if key in ("may_change", "protect"):
                _check(str(each), f"contract.{name}", where)
            found.append(Clause(key, str(each), where))
    if not found:
        raise BadInput(
            "the contract is empty", where=str(file), todo="Add contract: with may_change, protect or done_when."
        )
    return tuple(found)


def _check(glob: str, key: str, where: str) -> None:
    try:
        check_glob(glob)
    except BadInput as error:
        raise BadInput(f"{key}: {error.what}", where=where, todo=error.todo) from None
