"""What an agent says it wrote is looked for on the disk, once, and the answer stays with the step."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from interlock.config import Config
from interlock.core import Context, ManualClock, Step
from interlock.journal import JournalReader, Store
from interlock.journal_records import StepRecord
from interlock.runtime import DecisionPipeline, Supervisor
from interlock.runtime.replay import replay
from interlock.runtime.surroundings import missing_files
from tests.runtime.scripted import START

CLAIMS = ("I have created the file `report.md`.", "I've updated `notes.md` as well.")


def said(index: int, text: str, role: str = "assistant") -> Step:
    return Step(run_id="r", index=index, role=role, content=text, time=START + index)  # type: ignore[arg-type]


def test_only_claims_of_the_agent_are_looked_for(tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text("done")
    assert missing_files(said(0, CLAIMS[0]), str(tmp_path)) == ()
    assert missing_files(said(0, CLAIMS[1]), str(tmp_path)) == ("notes.md",)
    assert missing_files(said(0, "Let me look."), str(tmp_path)) is None
    assert missing_files(said(0, CLAIMS[1], "user"), str(tmp_path)) is None
    assert missing_files(said(0, CLAIMS[1]), None) is None


@pytest.mark.parametrize("there", [True, False])
def test_a_successor_judges_by_what_was_seen_then(tmp_path: Path, there: bool) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    files = [workspace / "report.md", workspace / "notes.md"]
    if there:
        for file in files:
            file.write_text("done")
    with Supervisor.open(
        task="write a report", workspace=str(workspace), store=Store(tmp_path / "runs"), clock=ManualClock(START)
    ) as supervisor:
        for index, text in enumerate(CLAIMS):
            supervisor.after(said(index, text))
        supervisor.run.journal.flush()
        folder = supervisor.run.folder
    for file in files:
        file.unlink(missing_ok=True)
    with JournalReader.open(folder) as reader:
        kept = [msgspec.json.decode(one.body, type=StepRecord) for one in reader.read(kinds=frozenset(("step",)))]
        told = [msgspec.json.decode(one.body)["type"] for one in reader.read(kinds=frozenset(("issue",)))]
        successor = DecisionPipeline("r", Config(), Context(original_prompt="write a report"))
        replay(successor, reader)
    assert [record.absent for record in kept] == ([(), ()] if there else [("report.md",), ("notes.md",)])
    assert told == ([] if there else ["hallucination"])
    assert [issue.type for issue in successor.state(START).issues] == told
