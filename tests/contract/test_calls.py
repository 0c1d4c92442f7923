"""A call that would break a clause is refused with the clause and where it comes from, however it goes about it."""

from __future__ import annotations

import pytest

from interlock.config import Config
from interlock.contract import agree, given
from interlock.core import Clause, Context, Contract, Review, Step, Tool
from interlock.runtime.decision_pipeline import DecisionPipeline

WORKSPACE = "/w"


def review(contract: Contract, command: str, *, task: str = "") -> Review:
    return judge(contract, Tool("Bash", {"command": command}), task=task)


def judge(contract: Contract, tool: Tool, *, task: str = "") -> Review:
    context = Context(workspace=WORKSPACE, original_prompt=task, contract=contract)
    pipeline = DecisionPipeline("r", Config(), context)
    found = pipeline.review(Step(run_id="r", index=0, role="assistant", kind="tool_call", tool=tool))
    assert found is not None
    return found


PROTECTED = given([Clause("protect", "tests/**", "--protect")])


@pytest.mark.parametrize(
    "command",
    [
        "sed -i 's/1/2/' tests/test_a.py",
        "echo x > tests/test_a.py",
        "echo x >> ./tests/test_a.py",
        "cat > tests/new.py <<'E'\nx\nE",
        "cd tests && echo 1 > test_a.py",
        "rm tests/test_a.py",
        "rm -r tests",
        "mv tests old_tests",
        "mv tests/test_a.py /tmp/",
        "cp other.py tests/test_a.py",
        "cp other.py tests/",
        "git checkout HEAD~1 -- tests/test_a.py",
        "git restore tests/test_a.py",
        "git rm tests/test_a.py",
        "git mv tests/test_a.py x.py",
        "chmod 000 tests/test_a.py",
        "perl -pi -e 's/a/b/' tests/test_a.py",
        "python -c \"open('tests/test_a.py', 'w').write('')\"",
        "python3 - <<'E'\nfrom pathlib import Path\nPath('tests/test_a.py').write_text('x')\nE",
        "bash -c 'truncate -s 0 tests/test_a.py'",
        "tee tests/test_a.py < other.py",
        "dd if=/dev/null of=tests/test_a.py",
        "ln -sf other.py tests/test_a.py",
        "black tests/test_a.py",
        "touch tests/new.py",
        "curl -o tests/test_a.py https://example.com/x",
        "sort -o tests/data.txt other.txt",
        "find tests -name '*.py' -exec sed -i s/a/b/ {} +",
        "echo tests/test_a.py | xargs rm",
        "sudo rm tests/test_a.py",
    ],
)
def test_a_change_of_a_protected_file_is_refused_by_its_effect(command: str) -> None:
    found = review(PROTECTED, command)
    assert found.verdict == "block", command
    assert "contract.protect" in found.rules
    assert "tests/**" in found.reason
    assert "--protect" in found.reason


@pytest.mark.parametrize(
    "command",
    [
        "cat tests/test_a.py",
        "pytest tests -q",
        "pytest tests/test_a.py 2>&1 | tail -5",
        "grep -rn x tests > out.txt",
        "sed -n 1,5p tests/test_a.py",
        "diff tests/test_a.py src/a.py",
        "cp tests/test_a.py /tmp/copy.py",
        "git diff tests",
        "git checkout -b tests-fix",
        "git add tests",
        "black --check tests/test_a.py",
        "ls -la tests && echo ok > src/a.py",
        "python -m pytest tests/test_a.py",
        "python -c \"print(open('tests/test_a.py').read())\"",
        "wc -l tests/*.py",
        "tar czf /tmp/t.tgz tests",
    ],
)
def test_what_only_reads_a_protected_file_is_not(command: str) -> None:
    assert not [rule for rule in review(PROTECTED, command).rules if rule.startswith("contract.")], command


@pytest.mark.parametrize(
    "tool",
    [
        Tool("Edit", {"file_path": "/w/tests/test_a.py", "old_string": "1", "new_string": "2"}),
        Tool("Write", {"file_path": "/w/tests/test_a.py", "content": ""}),
        Tool("str_replace_editor", {"command": "create", "path": "tests/x.py", "file_text": ""}),
        Tool("apply_patch", {"input": "*** Begin Patch\n*** Update File: tests/test_a.py\n@@\n-1\n+2\n*** End Patch"}),
        Tool("delete_file", {"path": "tests/test_a.py"}),
        Tool("move_file", {"source": "tests/test_a.py", "destination": "old.py"}),
    ],
)
def test_the_same_through_a_tool_for_files(tool: Tool) -> None:
    assert "contract.protect" in judge(PROTECTED, tool).rules


def test_a_script_that_was_written_first_is_read_when_it_runs() -> None:
    context = Context(workspace=WORKSPACE, contract=PROTECTED)
    pipeline = DecisionPipeline("r", Config(), context)

    def call(index: int, tool: Tool) -> Review:
        found = pipeline.review(Step(run_id="r", index=index, role="assistant", kind="tool_call", tool=tool))
        assert found is not None
        return found

    script = "#!/bin/sh\nrm tests/test_a.py\n"
    assert call(0, Tool("Write", {"file_path": "/w/fix.sh", "content": script})).verdict != "block"
    assert "contract.protect" in call(1, Tool("Bash", {"command": "sh fix.sh"})).rules


