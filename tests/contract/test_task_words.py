"""The grammar of a task's words, measured on 300 sentences: what is enforced must be what was said."""

from __future__ import annotations

from pathlib import Path

from interlock.contract import clauses_in
from interlock.contract.task_targets import CI, LOCKS, TESTS

SENTENCES = Path(__file__).with_name("task_sentences.txt")
KINDS = {"TESTS": TESTS, "CI": CI, "LOCKS": LOCKS}
PRECISION, RECALL = 0.98, 0.75


def sentences() -> list[tuple[frozenset[tuple[str, str]], str]]:
    found = []
    for line in SENTENCES.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        wanted, _, sentence = line.partition(" | ")
        found.append((frozenset(expected(wanted)), sentence))
    return found


def expected(wanted: str) -> list[tuple[str, str]]:
    if wanted == "-":
        return []
    if wanted.startswith("done_when="):
        return [("done_when", wanted.partition("=")[2])]
    clauses: list[tuple[str, str]] = []
    key = ""
    for word in wanted.split(" "):
        name, equals, value = word.partition("=")
        key, value = (name, value) if equals else (key, word)
        clauses += [(key, each) for each in KINDS.get(value, (value,))]
    return clauses


def read(sentence: str) -> frozenset[tuple[str, str]]:
    enforced = (clause for clause in clauses_in(sentence) if clause.key not in ("constraints", "goals"))
    return frozenset((clause.key, clause.value) for clause in enforced)


def test_there_are_150_sentences_with_clauses_and_150_without() -> None:
    found = sentences()
    assert len({sentence for _, sentence in found}) == len(found)
    assert sum(1 for wanted, _ in found if wanted) >= 150
    assert sum(1 for wanted, _ in found if not wanted) >= 150


def test_what_is_enforced_is_what_was_said() -> None:
    given = [(sentence, wanted, got) for wanted, sentence in sentences() if (got := read(sentence))]
    wrong = [(sentence, sorted(got)) for sentence, wanted, got in given if got != wanted]
    assert 1 - len(wrong) / len(given) >= PRECISION, wrong


def test_most_of_what_was_said_is_enforced() -> None:
    wanted = [(sentence, clauses) for clauses, sentence in sentences() if clauses]
    missed = [sentence for sentence, clauses in wanted if read(sentence) != clauses]
    assert 1 - len(missed) / len(wanted) >= RECALL, missed


def test_what_is_not_sure_is_still_repeated_to_the_agent() -> None:
    for sentence in ("Do not change the public API.", "All tests must pass.", "Do not push until the tests pass."):
        assert [clause.key for clause in clauses_in(sentence)] == ["constraints"]


def test_every_clause_has_the_phrase_that_it_comes_from() -> None:
    task = "Fix the parser.\n\nConstraints:\n1. Do not touch tests/.\n2. Keep it fast.\n3. Do not push."
    assert [(clause.key, clause.phrase) for clause in clauses_in(task)] == [
        ("protect", "Do not touch tests/."),
        ("constraints", "Keep it fast."),
        ("may_not", "Do not push."),
    ]


def test_what_a_task_only_quotes_is_not_said_by_it() -> None:
    pasted = "Fix this:\n```\n# do not modify tests/\nDo not push.\n```\n> Do not touch src/.\n"
    issue = "<issue_description>\nDo not modify the tests.\n</issue_description>\nFix it."
    assert clauses_in(pasted) == ()
    assert clauses_in(issue) == ()


def test_a_hostile_task_costs_little() -> None:
    for text in ("do not modify " * 2000, "only change a/" * 2000, "`" * 16000, "do not touch a, " * 3000, "- " * 9000):
        assert len(clauses_in(text)) <= 48
