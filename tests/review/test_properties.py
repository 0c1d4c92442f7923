"""Arbitrary text: never an exception, always the same answer, always within bounds."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock.config.schema import Review as ReviewConfig
from interlock.core import VERDICTS, Context, Step, Tool
from interlock.review import Reviewer, review_command

WORDS = """rm -rf / ~ * . .. $X ${X} ${X:-/} $(ls) `ls` "a 'b' sudo env xargs find -exec {} ; \\; + | || & && ( ) { } < > >> <<
    <<EOF EOF <<< <( [[ ]] if then fi for in do done while case esac function f() $@ $1 eval bash -c python -c git push
    --force curl | sh psql -c DROP TABLE docker exec ssh host é \\ # ! = a=b \x00 \ud800"""
PIECES = st.sampled_from(WORDS.split())
SHELLISH = st.lists(PIECES | st.just("\n"), max_size=40).map(" ".join)
TEXT = SHELLISH | st.text(max_size=200)
STEADY = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def check(text: str) -> None:
    review = review_command(text)
    assert review == review_command(text)
    assert review.verdict in VERDICTS
    assert 0 <= review.risk <= 1
    assert (review.verdict == "block") == (review.risk >= 0.95)
    assert review.reason


@STEADY
@given(TEXT)
def test_any_text_gets_one_answer(text: str) -> None:
    check(text)


@pytest.mark.torture
@settings(max_examples=20_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXT)
def test_any_text_gets_one_answer_at_length(text: str) -> None:
    check(text)


@STEADY
@given(SHELLISH)
def test_quoting_a_command_for_echo_makes_it_a_mention(text: str) -> None:
    quoted = "'" + text.replace("'", "'\\''").replace("\x00", "") + "'"
    assert review_command(f"echo {quoted}").verdict == "allow"


ARGUMENTS = st.dictionaries(
    st.sampled_from(["command", "cmd", "path", "file_path", "code", "url", "method", "argv", "x"]),
    st.text(max_size=40) | st.integers() | st.none() | st.lists(st.text(max_size=10), max_size=4) | st.booleans(),
    max_size=4,
)
NAMES = st.sampled_from(
    ["bash", "Read", "Write", "delete_file", "str_replace_editor", "python", "http_request", ""]
) | st.text(max_size=20)


@STEADY
@given(st.lists(st.tuples(NAMES, ARGUMENTS, st.booleans() | st.none()), max_size=12))
def test_a_saved_reviewer_goes_on_like_one_that_never_stopped(
    calls: list[tuple[str, dict[str, object], bool | None]],
) -> None:
    context = Context(original_prompt="Fix it", expected_paths=("src",))
    whole = Reviewer(ReviewConfig(), context, "/home/me/project")
    for at, (name, arguments, error) in enumerate(calls):
        other = Reviewer(ReviewConfig(), context, "/home/me/project")
        other.restore(whole.save())
        call = Step(run_id="r", index=2 * at, role="assistant", kind="tool_call", tool=Tool(name, arguments))
        result = Step(run_id="r", index=2 * at + 1, role="tool", kind="tool_result", error=error)
        answers = []
        for subject in (whole, other):
            answers.append(subject.review(call))
            subject.observe(result)
        assert answers[0] == answers[1]
        assert whole.save() == other.save()
