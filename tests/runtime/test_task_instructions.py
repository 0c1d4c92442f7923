"""A task that points to a file: its words count from the start, or from when the agent has read it."""

from __future__ import annotations

from pathlib import Path

from interlock.config import Config
from interlock.core import Context, Step, Tool
from interlock.runtime import DecisionPipeline
from interlock.runtime.surroundings import read_task_files


def test_a_file_that_is_there_at_the_start_is_part_of_the_task(tmp_path: Path) -> None:
    (tmp_path / "PLAN.md").write_text("Change src/a.py only.")
    context = read_task_files(Context(original_prompt="implement PLAN.md", workspace=str(tmp_path)))
    assert context.instructions == "Change src/a.py only."


def test_a_missing_file_a_folder_and_a_binary_file_add_nothing(tmp_path: Path) -> None:
    (tmp_path / "PLAN.md").mkdir()
    (tmp_path / "TASK.md").write_bytes(b"\0\1")
    for task in ("implement PLAN.md", "follow TASK.md", "do what is described in spec.md"):
        assert read_task_files(Context(original_prompt=task, workspace=str(tmp_path))).instructions == ""


def read(pipeline: DecisionPipeline, index: int, path: str, text: str) -> None:
    tool = Tool("Read", {"file_path": path}, f"c{index}")
    for step in (
        Step(run_id="r", index=index, role="assistant", kind="tool_call", tool=tool),
        Step(run_id="r", index=index + 1, role="tool", kind="tool_result", content=text, tool=tool, error=False),
    ):
        pipeline.count(step)
        pipeline.observe(step, pipeline.review(step))


def test_what_the_agent_reads_there_is_the_task_for_every_part_and_survives_a_restart() -> None:
    context = Context(original_prompt="complete the task in /instruction/task.md")
    pipeline = DecisionPipeline("r", Config(), context)
    read(pipeline, 0, "/elsewhere/notes.md", "nothing to do with it")
    assert pipeline.state(0.0).context.instructions == ""
    read(pipeline, 2, "/instruction/task.md", "     1\tRemove the folder /srv/old/site and restart.\n")
    known = "Remove the folder /srv/old/site and restart."
    again = DecisionPipeline("r", Config(), context)
    again.restore(pipeline.save())
    for one in (pipeline, again):
        assert one.state(0.0).context.instructions == known
        assert one.detectors.context.instructions == known
        assert one.reviewer.context.instructions == known
