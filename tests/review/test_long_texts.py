"""Long scripts and code: what acts is found wherever it is, and what cannot be read is not allowed."""

from __future__ import annotations

import pytest

from interlock.config import Config
from interlock.core import Context, Step, Tool
from interlock.review import Reviewer, review_command

PADS = [f"echo line{number} && mkdir -p d{number}" for number in range(1500)]
CODE = [f"x{number} = {number}" for number in range(3000)]


def with_line(lines: list[str], line: str, where: str) -> str:
    at = {"start": 0, "middle": len(lines) // 2, "end": len(lines)}[where]
    return "\n".join((*lines[:at], line, *lines[at:]))


@pytest.mark.parametrize("where", ["start", "middle", "end"])
@pytest.mark.parametrize(
    "feeds", ["bash <<'E'\n{}\nE", "cd x && cat <<'E' | sh\n{}\nE", "bash -c '{}'", "bash <<< '{}'", "{}"]
)
def test_a_long_script_that_deletes_a_home_is_blocked(feeds: str, where: str) -> None:
    found = review_command(feeds.format(with_line(PADS, "rm -rf ~", where)))
    assert found.verdict == "block"


@pytest.mark.parametrize("where", ["start", "middle", "end"])
@pytest.mark.parametrize("feeds", ["python3 - <<'E'\n{}\nE", 'python3 -c "{}"'])
@pytest.mark.parametrize(
    "line", ["import shutil; shutil.rmtree('/home')", "home = '/home'; import shutil; shutil.rmtree(home)"]
)
def test_long_code_that_deletes_homes_is_blocked(line: str, feeds: str, where: str) -> None:
    assert review_command(feeds.format(with_line(CODE, line, where))).verdict == "block"


@pytest.mark.parametrize("feeds", ["cat > notes.txt <<'E'\n{}\nE", "tee log.txt <<'E'\n{}\nE"])
def test_a_long_text_that_only_mentions_it_is_allowed(feeds: str) -> None:
    assert review_command(feeds.format(with_line(PADS, "rm -rf ~", "middle"))).verdict == "allow"


@pytest.mark.parametrize("feeds", ["bash <<'E'\n{}\nE", "python3 - <<'E'\n{}\nE"])
def test_long_harmless_texts_are_allowed(feeds: str) -> None:
    assert review_command(feeds.format("\n".join(CODE if "python" in feeds else PADS))).verdict == "allow"


def test_code_with_more_that_acts_than_can_be_read_is_not_allowed() -> None:
    acting = [f"os.remove('build/{number}.o')" for number in range(2000)]
    assert review_command("python3 - <<'E'\nimport os\n" + "\n".join(acting) + "\nE").verdict != "allow"


@pytest.mark.parametrize("where", ["start", "middle", "end"])
@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize(
    ("name", "line", "runs"),
    [
        ("x.py", "import shutil; shutil.rmtree('/home')", "python x.py"),
        ("x.sh", "rm -rf ~", "bash x.sh"),
    ],
)
def test_a_long_file_that_was_written_is_known_when_it_runs(
    name: str, line: str, runs: str, copies: int, where: str
) -> None:
    lines = (PADS if name == "x.sh" else CODE) * copies
    reviewer = Reviewer(Config().review, Context())
    assert reviewer.review(tool_call("Write", {"file_path": name, "content": "\n".join(lines)})).verdict == "allow"
    assert reviewer.review(tool_call("Bash", {"command": runs})).verdict == "allow"
    text = with_line(lines, line, where)
    assert reviewer.review(tool_call("Write", {"file_path": name, "content": text})).verdict == "allow"
    assert reviewer.review(tool_call("Bash", {"command": runs})).verdict == "block"


def tool_call(name: str, arguments: dict[str, object]) -> Step:
    return Step(
        run_id="r", index=1, time=1.0, role="assistant", kind="tool_call", content="", tool=Tool(name, arguments)
    )


@pytest.mark.parametrize("feeds", ["bash <<'E'\n{}\nE\nls", "bash -c '{}'", "{}"])
@pytest.mark.parametrize("times", [100, 500, 1000, 3000])
@pytest.mark.parametrize(
    "padding", ["echo hi | cat", "echo a && echo b", "[ -f a ] && echo yes || echo no", "mkdir -p d", "x=$(date)"]
)
def test_padding_hides_nothing_at_any_length(padding: str, times: int, feeds: str) -> None:
    script = "\n".join([*[padding] * times, "rm -rf /srv/data"])
    assert review_command(feeds.format(script)).verdict == "block"


@pytest.mark.parametrize(
    "script",
    [
        "for a in 1 2 3 4 5 6 7 8 9 10 11 12; do for b in a b c d e f g h i j k l; do for c in 1 2 3 4 5 6 7 8 9 10; do "
        "python train.py --a $a --b $b --c $c; done; done; done",
        "for i in {1..5000}; do touch f$i; mkdir -p d$i; done",
        "\n".join(f"mkdir -p d{number} && cp a d{number}/" for number in range(900)),
    ],
    ids=["nested loops", "a long loop", "many lines"],
)
def test_many_harmless_commands_are_allowed(script: str) -> None:
    assert review_command(script).verdict == "allow"


@pytest.mark.parametrize("feeds", ["psql shop <<'E'\n{}\nE", 'psql -d shop -c "{}"', "cat <<'E' | mysql shop\n{}\nE"])
@pytest.mark.parametrize("where", ["start", "middle", "end"])
@pytest.mark.parametrize("times", [10, 500, 1500])
def test_a_statement_that_destroys_is_found_among_many(times: int, where: str, feeds: str) -> None:
    harmless = [f"SELECT * FROM users WHERE id = {number};" for number in range(times)]
    assert review_command(feeds.format("\n".join(harmless))).verdict == "allow"
    assert review_command(feeds.format(with_line(harmless, "DROP TABLE users;", where))).verdict == "block"


def test_statements_in_literals_of_a_long_script_are_data() -> None:
    rows = ["INSERT INTO log VALUES ('please drop table x; delete from y\ndelete from users\n');"] * 300
    assert review_command("psql shop <<'E'\n{}\nE".format("\n".join(rows))).verdict == "allow"
