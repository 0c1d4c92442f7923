"""Files on disk against what the script meant."""

from __future__ import annotations

import difflib
import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core import BadInput
from interlock.gui import FileOperation, FileVerifier, Operation, OperationType, ReplaySession
from interlock.gui.longest_match import LongestMatch
from interlock.gui.verifier import differing_sections, similarity

PROSE = Path(difflib.__file__).read_text()


def ratio(a: str, b: str) -> float:
    return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()


def session(*files: tuple[str, str]) -> ReplaySession:
    return ReplaySession(
        "s", [FileOperation(path, [Operation(OperationType.INSERT, 1, None, content)]) for path, content in files]
    )


def test_an_equal_file_matches_exactly(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\ny = 2\n")
    comparison = FileVerifier(tmp_path, 0.98)._compare_file("a.py", "x = 1\ny = 2\n")
    assert comparison.exists
    assert (comparison.similarity, comparison.match_status, comparison.exact) == (1.0, "match", True)
    assert (comparison.expected_lines, comparison.actual_lines, comparison.diff_lines) == (2, 2, [])


def test_line_ends_alone_are_no_difference(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x = 1\r\ny = 2\r\n")
    comparison = FileVerifier(tmp_path).compare_file("a.py", "x = 1\ny = 2\n")
    assert comparison.exact
    assert comparison.similarity == 1.0


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    comparison = FileVerifier(tmp_path).compare_file("none.py", "x\n")
    assert not comparison.exists
    assert (comparison.similarity, comparison.match_status) == (0.0, "missing")


@pytest.mark.parametrize(
    ("actual", "status"),
    [("x" * 99 + "y", "match"), ("x" * 95 + "y" * 5, "partial"), ("x" * 50 + "y" * 50, "mismatch")],
)
def test_the_status_follows_the_thresholds(tmp_path: Path, actual: str, status: str) -> None:
    (tmp_path / "a").write_text(actual)
    assert FileVerifier(tmp_path).compare_file("a", "x" * 100).match_status == status


def test_the_thresholds_themselves_count_as_reached(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x" * 98 + "y" * 2)
    (tmp_path / "b").write_text("x" * 90 + "y" * 10)
    verifier = FileVerifier(tmp_path, tolerance=0.98)
    assert verifier.compare_file("a", "x" * 100).match_status == "match"
    assert verifier.compare_file("b", "x" * 100).match_status == "partial"


def test_tolerance_is_the_match_threshold(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x" * 95 + "y" * 5)
    assert FileVerifier(tmp_path, tolerance=0.95).compare_file("a", "x" * 100).match_status == "match"


def test_bytes_that_are_not_utf8_are_a_mismatch_that_says_why(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff\xfe\x00")
    comparison = FileVerifier(tmp_path).compare_file("a", "x")
    assert comparison.match_status == "mismatch"
    assert "not UTF-8" in comparison.reason


def test_a_folder_in_the_place_of_a_file_is_a_mismatch_that_says_why(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    comparison = FileVerifier(tmp_path).compare_file("a", "x")
    assert (comparison.match_status, comparison.reason) == ("mismatch", "unreadable (not a regular file)")


def test_two_lost_lines_of_a_large_file_match_but_are_named(tmp_path: Path) -> None:
    lines = PROSE.splitlines(keepends=True)
    (tmp_path / "a.py").write_text("".join(lines[:500] + lines[502:]))
    relaxed = FileVerifier(tmp_path).verify_session(session(("a.py", PROSE)))
    assert relaxed.success
    assert relaxed.comparisons[0].match_status == "match"
    assert not relaxed.comparisons[0].exact
    assert relaxed.comparisons[0].lines_lost == 2
    assert "not exact: a.py" in relaxed.summary


def test_strict_wants_equality_and_leaves_the_status_alone(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x" * 999 + "y")
    strict = FileVerifier(tmp_path, strict=True).verify_session(session(("a", "x" * 1000)))
    assert not strict.success
    assert strict.comparisons[0].match_status == "match"


def test_the_summary_counts_every_class(tmp_path: Path) -> None:
    (tmp_path / "good").write_text("x" * 100)
    (tmp_path / "part").write_text("x" * 95 + "y" * 5)
    (tmp_path / "bad").write_text("y" * 100)
    files = [(name, "x" * 100) for name in ("good", "part", "bad", "none")]
    result = FileVerifier(tmp_path).verify_session(session(*files))
    assert not result.success
    assert result.summary == "4 files: 1 match, 1 partial, 1 mismatch, 1 missing; missing: none"


def test_a_missing_file_is_named_in_the_summary(tmp_path: Path) -> None:
    (tmp_path / "here").write_text("x")
    result = FileVerifier(tmp_path).verify_session(session(("here", "x"), ("src/gone", "x"), ("lost", "x")))
    assert result.summary == "3 files: 1 match, 0 partial, 0 mismatch, 2 missing; missing: src/gone, lost"


def test_a_file_that_cannot_be_read_says_so_where_its_difference_would_be(tmp_path: Path) -> None:
    (tmp_path / "raw").write_bytes(b"\xff\xfe")
    (tmp_path / "folder").mkdir()
    for name in ("raw", "folder"):
        comparison = FileVerifier(tmp_path).compare_file(name, "x")
        assert (comparison.exists, comparison.match_status) == (True, "mismatch")
        assert comparison.diff_lines == [f"Read error: {comparison.reason}"]


def test_no_files_says_so(tmp_path: Path) -> None:
    assert FileVerifier(tmp_path).verify_session(ReplaySession("s", [])).summary == "no files to verify"


def test_entries_of_one_path_are_one_comparison(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\ntwo\n")
    twice = ReplaySession(
        "s",
        [
            FileOperation("a", [Operation(OperationType.INSERT, 1, None, "two\n")]),
            FileOperation("./a", [Operation(OperationType.INSERT, 1, None, "one\n")]),
        ],
    )
    result = FileVerifier(tmp_path).verify_session(twice)
    assert [(c.path, c.exact) for c in result.comparisons] == [("a", True)]


def test_operations_apply_to_the_file_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\nthree\n")
    edits = ReplaySession("s", [FileOperation("a", [Operation(OperationType.DELETE, 2)])])
    verifier = FileVerifier(tmp_path, strict=True, originals={"a": "one\ntwo\nthree\n"})
    assert verifier.verify_session(edits).success


def test_the_diff_is_unified_with_both_names(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one\n2\n")
    diff = FileVerifier(tmp_path).compare_file("a.py", "one\ntwo\n").diff_lines
    assert diff[:2] == ["--- expected/a.py", "+++ actual/a.py"]
    assert "-two" in diff
    assert "+2" in diff


def test_a_missing_last_line_end_is_a_difference_that_shows(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    comparison = FileVerifier(tmp_path).compare_file("a", "one\n")
    assert not comparison.exact
    assert comparison.diff_lines == ["only the line break at the end of the file differs"]


def test_thresholds_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        FileVerifier(tmp_path, tolerance=1.5)
    with pytest.raises(BadInput):
        FileVerifier(tmp_path, tolerance=0.5)


@given(st.text(alphabet="ab \n", max_size=80), st.text(alphabet="ab \n", max_size=80))
def test_up_to_8_kb_similarity_is_exactly_difflibs(a: str, b: str) -> None:
    assert similarity(a, b).ratio == pytest.approx(ratio(a, b), abs=1e-12)


def edited(text: str, share: float) -> str:
    chance = random.Random(1)
    lines = text.splitlines(keepends=True)
    return "".join(
        line[: len(line) // 2] + "EDIT" + line[len(line) // 2 + 3 :] if chance.random() < share else line
        for line in lines
    )


def test_8_kb_of_code_is_compared_exactly() -> None:
    text = PROSE[:8192]
    changed = edited(text, 0.3)[:8192]
    found = similarity(text, changed)
    assert found.method == "difflib"
    assert found.ratio == ratio(text, changed)


def one_line_json(seed: int) -> str:
    chance = random.Random(seed)
    return json.dumps([{"id": i, "name": f"user{chance.randrange(10**6)}"} for i in range(260)])


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (PROSE[:10_000], edited(PROSE[:10_000], 0.3)),
        (PROSE[:10_000], edited(PROSE[:10_000], 1.0)),
        (PROSE[:10_000], PROSE[20_000:30_000]),
        (PROSE[:10_000], PROSE[5_000:10_000] + PROSE[:5_000]),
        (PROSE[:9_000], "".join(random.Random(2).sample(PROSE[:9_000].splitlines(True), PROSE[:9_000].count("\n")))),
        (one_line_json(1), one_line_json(1).replace("user4", "USER5")),
        (one_line_json(1), one_line_json(2)),
    ],
    ids=["30% edited", "all edited", "unrelated", "swapped halves", "shuffled", "JSON", "other JSON"],
)
def test_beyond_8_kb_similarity_is_within_two_hundredths(a: str, b: str) -> None:
    found = similarity(a, b)
    assert found.method == "blocks"
    # cydifflib is difflib compiled (compared above), and spares the test the minutes.
    import cydifflib

    assert found.ratio == pytest.approx(cydifflib.SequenceMatcher(None, a, b, False).ratio(), abs=0.02)


@given(st.text(alphabet="abc", min_size=1, max_size=40), st.text(alphabet="abc", min_size=1, max_size=40))
def test_the_hashed_longest_match_is_difflibs(a: str, b: str) -> None:
    i, j, size = LongestMatch(a, b).find(0, len(a), 0, len(b), len(a))
    wanted = difflib.SequenceMatcher(None, a, b, autojunk=False).find_longest_match()
    assert size == wanted.size
    assert a[i : i + size] == b[j : j + size]


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_repairing_the_differing_sections_gives_the_expected_lines(expected: list[str], actual: list[str]) -> None:
    repaired = list(actual)
    for section in differing_sections(expected, actual):
        repaired[section.start : section.end] = section.expected
    assert repaired == expected
