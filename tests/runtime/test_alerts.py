"""Who is told of what, how often, and that no channel can do harm."""

import threading

import pytest
from msgspec.structs import replace

from interlock.config import Config
from interlock.config.schema import Notifications
from interlock.core import Contract, Hold, Issue, Limits, ManualClock, Notify, Usage
from interlock.journal import Store
from interlock.journal_records import StepRecord
from interlock.runtime import Supervisor
from interlock.runtime.alerts import Notifier
from interlock.runtime.approvals import Approvals
from interlock.runtime.pipeline_values import StepOutcome
from tests.runtime.scripted import START


class Inbox:
    """A channel that keeps what it gets."""

    def __init__(self):
        self.got = []

    def __call__(self, notification):
        self.got.append(notification)

    @property
    def titles(self):
        return [each.title for each in self.got]


@pytest.fixture
def clock():
    return ManualClock(START)


def supervise(tmp_path, clock, inbox, notifier=None, **options):
    config = replace(Config(), **options.pop("sections", {}))
    notifier = notifier or Notifier({"ops": inbox}, clock=clock)
    return Supervisor.open(
        task="t", name="n", store=Store(tmp_path), clock=clock, config=config, notifier=notifier, **options
    )


def test_a_run_that_is_not_proven_is_told_with_what_failed(tmp_path, clock):
    inbox = Inbox()
    with supervise(tmp_path, clock, inbox, contract=Contract(done_when=("exit 3",))):
        pass
    assert inbox.titles[0].endswith("ended, but a check contradicts it")
    assert "exit status 3" in inbox.got[0].text


@pytest.mark.parametrize(
    ("reason", "words"),
    [("ERROR", "failed"), ("MAX_ITERATIONS", "was ended by a limit"), ("UNPROVEN", None), ("COMPLETE", None)],
)
def test_the_end_of_a_run_is_told_unless_it_is_harmless(tmp_path, clock, reason, words):
    inbox = Inbox()
    with supervise(tmp_path, clock, inbox) as supervisor:
        supervisor.finish("aborted" if reason == "ERROR" else "done", reason, "why it ended")
    assert [title.endswith(words or "") for title in inbox.titles] == [True] * (words is not None)
    assert all("why it ended" in each.text for each in inbox.got)


@pytest.mark.parametrize(("reason", "words"), [("UNPROVEN", "ended unproven"), ("COMPLETE", "is done")])
def test_a_harmless_end_is_told_on_request(tmp_path, clock, reason, words):
    inbox = Inbox()
    sections = {"notifications": Notifications(events=("finished", "unproven"))}
    with supervise(tmp_path, clock, inbox, sections=sections) as supervisor:
        supervisor.finish("done", reason, "")
    assert [title.endswith(words) for title in inbox.titles] == [True]


def test_a_pause_for_a_person_is_told_with_what_to_do(tmp_path, clock):
    inbox = Inbox()
    with supervise(tmp_path, clock, inbox) as supervisor:
        supervisor.run.hold(Hold("look at this"), 3)
        run_id = supervisor.run.spec.run_id
    assert inbox.titles == [f"Run n ({run_id}) needs a person"]
    assert "look at this" in inbox.got[0].text
    assert f"interlock show {run_id}" in inbox.got[0].text and "interlock inbox" in inbox.got[0].text


def test_a_step_that_waits_for_approval_is_told(tmp_path, clock):
    inbox = Inbox()
    with supervise(tmp_path, clock, inbox, approvals=Approvals(needed=True)) as supervisor:
        supervisor.before(supervisor.call("bash", {"command": "touch x"}))
    assert len(inbox.got) == 1
    assert "touch x" in inbox.got[0].text


def test_an_alert_carries_a_link_to_where_it_can_be_answered(tmp_path, clock):
    inbox = Inbox()
    sections = {"notifications": Notifications(link="https://box:7717/")}
    with supervise(tmp_path, clock, inbox, sections=sections, approvals=Approvals(needed=True)) as supervisor:
        supervisor.before(supervisor.call("bash", {"command": "touch x"}))
        run_id = supervisor.run.spec.run_id
    assert inbox.got[0].text.endswith(f"\nhttps://box:7717/runs/{run_id}")


def test_each_share_of_a_budget_is_told_once(tmp_path, clock):
    inbox = Inbox()
    sections = {
        "limits": Limits(max_tokens=1000),
        "notifications": Notifications(budget_thresholds=(0.5, 0.8), repeat_seconds=0),
    }
    with supervise(tmp_path, clock, inbox, sections=sections) as supervisor:
        for _ in range(9):
            supervisor.after(supervisor.message("hello", usage=Usage(50, 50)))
            clock.advance(60)
    assert [title.partition(" has ")[2] for title in inbox.titles] == [
        "used 50% of max_tokens",
        "used 80% of max_tokens",
    ]


def test_a_limit_in_dollars_that_cannot_hold_is_told_once_and_written_down(tmp_path, clock):
    inbox = Inbox()
    sections = {"limits": Limits(max_cost_usd=5.0), "notifications": Notifications(repeat_seconds=0)}
    with supervise(tmp_path, clock, inbox, sections=sections) as supervisor:
        for model in ("nobody-knows-1", "claude-sonnet-4-5", "nobody-knows-1"):
            supervisor.after(replace(supervisor.message("hello", usage=Usage(50, 50)), model=model))
            clock.advance(60)
        summary, run_id = supervisor.run.summary, supervisor.run.spec.run_id
        supervisor.run.journal.flush()
        written = [bytes(record.body) for record in supervisor.run.journal.reader().read(kinds={"limit"})]
    assert inbox.titles == [f"Run n ({run_id}) may cost more than allowed"]
    assert "price for the model nobody-knows-1" in inbox.got[0].text
    assert len(written) == 1
    assert b"max_cost_usd" in written[0]
    assert summary.unpriced_tokens == 200
    assert 0 < summary.cost_usd < 0.01


