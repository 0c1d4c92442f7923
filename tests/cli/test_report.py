"""interlock report and scan --html, as a user runs them."""

import json

import pytest

from interlock.config import Config
from interlock.journal import Store
from interlock.runtime import Supervisor
from tests.cli.calling import interlock
from tests.cli.test_scan import trace, write


@pytest.fixture
def run(tmp_path):
    store = Store(tmp_path / "state" / "interlock" / "runs")
    with Supervisor.open(task="Tidy <up>", name="tidy", store=store, config=Config()) as supervisor:
        supervisor.after(supervisor.message("hello"))
    return supervisor.run.spec.run_id


def test_a_report_goes_where_it_is_told_in_the_format_that_the_ending_says(tmp_path, run):
    for name, beginning in (("r.html", "<!doctype html>"), ("r.md", "# tidy: done"), ("r.json", "{")):
        done = interlock("report", "tidy", "--output", name, home=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert (tmp_path / name).read_text().startswith(beginning)
    assert json.loads((tmp_path / "r.json").read_text())["run"]["run_id"] == run


def test_without_a_file_it_is_written_to_the_pipe(tmp_path, run):
    assert interlock("report", run, home=tmp_path).stdout.startswith("<!doctype html>")
    assert json.loads(interlock("report", run, "--format", "json", home=tmp_path).stdout)["status"] == "done"


@pytest.mark.parametrize(
    ("arguments", "status", "word"),
    [
        (("nobody",), 3, "nobody"),
        (("tidy", "--format", "pdf"), 2, "html, md, json"),
        (("tidy", "--output", "no/such/folder/r.html"), 2, "does not exist"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(tmp_path, run, arguments, status, word):
    done = interlock("report", *arguments, home=tmp_path)
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.count("\n") == 1
    assert word in done.stderr


def test_scan_makes_a_page_of_its_findings(tmp_path):
    done = interlock("scan", "--html", "s.html", write(tmp_path / "b", trace("a", 1), trace("<b>", 6)), home=tmp_path)
    assert done.returncode == 1
    page = (tmp_path / "s.html").read_text()
    assert "1 of 2 traces went wrong" in page
    assert "&lt;b&gt;" in page
    assert "<b>" + "</b>" not in page


def test_the_page_of_a_scan_shows_a_false_claim_where_nothing_else_is_wrong(tmp_path):
    lying = trace("a", 1)
    lying["steps"].append({"role": "assistant", "content": "Ruff is happy. All 3 tests pass."})
    honest = trace("b", 0)
    honest["steps"].append({"role": "assistant", "content": "Nothing was changed."})
    done = interlock("scan", "--json", "--html", "s.html", write(tmp_path / "b", lying, honest), home=tmp_path)
    assert done.returncode == 1
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["issues"] for each in results] == [[], []]
    page = (tmp_path / "s.html").read_text()
    assert "1 of 2 traces went wrong" in page and "claim contradicted" in page
    assert 'class="badge' not in page
    assert [found in page for found in ("verdict contradicted", "verdict unproven", "verdict proven")] == [
        True,
        True,
        False,
    ]


def test_scan_says_before_it_reads_that_a_page_cannot_be_written(tmp_path):
    done = interlock("scan", "--html", "no/s.html", write(tmp_path / "a", trace("a", 1)), home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
