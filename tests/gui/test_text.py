"""Operations mean a text; the plan's chunks lead to the same one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core import BadInput
from interlock.gui.replay.plan import CursorPosition, cursor_position, make_plan, split_text
from interlock.gui.session import (
    FileOperation,
    Operation,
    OperationType,
    ReplaySession,
    expected_content,
    split_lines,
    text_hash,
)

INSERT, DELETE, NAVIGATE = OperationType.INSERT, OperationType.DELETE, OperationType.NAVIGATE


def test_insert_types_the_content_at_the_beginning_of_the_line() -> None:
    assert expected_content("a\nb\n", [Operation(INSERT, 2, None, "x\n")]) == "a\nx\nb\n"


def test_insert_behind_the_last_line_appends() -> None:
    assert expected_content("a\n", [Operation(INSERT, 2, None, "b")]) == "a\nb"


def test_insert_behind_a_last_line_without_line_end_begins_a_new_line() -> None:
    assert expected_content("a", [Operation(INSERT, 2, None, "b\n")]) == "a\nb\n"


def test_delete_takes_the_lines_inclusive() -> None:
    assert expected_content("a\nb\nc\nd\n", [Operation(DELETE, 2, 3)]) == "a\nd\n"


def test_delete_without_line_end_takes_one_line() -> None:
    assert expected_content("a\nb\nc\n", [Operation(DELETE, 1)]) == "b\nc\n"


def test_deleting_a_last_line_without_line_end_leaves_no_dangling_line_end() -> None:
    assert expected_content("a\nb", [Operation(DELETE, 2)]) == "a"


def test_deleting_everything_leaves_nothing() -> None:
    assert expected_content("a\nb", [Operation(DELETE, 1, 2)]) == ""


def test_each_operation_works_on_what_the_one_before_left() -> None:
    operations = [Operation(INSERT, 1, None, "1\n2\n3\n"), Operation(DELETE, 2), Operation(INSERT, 2, None, "two\n")]
    assert expected_content("", operations) == "1\ntwo\n3\n"


def test_line_ends_do_not_change_the_hash() -> None:
    assert text_hash("a\r\nb\r\n") == text_hash("a\nb\n") == text_hash("\ufeffa\rb\r")


def test_unicode_separators_are_not_line_ends_to_an_editor() -> None:
    assert split_lines("a\u2028b\x0cc\n") == ["a\u2028b\x0cc\n"]


def test_a_line_beyond_the_end_is_an_error_that_names_file_operation_and_field() -> None:
    session = ReplaySession("s", [FileOperation("src/a.py", [Operation(NAVIGATE, 1), Operation(DELETE, 7)])])
    with pytest.raises(BadInput, match=r"files\[0\] \(src/a.py\), operations\[1\], field 'line': line 7 is beyond"):
        make_plan(session, {"src/a.py": "one\n"})


def test_a_column_is_reachable_by_its_number_only_behind_plain_letters() -> None:
    assert cursor_position("ab\ncde|", 5) == CursorPosition(2, 3)
    assert not cursor_position("ab\n😀é|", 5).reachable
    assert cursor_position("ab\n😀é", 5).reachable, "the end of a line has a key of its own"


def test_pieces_end_at_a_line_where_they_can() -> None:
    assert list(split_text("aaa\nbbb\nccccccccc\n", 6)) == ["aaa\n", "bbb\n", "cccccc", "ccc\n"]


def test_a_file_that_comes_up_twice_goes_on_from_its_first_part() -> None:
    session = ReplaySession(
        "s",
        [
            FileOperation("a", [Operation(INSERT, 1, None, "1\n")]),
            FileOperation("b", [Operation(INSERT, 1, None, "x\n")]),
            FileOperation("./a", [Operation(INSERT, 2, None, "2\n")]),
        ],
    )
    plan = make_plan(session, {})
    assert [chunk.path for chunk in plan.chunks] == ["a", "b", "a"]
    assert plan.expected("a") == "1\n2\n"


line_texts = st.text(alphabet="ab é😀\t\n", max_size=60)


@st.composite
def sessions(draw: st.DrawFn) -> tuple[str, ReplaySession]:
    before = draw(line_texts)
    text, operations = before, []
    for _ in range(draw(st.integers(0, 6))):
        count = len(split_lines(text))
        if count and draw(st.booleans()):
            first = draw(st.integers(1, count))
            operation = Operation(DELETE, first, draw(st.integers(first, count)))
        else:
            operation = Operation(INSERT, draw(st.integers(1, count + 1)), None, draw(line_texts.filter(bool)))
        operations.append(operation)
        text = expected_content(text, [operation])
    return before, ReplaySession("s", [FileOperation("f", operations)])


@given(sessions(), st.integers(1, 20))
def test_chunks_lead_to_what_the_operations_mean(case: tuple[str, ReplaySession], size: int) -> None:
    before, session = case
    plan = make_plan(session, {"f": before}, size)
    text = plan.before["f"]
    for chunk in plan.chunks:
        assert cursor_position(text, chunk.begin) == chunk.start
        assert len(chunk.text) <= size
        text = chunk.applied(text)
        assert text_hash(text) == chunk.expected
        assert plan.content("f", chunk.index + 1) == text
    assert text == expected_content(before, session.merged()["f"])
