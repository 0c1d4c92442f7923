"""SQL: what statements do to a database, by their first word and whether they name rows."""

from __future__ import annotations

from ..core import late_pattern
from .findings import Findings
from .model import Extent, Verb

MAX_SQL = 1_048_576
STATEMENT = late_pattern(r"(?:\A|;)(?:\s+|/\*[^*]*(?:\*(?!/)[^*]*)*\*/|--[^\n]*\n)*(\w+)\s*([^;]*)")
QUOTED = late_pattern(r"'(?:[^'\\]|\\.|'')*'", 16)
NAMED = late_pattern(
    r"(?i)(table|database|schema|view|index|user|role|column|keyspace|tablespace|function|trigger|sequence|collection)"
    r"\s+(?:if\s+exists\s+)?([\w.\"`\[\]-]*)"
)
NARROW = late_pattern(r"(?i)\bwhere\b(?!\s+(?:1\s*=\s*1|true)\b)|\blimit\b")
DROPS = late_pattern(r"\.(dropDatabase)\(|\.(?:drop|dropIndexes)\(|\.(?:deleteMany|remove)\(\s*(?:\{\s*\}|\))")
"""Calls that delete a database, a collection, or every document."""
BARE = late_pattern(
    r"(?i)\s*(?:DROP|TRUNCATE(?!\s+-)|DELETE\s+FROM|ALTER|UPDATE\s+\w+\s+SET|FLUSHALL|FLUSHDB)\b[^|&$`]*\Z"
)
"""A statement where a shell command is expected: it is meant for whatever database the tool knows."""
ADMINISTERING = frozenset(
    [
        "insert",
        "alter",
        "create",
        "grant",
        "revoke",
        "replace",
        "merge",
        "call",
        "do",
        "copy",
        "load",
        "set",
        "vacuum",
        "reindex",
    ]
)


def read_sql(text: str, findings: Findings, by: str) -> None:
    """Note what SQL statements do to a database."""
    for statement in STATEMENT.finditer(QUOTED.sub("''", text[:MAX_SQL])):
        effect = _effect(statement[1].lower(), statement[2])
        if effect is not None:
            verb, name, extent = effect
            findings.add(verb, name, "service", extent, by)


def read_mongo(text: str, findings: Findings, by: str) -> None:
    """Note what a script for MongoDB deletes."""
    for found in DROPS.finditer(text[:MAX_SQL]):
        whole = found[1] is not None
        findings.add("delete", "database" if whole else "collection", "service", "all" if whole else "many", by)


def _effect(verb: str, rest: str) -> tuple[Verb, str, Extent] | None:
    """What one statement does; None if it only reads."""
    named = NAMED.search(rest)
    words = rest.split(None, 2)
    name = f"{named[1].lower()} {named[2]}".strip() if named is not None else words[0] if words else ""
    lower = rest.lower()
    if verb in ("drop", "purge"):
        return "delete", name or "database", "all" if name.startswith(("database", "schema")) else "many"
    if verb == "truncate":
        return "delete", name or "table", "many"
    if verb in ("delete", "update"):
        table = words[1] if len(words) > 1 and words[0].lower() == "from" else words[0] if words else ""
        if NARROW.search(rest):
            return "administer", f"rows of {table}", "one"
        return "delete", f"rows of {table}", "many"
    if verb == "alter" and "drop" in lower.split():
        return "delete", name, "one"
    if verb in ("insert", "merge", "replace") and named is None:
        name = f"rows of {words[1] if len(words) > 1 else 'a table'}"
    if verb in ADMINISTERING:
        return "administer", name or "database", "one"
    if verb == "detach" or (verb == "match" and "delete" in lower.split()):
        return "delete", "nodes", "many"
    if verb in ("flushall", "flushdb"):
        return "delete", "database", "all"
    return None
