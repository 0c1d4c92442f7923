"""A run read from its journal: lines, pages, sums; while it goes on, after its owner is gone, whatever wrote it."""

import shutil

import msgspec
import pytest

from interlock.control import encode, new_request
from interlock.core import Hold, NotFound, RunSpec, Usage
from interlock.journal import JournalEntry, JournalReader, Store
from interlock.report import KINDS, LEVELS, Story
from interlock.runtime import Supervisor
from interlock.runtime.approvals import Approvals
from tests.report.runs import add, demo_run, folder_of, scripted_run


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return demo_run(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def scripted(tmp_path_factory):
    return folder_of(scripted_run(tmp_path_factory.mktemp("scripted")))


def test_every_record_that_says_something_is_a_line_and_lines_are_in_order(demo):
    def says_nothing(record):
        return record.kind in ("snapshot", "status") or (
            record.kind == "state" and b'"status":"running"' in bytes(record.body)
        )

    with Story.open(demo) as story, JournalReader.open(demo) as reader:
        lines = story.page(limit=10_000)
        assert [line.seq for line in lines] == [r.seq for r in reader.read() if not says_nothing(r)]
        assert {line.kind for line in lines} <= set(KINDS)
        assert {line.level for line in lines} <= set(LEVELS)
        assert all(line.title for line in lines)


def test_the_demonstration_shows_every_kind_of_line_that_it_has(demo):
    with Story.open(demo) as story:
        kinds = {line.kind for line in story.page(limit=10_000)}
        assert {"step", "review", "issue", "intervention", "checkpoint", "state", "limit", "incident"} <= kinds
        assert any(line.level == "critical" for line in story.page(kinds=frozenset(("incident",))))


def test_paging_backwards_gives_every_line_once(scripted):
    with Story.open(scripted) as story:
        found, before = [], None
        while page := story.page(before=before, limit=37):
            found = page + found
            before = page[0].seq
        assert found == story.page(limit=10_000)


def test_paging_forwards_gives_every_line_once(scripted):
    with Story.open(scripted) as story:
        found, after = [], 0
        while page := story.page(after=after, limit=37):
            found += page
            after = page[-1].seq
        assert found == story.page(limit=10_000)


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_of_one_kind_has_exactly_the_lines_of_that_kind(demo, kind):
    with Story.open(demo) as story:
        every = story.page(limit=10_000)
        wanted = frozenset((kind,))
        assert story.page(limit=10_000, kinds=wanted) == [line for line in every if line.kind == kind]
        assert story.page(limit=3, kinds=wanted) == [line for line in every if line.kind == kind][-3:]


def test_a_search_finds_text_as_it_stands_and_no_wildcards(scripted):
    with Story.open(scripted) as story:
        assert story.page(text="SRC/parser.py")
        assert story.page(text="src_parser%py") == []
        assert story.page(text="no such words") == []


def test_a_search_finds_quotes_and_line_ends(other):
    add(other, [JournalEntry("fault", {"part": "p", "why": 'he said "100%"\nand went'})])
    with Story.open(other) as story:
        assert story.page(text='said "100%"\nand')
        assert story.page(text='"why"') == [], "only values are searched, not the names of fields"


def test_sums_agree_with_the_summary_of_the_run(scripted):
    with Story.open(scripted) as story:
        sums, summary = story.sums, story.summary
        assert (sums.steps, sums.calls) == (summary.steps, summary.iter)
        assert sums.input_tokens + sums.output_tokens == summary.tokens
        assert sums.issues.total() == summary.issues
        assert story.series().issues[-1] == summary.issues
        assert story.series().interventions[-1] == summary.interventions


def test_what_steps_cost_by_the_price_list_is_in_the_series(tmp_path):
    with Supervisor.open(task="t", store=Store(tmp_path)) as supervisor:
        for _ in range(3):
            said = supervisor.message("hello", usage=Usage(1000, 1000))
            supervisor.after(msgspec.structs.replace(said, model="claude-sonnet-4-5"))
        cost = supervisor.run.summary.cost_usd
        folder = folder_of(supervisor)
    with Story.open(folder) as story:
        assert cost > 0
        assert story.series().cost[-1] == pytest.approx(cost)


def test_series_keep_their_ends_and_their_order_however_few_points_are_asked_for(scripted):
    with Story.open(scripted) as story:
        whole = story.series(10_000)
        few = story.series(7)
        assert len(few.steps) == len(few.tokens) == len(few.progress) == 7
        assert (few.steps[0], few.steps[-1]) == (whole.steps[0], whole.steps[-1])
        assert few.tokens == sorted(few.tokens)
        assert all(0 <= value <= 1 for value in whole.progress)
        assert min(whole.progress) < 0.5, "the scripted agent loops and fails"


def test_a_live_run_gives_what_is_new_once(tmp_path):
    supervisor = scripted_run(tmp_path, 20, close=False)
    with Story.open(folder_of(supervisor)) as story:
        assert story.update() == []
        supervisor.after(supervisor.message("something new"))
        supervisor.run.journal.flush()
        assert [line.title for line in story.update()] == ["assistant: something new"]
        assert story.update() == []
        assert story.summary.shown == "running"
        supervisor.close()
        assert [line.title for line in story.update()][-1] == "run ended"
        assert story.summary.shown == "done"


def test_many_new_records_come_in_bounded_parts_and_none_is_left_out(tmp_path):
    supervisor = scripted_run(tmp_path, 2)
    with Story.open(folder_of(supervisor)) as story:
        before = story.last_seq
        add(folder_of(supervisor), [JournalEntry("fault", {"part": "x", "why": str(n)}) for n in range(1200)])
        parts = []
        while news := story.update():
            parts.append(len(news))
        assert sum(parts) == 1200
        assert max(parts) <= 500
        assert story.last_seq == before + 1200


def test_a_pause_and_its_answer_are_one_control_with_ack_and_result(tmp_path):
    supervisor = scripted_run(tmp_path, 4, close=False)
    supervisor.run.hold(Hold("look at this"), 3)
    with Story.open(folder_of(supervisor)) as story:
        assert story.summary.shown == "paused"
        assert story.waiting is not None
        assert story.waiting.text == "look at this"
        resume = new_request("r1", "resume", supervisor.run.spec.run_id, actor="ann")
        supervisor.run.steering.endpoint.receive(encode(resume), None, actor="ann")
        supervisor.run.journal.flush()
        story.update()
        assert story.waiting is None
        (control,) = story.controls
        assert control.command == "resume"
        assert "ann" in control.actor
        assert control.ack is not None
        assert control.outcome(owned=True) == "success"
    supervisor.close()


def test_a_request_without_result_is_unknown_when_nobody_owns_the_run(tmp_path):
    folder = folder_of(scripted_run(tmp_path, 2))
    asked = new_request("r1", "pause", folder.run_id, actor="ann")
    add(folder, [JournalEntry("request", asked)])
    with Story.open(folder) as story:
        (control,) = story.controls
        assert control.outcome(owned=True) == "pending"
        assert control.outcome(owned=False) == "unknown"


def test_a_step_that_waits_for_a_person_is_shown_as_waiting(tmp_path):
    with Supervisor.open(task="t", store=Store(tmp_path), approvals=Approvals(needed=True)) as supervisor:
        supervisor.before(supervisor.call("bash", {"command": "touch x"}))
        supervisor.run.journal.flush()
        with Story.open(folder_of(supervisor)) as story:
            assert story.waiting is not None
            assert (story.waiting.kind, story.waiting.step) == ("approval", 0)
            assert story.page(kinds=frozenset(("approval",)))


def test_an_owner_that_restarts_changes_nothing_for_the_reader(tmp_path):
    supervisor = scripted_run(tmp_path, 20, close=False)
    folder = folder_of(supervisor)
    with Story.open(folder) as story:
        supervisor.run.close()
        story.update()
        assert story.summary.shown == "lost"
        again = Supervisor.reopen(folder)
        again.after(again.message("back again"))
        again.run.journal.flush()
        assert "assistant: back again" in [line.title for line in story.update()]
        assert story.summary.shown == "running"
        again.close()


def test_a_journal_that_vanishes_is_a_problem_and_what_was_read_stays(tmp_path):
    folder = folder_of(scripted_run(tmp_path, 20))
    with Story.open(folder) as story:
        steps = story.sums.steps
        shutil.rmtree(folder.path)
        assert story.update() == []
        assert story.problem is not None
        assert "gone" in story.problem
        assert story.sums.steps == steps
        assert story.page() == []
        assert story.incidents == []


def test_a_run_that_comes_back_is_read_anew(tmp_path):
    folder = folder_of(scripted_run(tmp_path / "runs", 20))
    with Story.open(folder) as story:
        folder.path.rename(tmp_path / "away")
        story.update()
        assert story.problem
        (tmp_path / "away").rename(folder.path)
        story.update()
        assert story.problem is None
        assert story.page()


ODD = (
    {},
    [],
    "text",
    7,
    None,
    {"step": None},
    {"step": {"tool": 3}},
    {"intervention": []},
    {"payload": {}},
    {"type": 1},
)


@pytest.mark.parametrize(
    "kind",
    ["step", "issue", "intervention", "effect", "applied", "checkpoint", "restored", "request", "ack", "result", "state",
     "end", "spec", "hold", "limit", "incident", "plan", "fault", "lost", "gui_event", "from the future"],
)  # fmt: skip
def test_a_record_of_another_version_is_still_a_line(other, kind):
    add(other, [JournalEntry(kind, body) for body in ODD])
    with Story.open(other) as story:
        lines = story.page(limit=len(ODD))
        assert len(lines) == len(ODD)
        assert all(line.kind in KINDS and line.level in LEVELS for line in lines)
        assert story.series() is not None
        assert story.summary.shown == "lost"


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("other")).create(RunSpec(run_id="r"))


def test_incidents_and_checkpoints_of_the_demonstration_are_at_hand(demo):
    with Story.open(demo) as story:
        (incident,) = story.incidents
        assert incident.report.summary
        assert len(story.checkpoints) == story.counts["checkpoint"]
        assert {made.outcome for made in story.interventions} >= {"success", "failure"}
        assert {issue.type for issue in story.issues} == set(story.sums.issues)


def test_there_is_no_story_of_a_run_that_does_not_exist(tmp_path):
    from interlock.journal import RunFolder

    with pytest.raises(NotFound):
        Story.open(RunFolder(tmp_path / "nothing"))


def test_no_line_steers_a_terminal_or_turns_its_direction(other):
    evil = "\x1b[2J\x07\x9b31m\u202egnp.exe\r"
    add(
        other,
        [
            JournalEntry("fault", {"part": evil, "why": evil}),
            JournalEntry("limit", {"what": evil}),
            JournalEntry(evil, {"a": evil}),
        ],
    )
    with Story.open(other) as story:
        for line in story.page(limit=3):
            shown = line.title + line.detail
            assert not [c for c in shown if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 or c == "\u202e"]
