"""What statements do."""

from __future__ import annotations

import pytest

from interlock.review.sql import KINDS, is_bare_sql, kinds_of


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("DROP TABLE a", {"drop"}),
        ("drop database if exists a;", {"drop"}),
        ("TRUNCATE a", {"truncate"}),
        ("DELETE FROM a", {"delete_all"}),
        ("delete from a where 1=1", {"delete_all"}),
        ("delete from a where true;", {"delete_all"}),
        ("WITH x AS (SELECT 1) DELETE FROM a", {"delete_all"}),
        ("UPDATE a SET b = 1", {"update_all"}),
        ("ALTER TABLE a DROP COLUMN b", {"alter_drop"}),
        ("RESET MASTER", {"purge"}),
        ("SELECT 1; DROP TABLE a", {"drop"}),
        ("DELETE FROM a WHERE id = 1", set()),
        ("UPDATE a SET b = 1 WHERE id = 2", set()),
        ("DROP/**/TABLE/* x */a", {"drop"}),
        ("/* x */ DROP -- y\nTABLE a", {"drop"}),
        ("DELETE/**/FROM a", {"delete_all"}),
        ("DELETE FROM a WHERE /**/ 1=1", {"delete_all"}),
        ("/*!50000 DROP TABLE a */", {"drop"}),
        ("SELECT 1 /* ; DROP TABLE a */", set()),
        ("SELECT 'DROP TABLE a'", set()),
        ("-- DROP TABLE a\nSELECT 1", set()),
        ("/* DROP TABLE a */ SELECT 1", set()),
        ("EXPLAIN DELETE FROM a", set()),
        ("CREATE TABLE a (b int)", set()),
        ("ALTER TABLE a ALTER b DROP DEFAULT", set()),
        ("INSERT INTO a VALUES ('x; DROP TABLE a')", set()),
    ],
)
def test_statements_have_their_kinds(text: str, kinds: set[str]) -> None:
    assert kinds_of(text) == kinds
    assert kinds <= set(KINDS)


@pytest.mark.parametrize(
    "text",
    [
        "DELETE FROM a",
        "drop table a",
        "TRUNCATE a;",
        "  update a set b=1",
        "SELECT a FROM b",
        "/* x */ DROP/**/TABLE a",
    ],
)
def test_a_bare_statement_is_known(text: str) -> None:
    assert is_bare_sql(text)


@pytest.mark.parametrize(
    "text", ["truncate -s 0 a", "update-alternatives --list", "select x in a; do b; done", "drop", "grant", "ls"]
)
def test_a_program_is_not_taken_for_a_statement(text: str) -> None:
    assert not is_bare_sql(text)
