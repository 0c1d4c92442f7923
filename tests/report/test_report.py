"""The report: one file that says what happened, and can do no harm whatever the agent wrote."""

import re
from html.parser import HTMLParser

import msgspec
import pytest

from interlock.config import Config
from interlock.core import Inject, Intervention, Issue, Message, RunSpec
from interlock.gui import FileVerifier, read_session
from interlock.journal import JournalEntry, Store
from interlock.journal_records import (
    EndRecord,
    FileComparison,
    InterventionEvent,
    InterventionRecord,
    ParkedRecord,
    ReplayStatus,
    UnwedgeRecord,
    VerificationResult,
)
from interlock.report import Story
from interlock.report.changes import RunChanges, read_changes, split_patch
from interlock.report.document import gather
from interlock.report.markdown import render
from interlock.report.page.element import Html, el
from interlock.report.pictures import read_picture
from interlock.runtime import Supervisor
from tests.report.runs import add, demo_run, folder_of

ATTACK = "\"><script>alert(1)</script><img src=x onerror=alert(2)>' onload=alert(3) javascript:alert(4) \x00\x1b[2J"
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 64


class Page(HTMLParser):
    """What a browser would make of a page: its elements, their attributes, and whether they are closed."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.text = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    @property
    def tags(self):
        return {tag for tag, _ in self.elements}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def demo(place):
    folder = demo_run(place)
    with Story.open(folder) as story:
        changes = read_changes(story.checkpoints, story.spec.workspace, Config(), place / "checkpoints")
        return gather(story, changes)


def assert_harmless(text):
    page = Page(text)
    assert page.open == []
    assert not page.tags & {"script", "iframe", "object", "embed", "form", "link", "base"}
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "style"], (tag, attributes)
        for name in ("href", "src"):
            assert str(attributes.get(name, "#")).startswith(("#", "data:image/")), (tag, attributes)
    policy = next(a["content"] for t, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    return page


def test_the_page_is_whole_harmless_and_needs_nothing_from_elsewhere(demo):
    text = render(demo, "html")
    page = assert_harmless(text)
    style = re.search(r"<style>(.*?)</style>", text, re.S).group(1)
    assert not re.findall(r"url\(|@import|https?:", style)
    assert {"svg", "table", "details"} & page.tags


def test_the_style_is_the_one_that_the_policy_allows(demo):
    import base64
    import hashlib

    text = render(demo, "html")
    style = re.search(r"<style>(.*?)</style>", text, re.S).group(1)
    assert base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() in text


def test_the_page_says_what_happened_why_and_what_it_cost(demo):
    said = " ".join(Page(render(demo, "html")).text)
    assert "Interlock stopped it." in said
    assert "Emergency stop" in said
    assert "resume_with_limits" in said
    assert "return text.split" in said, "diffs"
    assert "78,000 tokens" in said
    for word in ("hint", "rollback", "broken calls", "loop"):
        assert word in said


def test_charts_have_a_line_for_each_measure_and_say_so_where_there_is_none(demo):
    text = render(demo, "html")
    assert text.count('class="line ') == 4, "progress, issues, interventions, tokens; the demo has no cost"
    assert "Cost unknown" in text


def test_markdown_and_json_tell_the_same(demo):
    markdown = render(demo, "md")
    assert markdown.startswith("# demo: stopped by Interlock")
    assert "| 5 emergency stop | 1 |" in markdown
    data = msgspec.json.decode(render(demo, "json"))
    assert data["status"] == "aborted"
    assert data["run"]["steps"] == 153
    assert [rung["type"] for rung in data["ladder"]][-1] == "emergency_stop"
    assert data["series"]["tokens"][-1] == 78_000


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A run in which everything that an agent can say is an attack."""
    root = tmp_path_factory.mktemp("hostile")
    with Supervisor.open(task=ATTACK, name=ATTACK, store=Store(root)) as supervisor:
        supervisor.after(supervisor.message(ATTACK))
        supervisor.before(supervisor.call(ATTACK, {"command": f"rm -rf / {ATTACK}", ATTACK: ATTACK}))
        supervisor.after(supervisor.result(ATTACK, error=True))
    issue = Issue(id=ATTACK, type=ATTACK, step=1, description=ATTACK, severity="high", details={ATTACK: ATTACK})
    made = Intervention(
        id=ATTACK, type=ATTACK, level=2, issue_id=ATTACK, issue_type=ATTACK, step=1, time=0.0, reason=ATTACK
    )
    orders = (Inject(Message(ATTACK)),)
    asked = {"schema": 0, "request_id": ATTACK, "target": {"run_id": ATTACK}, "timestamp": "2026-01-01T00:00:00Z"}
    failed = {"status": "failure", "message": ATTACK, "code": "failed"}
    folder = folder_of(supervisor)
    add(
        folder,
        [
            JournalEntry("issue", issue),
            JournalEntry(
                "intervention", InterventionRecord(intervention=made, score=1.0, combined=1.0, directives=orders)
            ),
            JournalEntry("checkpoint", {"id": ATTACK, "time": 0.0, "step": 0, "label": ATTACK}),
            JournalEntry("restored", {"checkpoint_id": ATTACK, "safety_id": ATTACK, "changed": [ATTACK]}),
            JournalEntry("request", {**asked, "type": "REQUEST", "command": "pause", "payload": {}, "actor": ATTACK}),
            JournalEntry("request", {"request_id": ATTACK, "command": ATTACK, "actor": ATTACK, "reason": ATTACK}),
            JournalEntry("result", {**asked, "type": "RESULT", "command": ATTACK, "payload": failed}),
            JournalEntry(
                "gui_event",
                InterventionEvent(0.0, ReplayStatus.UNKNOWN, description=ATTACK, screenshot_path=ATTACK, reason=ATTACK),
            ),
            JournalEntry(
                "gui_verification", VerificationResult(False, [FileComparison(ATTACK, True, 0.5, "partial")], ATTACK)
            ),
            JournalEntry("gui_verification", {"success": False, "summary": ATTACK, "comparisons": [{"path": ATTACK}]}),
            JournalEntry("end", EndRecord("aborted", ATTACK, ATTACK)),
            JournalEntry(ATTACK, {ATTACK: ATTACK}),
            JournalEntry("end", {"status": ATTACK, "reason": ATTACK, "message": ATTACK}),
        ],
    )
    patch = f"diff --interlock a/{ATTACK!r} b/{ATTACK!r}\n--- a\n+++ b\n+{ATTACK}\n"
    with Story.open(folder) as story:
        from interlock.report.changes import Stretch

        stretch = Stretch(ATTACK, ATTACK, 1, 0.0, ATTACK, split_patch(patch, {}))
        return gather(story, RunChanges((stretch,), ATTACK))


