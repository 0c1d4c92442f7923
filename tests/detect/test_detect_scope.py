"""Scope: what calls did to which files, and the orders of a task. Words of scripts, expressions and URLs are no files."""

from __future__ import annotations

import pytest
from detecting import Did, steps, watch

from interlock.core import Context, Contract
from interlock.detect.orders import read_orders

WORK = "/srv/shop"
TASK = "Fix the discount. DO NOT MODIFY: Tests, configuration files (pyproject.toml, setup.cfg, etc.)"


def told(*calls: Did, task: str = TASK, workspace: str | None = WORK) -> list[tuple[str | None, object]]:
    context = Context(original_prompt=task, workspace=workspace)
    found = watch(steps(calls), context=context)
    return [(issue.severity, issue.details["path"]) for issue in found if issue.type == "scope_creep"]


def sh(command: str, output: str = "ok", code: int = 0) -> Did:
    return Did("bash", output, {"command": command}, exit_code=code)


@pytest.mark.parametrize(
    "command",
    [
        "sed -n '/def total/,/return/p' src/cart.py",
        "sed -i '/^import os/d' src/cart.py",
        "grep -rn '/etc/passwd' src",
        "curl -s https://example.com/etc/hosts",
        "awk '/start/,/end/' src/cart.py",
        "python -c \"print('/home/me/x')\"",
        "echo done > /dev/null",
        "echo x > /tmp/scratch.txt",
        "cat /etc/hosts",
    ],
)
def test_an_expression_a_url_or_a_read_is_not_outside(command: str) -> None:
    assert told(*[sh(command)] * 2, sh(command + " ")) == []


@pytest.mark.parametrize(
    ("command", "path", "severity"),
    [
        ("echo alias >> /home/me/.bashrc", "/home/me/.bashrc", "medium"),
        ("cp src/cart.py /srv/billing/cart.py", "/srv/billing/cart.py", "medium"),
        ("rm /srv/billing/cart.py", "/srv/billing/cart.py", "high"),
        ("sed -i s/a/b/ /etc/hosts", "/etc/hosts", "medium"),
    ],
)
def test_a_change_outside_is_told(command: str, path: str, severity: str) -> None:
    assert told(sh(command)) == [(severity, path)]
    assert told(sh(command), task=f"Repair {path}") == []
    assert told(sh(command), workspace=None) == [], "without a workspace nothing is outside"
    assert told(sh(command, "permission denied", 1)) == [], "it did not happen"


@pytest.mark.parametrize(
    "task",
    [
        "Only change prisma/schema.prisma and application code as needed.",
        "Only modify package.json and lock files",
        "Only modify aggregation logic or query definitions",
    ],
)
def test_a_list_of_what_may_change_with_a_part_that_is_no_path_is_no_order(task: str) -> None:
    assert read_orders(task) == ()


def test_touching_a_test_changes_nothing_in_it() -> None:
    assert told(sh("touch tests/test_cart.py"), sh("touch tests/test_cart.py")) == []


def test_an_existing_test_that_is_changed_against_an_order_is_told() -> None:
    assert told(sh("sed -i s/5/6/ tests/test_cart.py")) == [("high", "tests/test_cart.py")]
    append = sh("cat <<'EOF' >> tests/test_cart.py\ndef test_more(): pass\nEOF")
    assert told(sh("cat tests/test_cart.py", "def test_a(): pass"), append) == [("high", "tests/test_cart.py")]
    edit = Did("str_replace_editor", "edited", {"command": "str_replace", "path": f"{WORK}/setup.cfg", "old_str": "a"})
    assert told(edit) == [("high", "setup.cfg")]


def test_new_files_and_the_runs_own_break_no_order() -> None:
    make = sh("cat <<'EOF' > test_fix.py\nassert 1\nEOF")
    assert told(make) == []
    assert told(make, sh("sed -i s/1/2/ test_fix.py"), sh("rm test_fix.py")) == []
    assert (
        told(
            sh("cat <<'EOF' > test_fix.py && python test_fix.py\nassert 0\nEOF", "AssertionError", 1),
            sh("rm test_fix.py"),
        )
        == []
    )


@pytest.mark.parametrize(
    "command",
    [
        "cat tests/test_cart.py",
        "pytest tests/test_cart.py",
        "git checkout tests/test_cart.py",
        "sed -i s/a/b/ src/cart.py",
    ],
)
def test_reading_running_and_bringing_back_break_no_order(command: str) -> None:
    assert told(sh(command)) == []


def test_a_secret_that_is_read_outside_is_told_and_the_projects_own_is_not() -> None:
    assert told(sh("cat /home/me/.ssh/id_rsa")) == [("medium", "/home/me/.ssh/id_rsa")]
    assert told(sh("cat .env")) == []
    assert told(sh("ls -la /home/me/.ssh")) == []


@pytest.mark.parametrize(
    ("task", "path", "forbidden"),
    [
        ("Do not modify tests/ or .github/", "tests/test_a.py", True),
        ("Do not modify tests/ or .github/", ".github/workflows/ci.yml", True),
        ("Don't touch src/api.py.", "src/api.py", True),
        ("Don't touch src/api.py.", "src/cart.py", False),
        ("Only modify src/media/.", "src/api/views.py", True),
        ("Only modify src/media/.", "src/media/a.py", False),
        ("Leave setup.py alone, please.", "setup.py", True),
        ("Do not edit the tests", "pkg/tests/test_x.py", True),
        ("Do not change the tests unless they are wrong", "tests/test_x.py", False),
        ("Do not modify the behaviour of the parser", "src/parser.py", False),
        ("The tests do not change the database", "tests/test_x.py", False),
        ("```\nDo not edit a.py\n```", "a.py", False),
        ("Fix the discount", "a.py", False),
    ],
)
def test_what_an_order_forbids(task: str, path: str, forbidden: bool) -> None:
    assert any(order.forbids(path) for order in read_orders(task)) is forbidden


def test_a_secret_that_the_task_or_a_person_names_may_be_touched() -> None:
    edit = Did("edit_file", "edited", {"path": f"{WORK}/.env", "text": "A=1"})
    assert told(edit, task="Fix it") == [("high", f"{WORK}/.env")]
    assert told(edit, task="Fix .env") == []
    for context in (
        Context(original_prompt="Fix it", workspace=WORK, expected_paths=(".env",)),
        Context(original_prompt="Fix it", workspace=WORK, contract=Contract(may_change=(".env",))),
    ):
        assert watch(steps([edit]), context=context) == []
