"""The table of programs: its built form, its examples, and clear errors."""

from pathlib import Path

import pytest

from interlock.calls import read_script
from interlock.calls.build import SOURCE, build
from interlock.calls.table import BUILT, Table, read_table
from interlock.core import BadInput

TABLE = read_table(SOURCE)
EXAMPLES = [
    (command, expected)
    for row in TABLE.values()
    if isinstance(row, dict)
    for command, expected in row.get("examples", {}).items()
]


def effects_of(command: str) -> list[str]:
    """Effects as the table writes them: `verb target zone [extent]`."""
    return [
        f"{effect.verb} {effect.target} {effect.zone}{'' if effect.extent == 'one' else f' {effect.extent}'}"
        for effect in read_script(command).effects
    ]


def test_the_built_table_matches_its_source() -> None:
    assert BUILT.read_bytes() == build(), "run python -m interlock.calls.build"


@pytest.mark.parametrize(("command", "expected"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_an_example_beside_a_row_is_what_is_read(command: str, expected: list[str]) -> None:
    effects = effects_of(command)
    assert [text for text in expected if text not in effects] == [], effects


def test_no_program_stands_in_two_rows() -> None:
    names = [name for names in TABLE for name in names.split()]
    assert [name for name in names if names.count(name) > 1] == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("foo: {dose: read operands}", "unknown key dose"),
        ("foo: reed operands", "'reed' is not one of"),
        ("foo: read everything", "neither a role nor an option"),
        ("foo: {check: spelling}", "unknown check 'spelling'"),
        ("foo: {when: {bar: {dose: x}}}", "unknown key dose"),
        ("- foo", "not a table of programs"),
        ("foo: [", "not a table of programs"),
    ],
)
def test_a_wrong_row_is_refused_with_its_place(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "programs.yaml"
    path.write_text(text)
    with pytest.raises(BadInput, match=says) as error:
        read_table(path)
    assert str(path) in str(error.value)


def test_a_users_row_replaces_the_shipped_one() -> None:
    table = Table({"foo bar": "read operands"}).with_rows({"bar": "delete operands"})
    assert table.row("foo").does[0].verb == "read"
    assert table.row("bar").does[0].verb == "delete"
    assert not table.row("baz").known
