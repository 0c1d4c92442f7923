"""No address leads out of the page's own files or out of a run's own pictures."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from interlock.journal import Store
from interlock.web.files import list_pictures

from .runs import PIXEL, write_run

UPWARDS = (
    "../app.py", "..%2fapp.py", "%2e%2e/app.py", "%2e%2e%2fapp.py", "..%5capp.py", "....//app.py", "/etc/passwd",
    "%2fetc%2fpasswd", "app.js%00.png", "index.html/../../app.py", "%252e%252e%252fapp.py",
)  # fmt: skip


@pytest.fixture(scope="module")
def pictures(store: Store) -> Path:
    folder = write_run(store, "painter")
    (folder.pictures / "screen-1.png").write_bytes(PIXEL)
    (folder.pictures / "notes.txt").write_text("secret")
    (folder.pictures / ".hidden.png").write_bytes(PIXEL)
    (folder.path / "outside.png").write_bytes(PIXEL)
    (folder.pictures / "link.png").symlink_to(folder.path / "outside.png")
    (folder.pictures / "folder.png").mkdir()
    return folder.pictures


@pytest.mark.parametrize("name", UPWARDS)
def test_static_files_are_those_of_the_table_and_no_others(client: TestClient, name: str) -> None:
    answer = client.get(f"/static/{name}")
    assert answer.status_code in (400, 404), answer.text
    assert b"make_app" not in answer.content and b"root:" not in answer.content


def test_static_files_are_given_with_their_type(client: TestClient) -> None:
    for name, kind in (("app.js", "text/javascript"), ("app.css", "text/css"), ("icon.svg", "image/svg+xml")):
        answer = client.get(f"/static/{name}")
        assert answer.status_code == 200 and answer.headers["content-type"].startswith(kind)
        again = client.get(f"/static/{name}", headers={"if-none-match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_a_picture_is_given_as_a_picture(client: TestClient, pictures: Path) -> None:
    answer = client.get("/api/runs/painter/pictures/screen-1.png")
    assert (answer.status_code, answer.headers["content-type"], answer.content) == (200, "image/png", PIXEL)
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "name",
    [*UPWARDS, "notes.txt", ".hidden.png", "link.png", "folder.png", "..%2foutside.png", "../outside.png", "none.png"],
)
def test_nothing_but_a_picture_of_the_run_is_given(client: TestClient, pictures: Path, name: str) -> None:
    assert client.get(f"/api/runs/painter/pictures/{name}").status_code == 404


def test_only_pictures_are_listed(store: Store, pictures: Path) -> None:
    folder = store.find("painter")
    assert [picture.name for picture in list_pictures(folder)] == ["screen-1.png"]


@pytest.mark.parametrize("run_id", ["..%2f..", ".web-token", "a%2fb", "%00", "x" * 300, "painter%2f.."])
def test_a_run_is_a_folder_of_the_store_and_nothing_else(client: TestClient, run_id: str) -> None:
    for rest in ("", "/lines", "/pictures", "/pictures/screen-1.png", "/series", "/checkpoints/c1/diff"):
        assert client.get(f"/api/runs/{run_id}{rest}").status_code in (400, 404)


def test_names_of_incidents_and_checkpoints_lead_nowhere(client: TestClient, pictures: Path) -> None:
    for path in ("/api/incidents/..%2f..", "/api/incidents/*", "/api/runs/painter/checkpoints/..%2f../diff"):
        assert client.get(path).status_code == 404