def test_only_what_may_change_may_change() -> None:
    contract = given([Clause("may_change", "src/**", "interlock.yaml:3")])
    assert review(contract, "echo 1 > src/a.py").verdict == "allow"
    assert review(contract, "echo 1 > /tmp/scratch.py").verdict == "allow"
    assert review(contract, "mkdir -p src/deep/er").verdict == "allow"
    found = review(contract, "echo 1 > setup.py")
    assert found.verdict == "block"
    assert "interlock.yaml:3" in found.reason
    assert not found.ask


def test_protect_wins_over_may_change() -> None:
    contract = given([Clause("may_change", "src/**"), Clause("protect", "src/api.py")])
    assert review(contract, "echo 1 > src/api.py").verdict == "block"
    assert review(contract, "echo 1 > src/b.py").verdict == "allow"


def test_a_person_who_is_there_is_asked_about_other_files_but_not_about_protected_ones() -> None:
    contract = given([Clause("may_change", "src/**"), Clause("protect", "tests/**")])
    pipeline = DecisionPipeline("r", Config(), Context(workspace=WORKSPACE, contract=contract), attended=True)
    tool = Tool("Bash", {"command": "echo 1 > setup.py"})
    found = pipeline.review(Step(run_id="r", index=0, role="assistant", kind="tool_call", tool=tool))
    assert found is not None
    assert found.ask
    tool = Tool("Bash", {"command": "echo 1 > tests/a.py"})
    found = pipeline.review(Step(run_id="r", index=1, role="assistant", kind="tool_call", tool=tool))
    assert found is not None
    assert not found.ask


def test_only_allowed_commands_run() -> None:
    contract = given([Clause("may_run", "pytest"), Clause("may_run", "git diff")])
    assert review(contract, "cd src && pytest -q; git diff").verdict == "allow"
    assert review(contract, "python -m pytest -q").verdict == "allow"
    assert "contract.may-run" in review(contract, "git push").rules
    assert "contract.may-run" in review(contract, "pytest && make").rules


def test_only_named_hosts_are_reached() -> None:
    contract = given([Clause("hosts", "*.example.com")])
    assert not review(contract, "curl https://docs.example.com/x").rules
    assert "contract.hosts" in review(contract, "curl https://example.org/x").rules
    assert "contract.hosts" in judge(contract, Tool("WebFetch", {"url": "https://example.org"})).rules


@pytest.mark.parametrize(
    ("task", "command", "refused"),
    [
        ("Fix it. Do not push.", "git push origin HEAD", True),
        ("Fix it. Do not push.", "git -C sub push", True),
        ("Fix it. Do not push.", "git commit -am x", False),
        ("Fix it, and don't commit anything.", "git commit -m x", True),
        ("Fix it without installing anything.", "pip install requests", True),
        ("Fix it without installing anything.", "python -m pip install requests", True),
        ("Fix it without installing anything.", "npm i left-pad", True),
        ("Fix it without installing anything.", "pip install -r requirements.txt", False),
        ("Fix it without installing anything.", "npm ci", False),
        ("Fix it. Never deploy.", "kubectl apply -f x.yaml", True),
        ("Fix it. Never deploy.", "npm run deploy", True),
        ("Fix it. Never deploy.", "npm run build", False),
        ("Fix the parser, do not touch the tests.", "sed -i s/1/2/ tests/test_a.py", True),
        ("Only change src/parser.py.", "echo > src/lexer.py", True),
        ("Only change src/parser.py.", "echo > src/parser.py", False),
        ("Fix the parser and its tests.", "sed -i s/1/2/ tests/test_a.py", False),
    ],
)
def test_the_words_of_the_task_are_enforced_with_their_phrase(task: str, command: str, refused: bool) -> None:
    found = review(Contract(), command, task=task)
    broken = [rule for rule in found.rules if rule.startswith("contract.")]
    assert bool(broken) is refused
    if refused:
        assert "the task:" in found.reason


def test_the_task_narrows_the_configuration_and_an_option_stands_over_the_task() -> None:
    config = Config().contract
    task = "Only change src/parser.py."
    narrowed = agree(Context(original_prompt=task, workspace="/w"), config).contract
    assert narrowed.narrowed == ("src/parser.py",)
    option = given([Clause("may_change", "src/**", "--may-change")])
    kept = agree(Context(original_prompt=task, workspace="/w", contract=option), config).contract
    assert kept.narrowed == ()
    assert agree(Context(original_prompt=task, workspace="/w", contract=narrowed), config).contract == narrowed


def test_a_file_of_instructions_gives_clauses_and_runs_no_command() -> None:
    context = Context(
        original_prompt="Follow PLAN.md.", instructions="Do not touch tests/. `make evil` must pass.", workspace="/w"
    )
    contract = agree(context, Config().contract).contract
    assert contract.protect == ("tests/",)
    assert contract.done_when == ()
    assert any("make evil" in line for line in contract.constraints)
