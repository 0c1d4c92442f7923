"""Task files: a task that points to a file of instructions takes that file's words."""

from __future__ import annotations

import pytest

from interlock.core import Context
from interlock.core.instruction_files import LENGTH, instructions_in, is_task_file, task_files, with_instructions


@pytest.mark.parametrize(
    ("task", "file"),
    [
        ("complete the task in /instruction/task.md", "/instruction/task.md"),
        ("Your task is in `/instruction/task.md`.", "/instruction/task.md"),
        ("implement PLAN.md", "PLAN.md"),
        ("Implement the plan in docs/PLAN.md.", "docs/PLAN.md"),
        ("Follow the instructions in `TASK.md`", "TASK.md"),
        ("Read task.md, then implement it", "task.md"),
        ("See INSTRUCTIONS.txt for the task", "INSTRUCTIONS.txt"),
        ("PLAN.md contains the steps", "PLAN.md"),
        ("work through TODO", "TODO"),
        ("do @PLAN.md", "PLAN.md"),
        ("Create the parser described in ./spec.md", "spec.md"),
        ("Write a function as specified in SPEC.md", "SPEC.md"),
    ],
)
def test_a_task_points_to_a_file_of_instructions(task: str, file: str) -> None:
    assert task_files(task) == (file,)


@pytest.mark.parametrize(
    "task",
    [
        "Write the result to /app/output.txt",
        "Fix the typo in README.md",
        "Save the plan in PLAN.md",
        "Write your instructions in HOWTO.md",
        "the numbers given in /app/data.txt",
        "Read data.txt and count the words",
        "pip install -r requirements.txt",
        "Do not follow OLD.md",
        "don't work on TODO.md",
        "Do the task at https://example.org/task.md",
        "Complete the task",
    ],
)
def test_a_file_that_a_task_only_mentions_has_no_instructions(task: str) -> None:
    assert task_files(task) == ()


def test_a_path_of_the_agent_is_known_for_the_file_that_the_task_names() -> None:
    assert is_task_file("/repo/docs/PLAN.md", ("docs/PLAN.md",))
    assert is_task_file("./PLAN.md", ("PLAN.md",))
    assert is_task_file("task.md", ("/instruction/task.md",))
    assert not is_task_file("/repo/OLD_PLAN.md", ("PLAN.md",))


def test_numbers_before_the_lines_are_not_part_of_the_instructions() -> None:
    assert instructions_in("     1\tUse only src.\n     2\tKeep the API.\n") == "Use only src.\nKeep the API."
    assert instructions_in("1→Use only src.\n2→Keep the API.") == "Use only src.\nKeep the API."
    assert instructions_in("Do this:\n1: build\nthen stop\nthere") == "Do this:\n1: build\nthen stop\nthere"


def test_the_words_of_a_file_join_the_task_once_and_are_bounded() -> None:
    context = with_instructions(Context(original_prompt="implement PLAN.md"), "Change src/a.py only.")
    assert context.task == "implement PLAN.md\n\nChange src/a.py only."
    assert with_instructions(context, "Change src/a.py only.") is context
    assert len(with_instructions(context, "word " * 100_000).instructions) <= 4 * LENGTH
