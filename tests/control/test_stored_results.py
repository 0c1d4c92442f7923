"""Stored results: a value that grows without copying all of itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from interlock.control.state import NEWER, StoredResult, StoredResults


def stored(at: float) -> StoredResult:
    return StoredResult(b"", b"", at)


@given(st.integers(0, 4 * NEWER), st.integers(-1, 4 * NEWER + 1))
def test_it_is_what_a_dictionary_would_be(count: int, horizon: int) -> None:
    answers, plain = StoredResults(), dict[str, StoredResult]()
    for number in range(count):
        before, known = answers, list(answers.items())
        answers, plain[str(number)] = answers.add(str(number), stored(number)), stored(number)
        assert list(before.items()) == known and before.get(str(number)) is None
    assert list(answers.items()) == list(plain.items()) and len(answers) == count
    assert all(answers.get(key) == value for key, value in plain.items())
    assert list(answers) == list(plain) and answers == StoredResults(plain)
    young = answers.since(horizon)
    assert list(young.items()) == [(key, value) for key, value in plain.items() if value.at >= horizon]
    assert (young.oldest < horizon) is False and (answers.oldest < horizon) is any(
        v.at < horizon for v in plain.values()
    )
