"""SQL: the kinds of statements that a text contains."""

from __future__ import annotations

import re
from itertools import islice

import re2

from ..core import late_pattern

MAX_SQL = 131_072
MAX_STATEMENTS = 500
"""Statements that may change something."""
MAX_STATEMENT = 4_096
"""Characters of one statement, excluding literals."""

KINDS: dict[str, str] = {
    "drop": "DROP of a table, database, schema, user or the like",
    "drop_test": "DROP of a database or schema that is one of tests by its name",
    "truncate": "TRUNCATE",
    "delete_all": "DELETE without a WHERE that narrows it",
    "update_all": "UPDATE without a WHERE that narrows it",
    "alter_drop": "ALTER ... DROP of a column, constraint or partition",
    "purge": "PURGE of logs, RESET MASTER and the like",
}
"""Every kind that a rule may name."""

LITERALS = re2.compile(r"--[^\n]*|(?s:/\*(!\d*)?(.*?)\*/)|'(?:[^'\\]|''|\\.)*'|(?s:\$\$.*?\$\$)")
CHANGES = late_pattern(r"(?i)drop|truncate|delete|update|purge|reset|vacuum|shutdown")
BARE = late_pattern(
    r"\s*(?:delete\s+from\s+\S|drop\s+(?:table|database|schema|index|view|user|role|keyspace|materialized|function|trigger|sequence|column|collection|warehouse|tablespace)\s+\S"
    r"|truncate\s+(?:table\s+)?[\w.\"`\[]+|update\s+\S+\s+set\s|alter\s+(?:table|database|schema|user)\s+\S|insert\s+into\s|select\s[\s\S]*?\sfrom\s|grant\s+\w{1,32}\b[\s\S]*?\sto\s"
    r"|match\s*\([\s\S]*?\)\s*(?:detach\s+)?delete\s|create\s+(?:table|database|index|view)\s|purge\s+binary|reset\s+master|explain\s+\w+\s)",
    re.IGNORECASE,
)
BEGINS = (
    "match",
    "delete",
    "drop",
    "trunca",
    "update",
    "alter",
    "insert",
    "select",
    "grant",
    "create",
    "purge",
    "reset",
    "explai",
)
CLIENT_LINE = late_pattern(r"^[ \t]*\\[a-z][^\n]*$", re.MULTILINE)
"""A line for the client itself, which ends without a semicolon: `\\c shop`."""
DROP = late_pattern(r"DROP\s+(?!COLUMN|CONSTRAINT|DEFAULT|NOT)(?:\w+\s+){0,3}?\S", re.IGNORECASE)
SCRATCH = late_pattern(
    r"DROP\s+(?:TEMPORARY\s+TABLE\b"
    r"|(?:TABLE|VIEW|INDEX)\s+(?:IF\s+EXISTS\s+)?[\"`\[]?(?:\w+\.)?(?:te?mp_|_?tmp|scratch_|#)\w*)",
    re.IGNORECASE,
)
"""A table that was created to be dropped."""
DROP_TEST = late_pattern(
    r"DROP\s+(?:DATABASE|SCHEMA|KEYSPACE)\s+(?:IF\s+EXISTS\s+)?[\"`\[]?(?:(?:te?mp|test|scratch)(?:_\w+)?|\w+_(?:te?mp|test))\b",
    re.IGNORECASE,
)

DELETE = late_pattern(r"\bDELETE\s+FROM\s+(?:ONLY\s+)?[\w.\"`\[\]]+", re.IGNORECASE)
DELETE_NODES = late_pattern(r"\bMATCH\s*\(\s*\w*\s*\)\s*(?:DETACH\s+)?DELETE\b", re.IGNORECASE)
"""The same in Cypher: for every node."""
UPDATE = late_pattern(r"\bUPDATE\s+(?:ONLY\s+)?[\w.\"`\[\]]+\s+(?:AS\s+\w+\s+)?SET\b", re.IGNORECASE)
NARROWED = late_pattern(r"\bWHERE\s+(?!1\s*=\s*1\b|TRUE\b|'?1'?\s*;?\s*\Z)\S|\bLIMIT\s+\d", re.IGNORECASE)
ALTER_DROP = late_pattern(r"\bALTER\s+TABLE\b[\s\S]*?\bDROP\s+(?!DEFAULT|NOT\b)\S", re.IGNORECASE)
PURGE = late_pattern(
    r"\s*(?:PURGE\s+(?:BINARY|MASTER)\s+LOGS|RESET\s+(?:MASTER|SLAVE|REPLICA)|VACUUM\s+\S+\s+RETAIN\s+0|SHUTDOWN\b)",
    re.IGNORECASE,
)


def is_bare_sql(text: str) -> bool:
    """Whether a whole command is an SQL statement rather than a program."""
    if "/*" in text[:2048]:
        text = without_literals(text[:2048])
    return text.lstrip()[:6].lower().startswith(BEGINS) and BARE.match(text[:2048]) is not None


def kinds_of(text: str) -> frozenset[str]:
    """The kinds of the statements in a text, ignoring comments and string literals."""
    bare = without_literals(text[:MAX_SQL])
    if "\\" in bare:
        bare = CLIENT_LINE.sub(";", bare)
    found: set[str] = set()
    changing = (each for each in bare.split(";") if CHANGES.search(each) is not None)
    for statement in islice(changing, MAX_STATEMENTS):
        found |= kinds_of_one(statement[:MAX_STATEMENT])
    return frozenset(found)


def without_literals(text: str) -> str:
    """The text with empty literals and without comments; code in MySQL's executable comments (`/*! ... */`) stays."""
    # As bytes: in a str, each match would be located by counting from the beginning.
    return bytes(LITERALS.sub(_blank, text.encode("utf-8", "replace"))).decode("utf-8", "replace")


def _blank(found: re.Match[bytes]) -> bytes:
    if found[0][:1] in (b"'", b"$"):
        return b"''"
    return b" %b " % found[2] if found[1] else b" "


def kinds_of_one(statement: str) -> set[str]:
    begin = statement.lstrip()[:10].upper()
    if begin.startswith("EXPLAIN") and "ANALYZE" not in statement[:40].upper():
        return set()
    found = set()
    if begin.startswith("DROP") and DROP.match(statement.lstrip()) and not SCRATCH.match(statement.lstrip()):
        found.add("drop_test" if DROP_TEST.match(statement.lstrip()) else "drop")
    if begin.startswith("TRUNC"):
        found.add("truncate")
    if PURGE.match(statement):
        found.add("purge")
    if DELETE_NODES.search(statement):
        found.add("delete_all")
    if DELETE.search(statement) and not NARROWED.search(statement) and not begin.startswith("CREATE"):
        found.add("delete_all")
    if UPDATE.search(statement) and not NARROWED.search(statement) and not begin.startswith(("CREATE", "INSERT")):
        found.add("update_all")
    if ALTER_DROP.search(statement):
        found.add("alter_drop")
    return found
