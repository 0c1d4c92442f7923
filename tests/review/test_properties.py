"""Arbitrary text: never an exception, always the same answer, always within bounds."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from interlock.config.schema import Review as ReviewConfig
from interlock.core import VERDICTS, Context, Step, Tool
from interlock.review import Reviewer, review_command
from interlock.review.rules import rule_set
from interlock.review.rules.facts import Facts
from interlock.review.rules.load import FAMILIES, read_family
from interlock.review.shell import Command, read_script
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
WILD = r"* *.py a*b? src/**/x ? {} {}.bak a{}b{} {},{} x={} \; \( \) -name + -o"
WORD = st.sampled_from(WILD.split()) | st.text("ab1/.:@%+,*?-_", min_size=1, max_size=5)
INSIDE = "ab /;|&{},<>()#=*~-"
QUOTED = st.one_of(
    st.text(f"{INSIDE}'\\", min_size=1, max_size=12).map(lambda text: f'"{text}"'),
    st.text(f'{INSIDE}"$`\\', min_size=1, max_size=12).map(lambda text: f"'{text}'"),
)
VALUE = st.text("ab1/.:@%+,-_", max_size=4) | st.just("/x/y:z")
SET = st.lists(st.tuples(st.sampled_from(("A=", "PATH=", "_b1=", "BASH_ENV=")), VALUE).map("".join), max_size=2)
COMMAND = st.tuples(SET, PLAIN, st.lists(PLAIN | WORD | QUOTED, max_size=5)).map(
    lambda parts: " ".join((*parts[0], parts[1], *parts[2]))
)
SIMPLE = st.tuples(
    COMMAND,
    st.lists(st.tuples(st.sampled_from((" && ", " || ")), COMMAND).map("".join), max_size=2).map("".join),
    st.sampled_from(("", " > x.sh", " >> a/b", " >/dev/null", " >>y", " > 1")),
    st.sampled_from(("", " 2>&1", " 2>/dev/null")),
    st.lists(COMMAND.map(" | {}".format), max_size=2).map("".join),
).map("".join)


@STEADY
@given(SIMPLE)
def test_a_simple_script_is_read_as_the_parser_reads_it(text: str) -> None:
    assume(read_simple(text) is not None)
    # A line's end leaves it to the parser.
    assert read_script(text) == read_script(f"{text}\n")


RULES = rule_set(None)
FAMILY_FILES = sorted(FAMILIES.glob("*.yaml"))
CASES = [case.split() for path in FAMILY_FILES for rule in read_family(path).rules for case in rule.matches]
PARTS = st.sampled_from(sorted({word for case in CASES for word in case})) | st.sampled_from(("-", "--", "src", "-rf"))
NAMED = st.sampled_from(sorted({name for rule in RULES.rules for match in rule.match for name in match.program}))
PROGRAM_TEXT = st.none() | st.sampled_from(("", "import os; os.remove('/')", "exec(urlopen(x))", "DROP TABLE a"))


@STEADY
@given(
    st.builds(
        Command,
        program=NAMED,
        args=st.lists(PARTS, max_size=5).map(tuple) | st.sampled_from(CASES).map(lambda words: tuple(words[1:])),
        via=st.sampled_from(((), ("sudo",), ("ssh",))),
        fed_by=st.sampled_from(((), ("curl",), ("base64",))),
        code=PROGRAM_TEXT,
        stdin=PROGRAM_TEXT,
        cwd=st.sampled_from((None, "/srv/app", "/etc")),
    ),
    st.sampled_from((None, "/srv/app")),
)
def test_a_quick_look_overlooks_no_rule(command: Command, workspace: str | None) -> None:
    known = RULES._find_known(command.program)
    if known is not None and known.is_silent(command, workspace):
        assert known.holding(Facts(command, workspace, known.valued)) == []


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
