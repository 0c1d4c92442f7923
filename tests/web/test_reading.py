"""What pages ask for is what the journals say, and errors say what to do."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from interlock.journal import RunFolder, Store
from interlock.web.access import NAME, load_token
from interlock.web.serve import FOLDER

from .runs import write_run

MAX_BUNDLE = 90_000


@pytest.fixture(scope="module")
def run(store: Store) -> RunFolder:
    return write_run(store, "plain", steps=40, task="count to forty")


def test_the_list_has_every_run(client: TestClient, run: RunFolder) -> None:
    (row,) = [row for row in client.get("/api/runs").json()["runs"] if row["run_id"] == "plain"]
    assert (row["status"], row["steps"], row["task"], row["cost"]) == ("done", 40, "count to forty", 0.0)


def test_a_run_is_addressed_as_in_a_command(client: TestClient, run: RunFolder) -> None:
    def where(address: str) -> tuple[int, str]:
        answer = client.get(address, follow_redirects=False)
        return answer.status_code, answer.headers.get("location", "")

    assert where("/runs/plain") == (200, "")
    assert where("/runs/plai") == (307, "/runs/plain")
    assert where("/runs/pla/files") == (307, "/runs/plain/files")
    assert where("/runs/nobody-is-called-so") == (200, ""), "the page says so"


def test_a_stranger_does_not_learn_which_runs_there_are(stranger: TestClient, run: RunFolder) -> None:
    assert stranger.get("/runs/plai", follow_redirects=False).status_code == 200


def test_a_timeline_is_read_in_parts_without_gap_or_double(client: TestClient, run: RunFolder) -> None:
    seen: list[int] = []
    before = ""
    while True:
        page = client.get(f"/api/runs/plain/lines?limit=7{before}").json()
        seen = [line["seq"] for line in page["lines"]] + seen
        if not page["more"]:
            break
        before = f"&before={page['lines'][0]['seq']}"
    whole = [line["seq"] for line in client.get("/api/runs/plain/lines?limit=1000").json()["lines"]]
    assert seen == whole and len(seen) >= 40


def test_a_timeline_can_be_searched_and_narrowed(client: TestClient, run: RunFolder) -> None:
    found = client.get("/api/runs/plain/lines?text=echo 39").json()["lines"]
    assert [line["title"] for line in found] == ["bash echo 39"]
    kinds = {line["kind"] for line in client.get("/api/runs/plain/lines?kinds=state").json()["lines"]}
    assert kinds == {"state"}


def test_a_line_can_be_opened_with_all_that_the_journal_has(client: TestClient, run: RunFolder) -> None:
    first = client.get("/api/runs/plain/lines?kinds=step&limit=1").json()["lines"][0]
    whole = client.get(f"/api/runs/plain/lines/{first['seq']}").json()
    assert whole["data"]["step"]["tool"]["arguments"] == {"command": "echo 39"}
    for number in ("999999", "9" * 26, "9" * 5_000, "-1", "x"):
        assert client.get(f"/api/runs/plain/lines/{number}").status_code == 404


def test_curves_add_up(client: TestClient, run: RunFolder) -> None:
    series = client.get("/api/runs/plain/series?points=10").json()["series"]
    assert series["tokens"][-1] == 40 * 110 and len(series["steps"]) == 10
    assert series["cost"][-1] == pytest.approx(0.4)


@pytest.mark.parametrize(
    "query", ["limit=x", "limit=-1", "before=1.5", "limit=100000", "after=99999999999999999999", f"after={'9' * 5_000}"]
)
def test_a_number_that_is_none_is_said(client: TestClient, run: RunFolder, query: str) -> None:
    answer = client.get(f"/api/runs/plain/lines?{query}")
    assert answer.status_code == 400 and query.split("=")[0] in answer.json()["error"]


def test_what_is_not_there_is_said_with_what_to_do(client: TestClient, run: RunFolder) -> None:
    for path in ("/api/runs/none", "/api/incidents/none"):
        answer = client.get(path)
        assert answer.status_code == 404 and answer.json()["todo"]
    answer = client.get("/api/runs/plain/checkpoints/c1/diff")
    assert (answer.status_code, answer.json()["error"]) == (404, "run plain has no workspace")


def test_a_damaged_journal_is_one_bad_row_and_one_clear_error(client: TestClient, store: Store) -> None:
    folder = write_run(store, "broken")
    folder.journal.write_bytes(b"not a journal" * 100)
    (row,) = [row for row in client.get("/api/runs").json()["runs"] if row["run_id"] == "broken"]
    assert row["status"] == "unreadable" and row["problem"]
    answer = client.get("/api/runs/broken")
    assert answer.status_code == 409 and "journal" in answer.json()["error"]
    assert 'interlock_runs{status="unreadable"} 1.0' in client.get("/metrics").text


def test_metrics_are_those_of_the_journals(client: TestClient, store: Store, run: RunFolder) -> None:
    write_run(store, "still-there", end=False)
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert 'interlock_runs{status="lost"} 1.0' in answer.text
    steps = next(line for line in answer.text.splitlines() if line.startswith("interlock_steps_total "))
    assert float(steps.split()[1]) >= 45


def test_the_page_is_light_and_brings_everything_itself() -> None:
    files = {path.name: path.read_bytes() for path in FOLDER.iterdir()}
    assert b"MIT" in files.pop("licenses.txt")
    assert sum(len(gzip.compress(content, 9)) for content in files.values()) < MAX_BUNDLE
    assert files.keys() == {"app.css", "app.js", "icon.svg", "index.html"}
    page = files["index.html"].decode()
    assert "<style" not in page and "style=" not in page and "onload" not in page
    assert page.count("<script") == 1 and 'src="/static/app.js"' in page
    assert b"http" not in files["app.css"] and b"@import" not in files["app.css"]


def test_the_token_stays_with_the_store_and_is_nobody_elses(tmp_path: Path) -> None:
    token = load_token(tmp_path / "runs")
    assert len(token) >= 40 and load_token(tmp_path / "runs") == token
    file = tmp_path / "runs" / NAME
    assert file.stat().st_mode & 0o777 == 0o600
    assert load_token(tmp_path / "runs", new=True) != token
    file.chmod(0o644)
    others = file.read_text().strip()
    assert load_token(tmp_path / "runs") != others
