"""A contract against an agent that does what it likes: whatever it tries, the files are as agreed, and "done" is true."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from interlock import Contract, Supervisor
from interlock.config import Config
from interlock.config.schema import Contract as ContractConfig
from interlock.config.schema import Interventions
from interlock.core import BadInput, Decision, Goal
from interlock.intervene import context_text
from interlock.journal import JournalReader, Store
from interlock.journal_records import read_body
from interlock.runtime.approvals import Approvals

ORIGINAL = "def test_a():\n    assert 1 + 1 == 2\n"
Open = Callable[..., Supervisor]


class Agent:
    """Runs what it is let, and tells what came of it."""

    def __init__(self, supervisor: Supervisor, folder: Path) -> None:
        self.supervisor, self.folder = supervisor, folder
        self.heard: list[str] = []

    def run(self, command: str) -> Decision:
        call = self.supervisor.call("bash", {"command": command}, call_id=f"c{self.supervisor.next_index}")
        decision = self.supervisor.before(call)
        self.heard += [message.content for message in decision.messages]
        if decision.action == "proceed":
            done = subprocess.run(command, shell=True, cwd=self.folder, capture_output=True, text=True, check=False)
            result = self.supervisor.result(done.stdout + done.stderr, exit_code=done.returncode)
            after = self.supervisor.after(result)
            self.heard += [message.content for message in after.messages]
        return decision


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "w"
    (place / "tests").mkdir(parents=True)
    (place / "src").mkdir()
    (place / "tests" / "test_a.py").write_text(ORIGINAL)
    (place / "src" / "a.py").write_text("broken\n")
    return place


@pytest.fixture
def open_run(folder: Path, tmp_path: Path) -> Iterator[Open]:
    made: list[Supervisor] = []

    def begin(contract: Contract | None = None, **options: object) -> Supervisor:
        options.setdefault("config", Config())
        options.setdefault("task", "Fix src/a.py.")
        supervisor = Supervisor.open(
            workspace=folder, store=Store(tmp_path / "s"), checkpoint_store=tmp_path / "c",
            contract=contract or Contract(), **options,
        )  # type: ignore[arg-type]  # fmt: skip
        made.append(supervisor)
        return supervisor

    yield begin
    for supervisor in made:
        supervisor.close()


def records(supervisor: Supervisor, kind: str) -> list[object]:
    supervisor.run.journal.flush()
    assert supervisor.run.folder is not None
    with JournalReader.open(supervisor.run.folder) as journal:
        return [read_body(record) for record in journal.read(kinds=frozenset((kind,)))]


PROTECTED = Contract(protect=("tests/**",))

SNEAKY = {
    "a name that is put together": "p=te; p=${p}sts/test_a.py; python3 -c \"open('$p'.replace('#',''), 'w').write('')\"",
    "python that builds the path": "python3 -c \"import os; open(os.path.join('te' + 'sts', 'test_a.py'), 'w').write('')\"",
    "a script that was there": "sh ./helper",
    "a link to the file": "ln -s tests/test_a.py alias && python3 -c \"open('al' + 'ias', 'w').write('')\"",
    "a link to the folder": "ln -s tests other && python3 -c \"open('oth' + 'er/test_a.py', 'w').write('')\"",
    "deleted and made again": "python3 -c \"import os; p = 'tes' + 'ts/test_a.py'; os.unlink(p); open(p, 'w').write('x')\"",
    "the rights taken away": "python3 -c \"import os; os.chmod('tes' + 'ts/test_a.py', 0)\"",
    "a new file beside it": "python3 -c \"open('tes' + 'ts/test_b.py', 'w').write('x')\"",
    "the folder moved away": "python3 -c \"import os; os.rename('tes' + 'ts', 'gone')\"",
}


@pytest.mark.parametrize("command", SNEAKY.values(), ids=SNEAKY.keys())
def test_what_no_reading_of_a_command_shows_is_undone_by_path(command: str, folder: Path, open_run: Open) -> None:
    (folder / "helper").write_text("echo x > tests/test_a.py\n")
    agent = Agent(open_run(PROTECTED), folder)
    assert agent.run("echo better > src/a.py").action == "proceed"
    decision = agent.run(command)
    test = folder / "tests" / "test_a.py"
    assert test.read_text() == ORIGINAL
    assert sorted(path.name for path in (folder / "tests").iterdir() if path.name != "__pycache__") == ["test_a.py"]
    assert (folder / "src" / "a.py").read_text() == "better\n", "the rest of its work stays"
    if decision.action == "proceed":
        assert any("Interlock restored" in words and "tests/**" in words for words in agent.heard), agent.heard
        assert records(agent.supervisor, "breach")


def test_running_the_tests_leaves_its_caches_beside_them(folder: Path, open_run: Open) -> None:
    agent = Agent(open_run(PROTECTED), folder)
    agent.run("mkdir -p tests/__pycache__ && echo x > tests/__pycache__/test_a.cpython-311.pyc")
    assert (folder / "tests" / "__pycache__").is_dir()
    assert not records(agent.supervisor, "breach")


def test_only_what_may_change_stays_changed_but_builds_may_build(folder: Path, open_run: Open) -> None:
    agent = Agent(open_run(Contract(may_change=("src/**",))), folder)
    agent.run(
        "python3 -c \"import os; os.makedirs('src/new'); [open(p, 'w').write('x') for p in ('src/new/b.py', 'c.py')]\""
    )
    agent.run("mkdir -p build && python3 -c \"open('build/out', 'w').write('x')\"")
    assert (folder / "src" / "new" / "b.py").exists()
    assert (folder / "build" / "out").exists()
    assert not (folder / "c.py").exists()


def test_a_person_who_allows_a_change_keeps_it(folder: Path, open_run: Open) -> None:
    supervisor = open_run(Contract(may_change=("src/**",)), approvals=Approvals(True))
    call = supervisor.call("bash", {"command": "echo x > setup.py"}, call_id="c1")
    assert supervisor.before(call).action == "hold"
    supervisor.answer(call.index, "approved")
    assert supervisor.before(call).action == "proceed"
    (folder / "setup.py").write_text("x\n")
    supervisor.after(supervisor.result("", exit_code=0))
    assert (folder / "setup.py").exists()
    assert supervisor.check_done() == ""
    assert (folder / "setup.py").exists()


def test_observing_reports_and_restores_nothing(folder: Path, open_run: Open) -> None:
    config = Config(interventions=Interventions(observe=True))
    agent = Agent(open_run(Contract(protect=("tests/**",), done_when=("false",)), config=config), folder)
    assert agent.run("echo x > tests/test_a.py").action == "proceed"
    assert (folder / "tests" / "test_a.py").read_text() == "x\n"
    assert agent.supervisor.stop_gate.at_turn_end("All tests pass.").action == "pass"
    assert agent.supervisor.check_done() == ""
    (breach, *_) = records(agent.supervisor, "breach")
    assert breach.left == ("tests/test_a.py",)  # type: ignore[attr-defined]
    assert [gate.outcome for gate in records(agent.supervisor, "stop_gate")] == ["observed"]  # type: ignore[attr-defined]


def test_a_change_between_calls_is_left_alone_and_the_run_is_not_proven(folder: Path, open_run: Open) -> None:
    supervisor = open_run(PROTECTED)
    Agent(supervisor, folder).run("echo better > src/a.py")
    (folder / "tests" / "test_a.py").write_text("who was it?\n")
    assert "tests/test_a.py" in supervisor.check_done()
    assert (folder / "tests" / "test_a.py").read_text() == "who was it?\n"


def test_failing_output_goes_back_three_times_and_then_the_run_is_unproven(folder: Path, open_run: Open) -> None:
    supervisor = open_run(Contract(done_when=("grep fixed src/a.py || { echo still broken; exit 3; }",)))
    gate = supervisor.stop_gate
    for number in (1, 2, 3):
        answer = gate.at_turn_end()
        assert answer.action == "return"
        assert "still broken" in answer.words
        assert "exit status 3" in answer.words
        (folder / "src" / "a.py").write_text(f"attempt {number}\n")
    assert gate.at_turn_end().action == "pass"
    assert "exit status 3" in supervisor.check_done()
    outcomes = [record.outcome for record in records(supervisor, "stop_gate")]  # type: ignore[attr-defined]
    assert outcomes == ["returned"] * 3 + ["unproven"] * 2


def test_the_same_files_are_not_checked_twice(folder: Path, open_run: Open, tmp_path: Path) -> None:
    supervisor = open_run(Contract(done_when=(f"echo x >> {tmp_path}/ran",)))
    assert supervisor.stop_gate.at_turn_end().action == "pass"
    assert supervisor.check_done() == ""
    assert (tmp_path / "ran").read_text() == "x\n"
    (folder / "src" / "a.py").write_text("changed\n")
    assert supervisor.check_done() == ""
    assert (tmp_path / "ran").read_text() == "x\nx\n"


def test_a_check_that_takes_too_long_is_ended_with_all_that_it_started(
    folder: Path, open_run: Open, tmp_path: Path
) -> None:
    config = Config(contract=ContractConfig(timeout_seconds=1))
    slow = f"sh -c 'sleep 600; echo late > {tmp_path}/late' & sleep 600"
    supervisor = open_run(Contract(done_when=(slow,)), config=config)
    answer = supervisor.stop_gate.at_turn_end()
    assert answer.action == "return"
    assert "longer than 1 s" in answer.words


def test_a_check_that_passes_only_with_settings_of_the_run_is_its_own(folder: Path, open_run: Open) -> None:
    (folder / "check.ini").write_text("strict\n")
    supervisor = open_run(Contract(done_when=("grep -q loose check.ini",)))
    Agent(supervisor, folder).run("echo loose >> check.ini")
    assert supervisor.stop_gate.at_turn_end().action == "pass"
    (record,) = records(supervisor, "stop_gate")
    assert (record.outcome, record.results[0].own) == (  # type: ignore[attr-defined]
        "own_check",
        ("only with check.ini as the run left it",),
    )


def test_a_successor_knows_the_tries_and_the_files_of_the_start(folder: Path, open_run: Open, tmp_path: Path) -> None:
    (folder / "check.ini").write_text("strict\n")
    contract = Contract(done_when=("grep -q loose check.ini",))
    first = open_run(contract)
    assert first.stop_gate.at_turn_end().action == "return"
    (folder / "check.ini").write_text("loose\n")
    first.run.journal.flush()
    first.run.close()
    assert first.run.folder is not None
    second = Supervisor.reopen(
        first.run.folder, config=Config(), contract=contract, checkpoint_store=tmp_path / "c", task="Fix src/a.py."
    )
    assert second.stop_gate.returns == 1
    second.stop_gate.at_turn_end()
    assert [record.outcome for record in records(second, "stop_gate")][-1] == "own_check"  # type: ignore[attr-defined]
    second.close()


def test_an_unproven_claim_is_answered_once(folder: Path, open_run: Open) -> None:
    gate = open_run().stop_gate
    answer = gate.at_turn_end("Done. All tests pass.")
    assert answer.action == "return"
    assert "no tests were run" in answer.words
    assert gate.at_turn_end("All tests pass, as I said.").action == "pass"


def test_a_claim_that_done_when_bears_out_needs_no_answer(folder: Path, open_run: Open) -> None:
    gate = open_run(
        Contract(done_when=("python3 -m unittest discover -s empty -t . || echo 'Ran 3 tests'; true",))
    ).stop_gate
    assert gate.at_turn_end("I fixed src/a.py.").action == "pass"


def test_nothing_is_checked_where_nothing_is_agreed_and_nothing_is_claimed(folder: Path, open_run: Open) -> None:
    supervisor = open_run()
    assert supervisor.stop_gate.at_turn_end("There are two folders.").action == "pass"
    assert supervisor.check_done() == ""
    assert not records(supervisor, "stop_gate")
    assert not records(supervisor, "contract")


def test_the_contract_is_in_the_journal_with_the_phrases_of_the_task(open_run: Open) -> None:
    supervisor = open_run(task="Fix src/a.py. Do not touch tests/.")
    (record,) = records(supervisor, "contract")
    (clause,) = record.contract.clauses  # type: ignore[attr-defined]
    assert (clause.key, clause.value, clause.phrase) == ("protect", "tests/", "Do not touch tests/.")


def test_a_glob_that_cannot_be_read_is_refused_before_the_run_starts(open_run: Open) -> None:
    with pytest.raises(BadInput, match="not closed"):
        open_run(Contract(protect=("tests/[",)))


def test_what_the_agent_reads_in_the_file_of_its_task_tightens_the_contract(folder: Path, open_run: Open) -> None:
    (folder / "PLAN.md").write_text("1. Fix src/a.py.\n2. Do not modify the tests.\n")
    agent = Agent(open_run(task="Implement PLAN.md."), folder)
    assert agent.run("echo x > tests/test_a.py").action == "deny"


def test_seed_gap_12_progress_is_updated_while_the_run_goes_on(open_run: Open) -> None:
    supervisor = open_run(Contract(goals=("write the parser", "document the parser")))
    todos = [{"content": "Write the parser", "status": "completed"}, {"content": "Document it", "status": "pending"}]
    supervisor.before(supervisor.call("TodoWrite", {"todos": todos}))
    context = supervisor.pipeline.context
    assert context.completed_subtasks == ("Write the parser",)
    assert context.goals == (Goal("write the parser", progress=1.0), Goal("document the parser"))
    supervisor.after(supervisor.message("Progress:\n- [x] Handle empty input\n- [ ] Docs"))
    assert supervisor.pipeline.context.completed_subtasks == ("Write the parser", "Handle empty input")
    assert supervisor.pipeline.state(0.0).context.completed_subtasks[-1] == "Handle empty input"


def test_seed_gap_12_a_check_that_passes_counts_as_progress(open_run: Open) -> None:
    supervisor = open_run(Contract(done_when=("true",)))
    supervisor.stop_gate.at_turn_end()
    assert supervisor.pipeline.context.completed_subtasks == ("`true` passes",)


def test_seed_gap_13_constraints_goals_and_places_come_from_the_configuration(open_run: Open) -> None:
    contract = ContractConfig(
        constraints=("keep the public API",), goals=("fix it",), may_change=("src/**",),
        boundaries=("only this repository",), examples=("def good(): ...",),
    )  # fmt: skip
    context = open_run(config=Config(contract=contract)).pipeline.context
    assert (context.boundaries, context.examples) == (("only this repository",), ("def good(): ...",))
    reminder = context_text(context, "strong", None, examples=True)
    assert "only this repository" in reminder and "def good(): ..." in reminder
    assert "keep the public API" in context.constraints
    assert Goal("fix it") in context.goals
    assert context.places == ("src/**",)


def test_a_source_that_the_check_names_is_what_the_run_is_about(folder: Path, open_run: Open) -> None:
    supervisor = open_run(Contract(done_when=("grep -q fixed src/a.py",)))
    (folder / "src" / "a.py").write_text("fixed\n")
    assert supervisor.stop_gate.at_turn_end().action == "pass"
    assert [record.outcome for record in records(supervisor, "stop_gate")] == ["passed"]  # type: ignore[attr-defined]