def test_a_step_without_a_model_costs_what_the_run_s_model_costs(tmp_path, clock):
    with supervise(tmp_path, clock, Inbox(), model="claude-sonnet-4-5") as supervisor:
        supervisor.after(supervisor.message("hello", usage=Usage(1_000_000, 0)))
        assert supervisor.run.summary.unpriced_tokens == 0
        assert supervisor.run.summary.cost_usd > 1


def test_without_a_limit_in_dollars_nobody_needs_a_price(tmp_path, clock):
    inbox = Inbox()
    with supervise(tmp_path, clock, inbox) as supervisor:
        supervisor.after(replace(supervisor.message("hello", usage=Usage(50, 50)), model="nobody-knows-1"))
        assert supervisor.run.summary.unpriced_tokens == 100
        assert supervisor.run.journal.reader().count("limit") == 0
    assert inbox.got == []


def test_a_critical_issue_is_told_and_a_smaller_one_is_not(tmp_path, clock):
    inbox = Inbox()
    with supervise(tmp_path, clock, inbox) as supervisor:
        issues = [
            Issue(id=name, type="loop", step=1, description=f"{name} words", severity=name)
            for name in ("low", "high", "critical")
        ]
        step = supervisor.message("x")
        supervisor.recorder.write(StepRecord(step), StepOutcome(START, False, tuple(issues)), durable=False)
    assert [each.text.partition(" words")[0] for each in inbox.got] == ["critical"]


def test_what_is_switched_off_is_not_told(tmp_path, clock):
    inbox = Inbox()
    sections = {"notifications": Notifications(events=("budget",))}
    with supervise(tmp_path, clock, inbox, sections=sections) as supervisor:
        supervisor.run.hold(Hold("look at this"), 3)
    assert inbox.got == []


def test_the_same_alert_goes_out_once_in_a_while_and_says_how_many_were_held_back(clock):
    inbox = Inbox()
    notifier = Notifier({"ops": inbox}, clock=clock, repeat_s=60)
    for _ in range(5):
        notifier.send(Notify("same", "text"))
        clock.advance(20)
    notifier.close()
    assert [each.text for each in inbox.got] == ["text", "text (2 more held back since the last one)"]


def test_another_question_is_no_repetition(tmp_path, clock):
    inbox = Inbox()
    with supervise(tmp_path, clock, inbox) as supervisor:
        for question in ("Password:", "Password:", "Continue? [Y/n]"):
            supervisor.run.on_waiting(1, question)
    assert [each.text.partition(". ")[0] for each in inbox.got] == ["Password:", "Continue? [Y/n]"]


def test_there_is_a_most_an_hour_which_critical_ones_pass(clock):
    inbox = Inbox()
    notifier = Notifier({"ops": inbox}, clock=clock, most_per_hour=3)
    for number in range(6):
        notifier.send(Notify(f"title {number}", "text"))
    notifier.send(Notify("stop", "text", "critical"))
    clock.advance(3601)
    notifier.send(Notify("later", "text"))
    notifier.close()
    assert inbox.titles == ["title 0", "title 1", "title 2", "stop", "later"]


def test_no_secret_leaves_in_an_alert(clock):
    inbox = Inbox()
    notifier = Notifier({"ops": inbox}, clock=clock)
    notifier.send(Notify("token ghp_0123456789abcdefghijklmnopqrstuvwxyzAB", "password=hunter2secret99"))
    notifier.close()
    assert "ghp_0123" not in inbox.got[0].title
    assert "hunter2" not in inbox.got[0].text


def test_an_emergency_stop_goes_to_its_own_channels_and_the_rest_to_all(tmp_path, clock):
    ops, phone = Inbox(), Inbox()
    notifier = Notifier({"ops": ops, "phone": phone}, clock=clock)
    stop = replace(Config().interventions.emergency_stop, notification_channels=("phone",))
    sections = {
        "interventions": replace(Config().interventions, emergency_stop=stop),
        "notifications": Notifications(channels={"ops": "json://x", "phone": "json://y"}),
    }
    with supervise(tmp_path, clock, ops, notifier, sections=sections) as supervisor:
        supervisor.executor.carry_out(Notify("stopped", "now", "critical"))
        supervisor.executor.carry_out(Notify("waits", "now"))
    assert (ops.titles, phone.titles) == (["waits"], ["stopped", "waits"])


def test_a_channel_that_fails_is_a_fault_in_the_journal_without_its_address(tmp_path, clock):
    sections = {"notifications": Notifications(channels={"bad": "nosuchscheme://user:hunter2secret99@host"})}
    config = replace(Config(), **sections)
    with Supervisor.open(task="t", store=Store(tmp_path), clock=clock, config=config) as supervisor:
        supervisor.executor.carry_out(Notify("stopped", "now", "critical"))
        folder = supervisor.run.folder
        threads = [each for each in threading.enumerate() if each.name == "interlock-notify-bad"]
        supervisor.executor.notifier.close()
        for each in threads:
            each.join(150)
    from interlock.report import Story

    with Story.open(folder) as story:
        (line,) = story.page(kinds=frozenset(("note",)))
    assert line.title == "supervision impaired: channel bad"
    assert "hunter2" not in str(line.data)


def test_closing_waits_for_all_channels_together_and_not_for_each(clock):
    release = threading.Event()
    notifier = Notifier({str(n): lambda _: release.wait(150) for n in range(50)}, clock=clock)
    notifier.send(Notify("t", "t"))
    notifier.close(0.05)
    release.set()