def test_nothing_that_an_agent_says_becomes_markup(hostile):
    page = assert_harmless(render(hostile, "html"))
    assert "<script>alert(1)</script>" in "".join(page.text), "it is shown, as text"
    assert "\x00" not in render(hostile, "html")
    assert "\x1b" not in render(hostile, "html")


def test_nothing_that_an_agent_says_becomes_markdown(hostile):
    text = render(hostile, "md")
    assert not re.search(r"(?<!\\)[<`*\[]", text.replace("**", "").replace("`", "", 2))
    assert "\\<script\\>" in text


def test_secrets_are_redacted_in_diffs_and_secret_files_are_only_named():
    patch = (
        "diff --interlock a/app.py b/app.py\n--- a/app.py\n+++ b/app.py\n"
        '+password = "hunter2-very-secret-8271"\n'
        "diff --interlock a/.env b/.env\n--- a/.env\n+++ b/.env\n+PLAIN=words\n"
    )
    app, env = split_patch(patch, {"app.py": "content", ".env": "created"})
    assert "hunter2" not in str(app.lines)
    assert (env.path, env.kind) == (".env", "created")
    assert "words" not in str(env.lines)


def test_a_run_without_anything_has_a_report_too(tmp_path):
    folder = Store(tmp_path).create(RunSpec(run_id="empty"))
    with Story.open(folder) as story:
        document = gather(story, read_changes(story.checkpoints, None, Config()))
    text = render(document, "html")
    assert_harmless(text)
    assert "Nothing has happened yet." in text
    assert render(document, "md")
    assert document.changes.note


def test_the_story_tells_of_parks_and_hangs(tmp_path):
    with Supervisor.open(task="t", store=Store(tmp_path)) as supervisor:
        for number in (1, 2):
            supervisor.run.record(ParkedRecord(number=number, reason="limit", source="proxy"))
        for answer in ("said", "the agent was given a hint", "the tool was ended"):
            supervisor.run.record(UnwedgeRecord("tool never ends", answer))
    with Story.open(folder_of(supervisor)) as story:
        text = render(gather(story, RunChanges()), "md")
    assert "It was parked at a usage limit 2 times." in text
    assert "It hung: tool never ends (the agent was given a hint, the tool was ended)." in text


def test_a_workspace_that_is_gone_is_said_and_no_error(tmp_path):
    with Supervisor.open(task="t", workspace=_made(tmp_path / "w"), store=Store(tmp_path / "runs"),
                         checkpoint_store=tmp_path / "c") as supervisor:  # fmt: skip
        supervisor.checkpoint(cause="by hand", step=1)
    with Story.open(folder_of(supervisor)) as story:
        changed = read_changes(story.checkpoints, str(tmp_path / "gone"), Config(), tmp_path / "c")
    assert changed.stretches == ()
    assert changed.note


