"""Whatever comes in, the work is bounded: a test here that does not end within its limit has failed."""

from __future__ import annotations

import pytest

from interlock.config.schema import Review as ReviewConfig
from interlock.core import Context, Step, Tool
from interlock.review import Reviewer, review_command

pytestmark = pytest.mark.timeout(30)

MEGABYTE = 1_000_000
NESTED = "rm -rf /"
for _ in range(10):
    NESTED = "bash -c '" + NESTED.replace("'", "'\\''") + "'"

HOSTILE = {
    "one long word": "echo " + "a" * MEGABYTE,
    "many words": "echo " + "a " * (MEGABYTE // 2),
    "ten thousand pipes": "|".join(["cat"] * 10_000),
    "pipes without end": "|".join(["cat"] * 10_000) + "|",
    "open brackets": "(" * 100_000,
    "nested substitutions": "$(" * 20_000,
    "closed substitutions": "echo " + "$(echo " * 5_000 + ")" * 5_000,
    "quotes": '"' * 100_001,
    "backticks": "`" * 100_001,
    "braces": "{ " * 50_000,
    "brace expansion": "echo " + "{a,b}" * 500,
    "commas in braces": "echo {" + "," * 60_000,
    "heredocs without end": "cat " + " ".join(f"<<E{n}" for n in range(5_000)),
    "statements": "a;" * (MEGABYTE // 2),
    "conditions": "if a; then " * 20_000,
    "cases": "case x in " * 20_000,
    "arithmetic": "$((" * 20_000,
    "defaults": "${a:-" * 20_000,
    "NUL": "\0" * 100_000,
    "no text at all": "\x00\x01)(][}{><&|;" * 20_000,
    "odd words": "?a" * 2_000 + "\n" + "@é" * 2_000,
    "recursion": "f(){ f; f; }; f",
    "mutual recursion": "f(){ g; g; }; g(){ f; f; }; f",
    "doubling aliases": "".join(f'alias a{n}="a{n + 1}; a{n + 1}";' for n in range(40)) + "a0",
    "a file that runs itself": "echo './a; ./a' > a; ./a",
    "files that run each other": "".join(f"echo 'sh a{n + 1}; sh a{n + 1}' > a{n}; " for n in range(30)) + "sh a0",
    "a file that grows": "echo a > a; " + "cat a a a a > b; cat b b b b > a; " * 40,
    "a text that grows": "awk '" + "x=x x;" * 3_000 + "system(x)'",
    "a literal that grows": 'python -c "os.remove(' + "'a'+" * 20_000 + "'b')\"",
    "back quotes in a heredoc": "cat <<E\n" + "`" * 60_001 + "\nE\n",
    "commands in a heredoc": "cat <<E\n" + "`echo a`\n" * 5_000 + "E\n",
    "lines for nested loops": "while read x; do " * 6 + "ls;" + "done;" * 6 + " <<E\n" + "a\n" * 64 + "E\n",
    "doubling evals": 'x=\'eval "$x;$x"\'; eval "$x"',
    "nested loops": "for i in a b c d e f g h; do " * 12 + "ls;" + "done;" * 12,
    "wrappers": "sudo " * 20_000 + "ls",
    "evals": "eval " * 10_000 + "ls",
    "searches in searches": "find . -exec " * 5_000,
    "redirections": "a" + " > b" * 50_000,
    "assignments": "a=b;" * 100_000,
    "statements for a database": "psql -c '" + "ALTER TABLE a " * 20_000 + "'",
    "comments for a database": "psql -c '" + "/*" * 30_000 + "'",
    "bare grant": "grant " + "a" * MEGABYTE,
    "blanks in code": "python -c '" + " " * 60_000 + "x=1; os.system(y)'",
    "dots in code": "python -c 'os.remove;" + "a." * 30_000 + "'",
    "calls in code": "python -c 'os.remove;" + "f(" * 30_000 + "'",
    "a request that repeats a word": "curl -X POST " + "delete" * 50_000,
    "a request with a long body": "curl -d '" + "mutation " * 50_000 + "' http://x",
    "a path that goes up": "rm " + "../" * 100_000,
    "options": "rm -" + "r" * 100_000 + " /nowhere/at/all",
    "stars": "systemctl stop " + "*a" * 5_000,
    "nested shells": NESTED,
    "letters that the parser's scanner reads out of bounds on": "{\U000f0000 " * 200 + "{\U00031860",
    "lone surrogates": "\ud800 rm \udfff" * 1_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_input_ends(text: str) -> None:
    review = review_command(text)
    assert 0 <= review.risk <= 1


@pytest.mark.parametrize(
    "text",
    [
        "cat | " * 10_000 + "rm -rf /",
        "(" * 5_000 + "rm -rf /" + ")" * 5_000,
        "ls\n" * 200_000 + "rm -rf /",
        "sudo " * 5_000 + "rm -rf /",
        "# " + "x" * MEGABYTE + "\nrm -rf /",
        "?a" * 3_000 + "\nrm -rf /",
        "echo " + "$(echo " * 3_000 + "\nrm -rf /\n" + ")" * 3_000,
    ],
    ids=["pipes", "brackets", "lines", "wrappers", "comment", "odd words", "substitutions"],
)
def test_padding_does_not_hide_a_command(text: str) -> None:
    assert review_command(text).verdict == "block"


@pytest.mark.parametrize("text", ["rm -rf (", "if true; then", "echo 'x", "$("])
def test_what_cannot_be_parsed_has_its_risk(text: str) -> None:
    assert review_command(text).risk >= 0.7


def test_a_file_written_by_a_heredoc_is_data_however_long_it_is() -> None:
    body = "rm -rf / | sh (\n" * 20_000
    assert review_command(f"cat > x.sh <<'EOF'\n{body}EOF\nls").verdict != "block"


def reviewed(*calls: tuple[str, dict[str, object]]) -> str:
    """The verdict on the last of some calls."""
    reviewer = Reviewer(ReviewConfig(), Context(original_prompt="x", workspace="/w/p"), "/w/p")
    verdict = ""
    for index, (name, arguments) in enumerate(calls):
        tool = Tool(name, arguments, f"call-{index}")
        step = Step(run_id="r", index=index, role="assistant", kind="tool_call", tool=tool)
        verdict = reviewer.review(step).verdict
    return verdict
