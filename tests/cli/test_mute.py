"""A false alarm is muted by what names it; any other word is refused."""

import pytest

from interlock.config import Config
from interlock.core import ManualClock
from interlock.journal import Store
from interlock.runtime import Supervisor
from tests.cli.calling import interlock, lines_of

KEY = "destructive_action:bash:secrets.read"


@pytest.fixture
def home(tmp_path):
    """A home with a run that raised one issue, and a newer one that raised none."""
    store = Store(tmp_path / "state" / "interlock" / "runs")
    for command in ("cat ~/.ssh/id_rsa", "ls"):
        with Supervisor.open(name=command[:2], config=Config(), store=store, clock=ManualClock()) as run:
            run.before(run.call("bash", {"command": command}))
    return tmp_path


def muted(home):
    (listed,) = lines_of(interlock("mute", "--json", home=home).stdout)
    return listed["muted"]


def test_an_issue_of_any_run_is_muted_by_its_id_and_heard_again(home):
    (shown,) = lines_of(interlock("show", "ca", "--json", "--kind", "issue", home=home).stdout)
    (record,) = shown["records"]
    assert interlock("mute", record["body"]["id"], home=home).returncode == 0
    assert muted(home) == [KEY]
    assert interlock("mute", record["body"]["id"], "--remove", home=home).returncode == 0
    assert muted(home) == []


@pytest.mark.parametrize("finding", [KEY, "loop", "loop:bash:1f3a"])
def test_a_key_and_a_type_are_taken(home, finding):
    assert interlock("mute", finding, home=home).returncode == 0
    assert muted(home) == [finding]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("scope_crep", "Did you mean scope_creep?"),
        ("bash:secrets.read", f"Did you mean {KEY}?"),
        ("nonsense", "Known: broken_calls, destructive_action, "),
        ("loop:3:1a2b3c4d", "neither a finding"),
    ],
)
def test_an_unknown_word_is_refused_with_the_nearest_name(home, word, meant):
    done = interlock("mute", word, home=home)
    assert done.returncode == 2
    assert meant in done.stderr
    assert muted(home) == []


def test_only_what_is_quiet_can_be_heard_again(home):
    interlock("mute", "scope_creep", home=home)
    done = interlock("mute", "scope_crep", "--remove", home=home)
    assert done.returncode == 2
    assert "Did you mean scope_creep?" in done.stderr


def test_a_word_that_is_no_text_is_refused(home):
    done = interlock("mute", "loop:\udcff\udcfe", home=home)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1 and "neither a finding" in done.stderr