def test_only_pictures_within_the_runs_own_folders_are_read(tmp_path):
    folder = tmp_path / "run" / "pictures"
    folder.mkdir(parents=True)
    (folder / "a.png").write_bytes(PNG)
    (folder / "page.html.png").write_bytes(b"<script>alert(1)</script>")
    (tmp_path / "private.png").write_bytes(PNG)
    (folder / "link.png").symlink_to(tmp_path / "private.png")
    assert read_picture("a.png", folder) == ("image/png", PNG)
    assert read_picture(str(folder / "a.png"), folder) == ("image/png", PNG)
    assert read_picture("pictures/a.png", folder) == ("image/png", PNG)
    assert read_picture("/where/the/run/was/pictures/a.png", folder) == ("image/png", PNG)
    for name in ("page.html.png", "../../private.png", str(tmp_path / "private.png"), "link.png", "", "\0", "nothing"):
        assert read_picture(name, folder) is None, name
    assert read_picture(str(tmp_path / "private.png"), folder, (tmp_path,)) == ("image/png", PNG)


def test_screenshots_of_a_gui_session_are_in_the_report(tmp_path):
    folder = Store(tmp_path).create(RunSpec(run_id="gui"))
    (folder.pictures / "shot.png").write_bytes(PNG)
    (folder.pictures / "after.png").write_bytes(PNG)
    result = VerificationResult(True, [FileComparison("main.py", True, 1.0, "match", exact=True)], "1 file: 1 match")
    add(
        folder,
        [
            JournalEntry(
                "gui_event",
                InterventionEvent(
                    1.0,
                    ReplayStatus.DIALOG_BLOCKING,
                    outcome="recovered",
                    description="a dialog has the keys",
                    screenshot_path="pictures/shot.png",
                    screenshot_after="pictures/after.png",
                ),
            ),
            JournalEntry("gui_verification", result),
        ],
    )
    with Story.open(folder) as story:
        document = gather(story)
    assert [(picture.name, picture.before) for picture in document.pictures] == [
        ("shot.png", ""),
        ("after.png", "shot.png"),
    ]
    (found,) = document.verifications
    assert found.success
    text = render(document, "html")
    assert_harmless(text)
    assert 'src="data:image/png;base64,' in text
    assert text.count('<div class="pair">') == 1
    assert "main.py" in text


def test_the_lines_of_a_replay_that_differ_are_in_the_report(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work/main.py").write_text("one\ntwo <b>\nthree\n")
    session = read_session({"session_id": "s", "files": [{"path": "main.py", "operations": [
        {"type": "insert", "line": 1, "content": "one\nzwei\nthree\n"}]}]})  # fmt: skip
    folder = Store(tmp_path).create(RunSpec(run_id="gui"))
    add(folder, [JournalEntry("gui_verification", FileVerifier(tmp_path / "work").verify_session(session))])
    with Story.open(folder) as story:
        page = render(gather(story), "html")
    assert_harmless(page)
    for line in ('<span class="minus">-zwei</span>', '<span class="plus">+two &lt;b&gt;</span>', "actual/main.py"):
        assert line in page


def test_the_pictures_of_an_intervention_stay_though_many_quiet_looks_follow(tmp_path):
    folder = Store(tmp_path).create(RunSpec(run_id="gui"))
    names = [f"quiet{number}.png" for number in range(40)]
    for name in ("shot.png", "after.png", *names):
        (folder.pictures / name).write_bytes(PNG)
    acted = InterventionEvent(
        1.0,
        ReplayStatus.DIALOG_BLOCKING,
        outcome="recovered",
        screenshot_path="shot.png",
        screenshot_after="after.png",
    )
    quiet = [
        JournalEntry("gui_event", InterventionEvent(1.0, ReplayStatus.NORMAL, screenshot_path=name)) for name in names
    ]
    add(folder, [JournalEntry("gui_event", acted), *quiet])
    with Story.open(folder) as story:
        pictures = gather(story).pictures
    assert [picture.name for picture in pictures] == ["shot.png", "after.png", *names[-22:]]


def test_elements_escape_whatever_was_not_made_here():
    assert el("b", "<", Html("<i></i>"), 3, None, ["&"], title='"') == ('<b title="&quot;">&lt;<i></i>3&amp;</b>')


def _made(path):
    path.mkdir(parents=True)
    return path


@pytest.mark.parametrize(
    ("cost", "unpriced", "shown"), [(0.0, 0, "$0.00"), (0.0, 9, "unknown"), (1.5, 0, "$1.50"), (1.5, 9, "$1.50+")]
)
def test_a_cost_that_is_not_known_is_not_shown_as_all_there_was(demo, cost, unpriced, shown):
    run = msgspec.structs.replace(demo.run, cost_usd=cost, unpriced_tokens=unpriced)
    sums = msgspec.structs.replace(demo.sums, cost_usd=0.0)
    page = render(msgspec.structs.replace(demo, run=run, sums=sums), "html")
    assert f"<span>Cost</span><b>{shown}</b>" in page
