"""Arbitrary text: never an exception, always the same answer, always within bounds."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from interlock.config.schema import Review as ReviewConfig
from interlock.core import VERDICTS, Context, Step, Tool
from interlock.review import Reviewer, review_command
from interlock.review.shell import read_script
from interlock.review.shell.bounds import MAX_COMMANDS, statements
from interlock.review.shell.simple import read_simple

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
    assert len(read_script(text).commands) <= MAX_COMMANDS


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


@STEADY
@given(TEXT)
def test_cutting_into_statements_loses_nothing(text: str) -> None:
    assert "".join(statements(text)) == text


NAMES = """rm -rf / .. cd grep sudo env xargs find -exec bash -c eval python git push --force curl https://a.example/x sh
    ./x.sh tee /etc/passwd awk sed -i time then x=y 2"""
PLAIN = st.sampled_from(NAMES.split())
WORD = st.sampled_from("* *.py a*b? src/**/x ? {} {}.bak a{}b{} {},{} x={} \\; \\( \\) -name + -o".split()) | st.text(
    "ab1/.:@%+,*?-_", min_size=1, max_size=5
)
INSIDE = "ab /;|&{},<>()#=*~-"
QUOTED = st.one_of(
    st.text(f"{INSIDE}'\\", min_size=1, max_size=12).map(lambda text: f'"{text}"'),
    st.text(f'{INSIDE}"$`\\', min_size=1, max_size=12).map(lambda text: f"'{text}'"),
)
COMMAND = st.tuples(PLAIN, st.lists(PLAIN | WORD | QUOTED, max_size=5)).map(lambda parts: " ".join((parts[0], *parts[1])))
SIMPLE = st.tuples(
    COMMAND,
    st.lists(st.tuples(st.sampled_from((" && ", " || ")), COMMAND).map("".join), max_size=2).map("".join),
    st.sampled_from(("", " 2>&1", " 2>/dev/null")),
    st.lists(COMMAND.map(" | {}".format), max_size=2).map("".join),
).map("".join)


@STEADY
@given(SIMPLE)
def test_a_simple_script_is_read_as_the_parser_reads_it(text: str) -> None:
    assume(read_simple(text) is not None)
    # A line's end leaves it to the parser.
    assert read_script(text) == read_script(f"{text}\n")


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
