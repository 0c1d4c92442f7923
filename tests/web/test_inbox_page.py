"""The inbox on the dashboard's first page: read and answered, also on a phone."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec.structs import replace
from playwright.sync_api import expect
from starlette.testclient import TestClient

from interlock.core import Hold
from interlock.journal import Store

from .pages import OpenPage
from .runs import EVIL, stop_run, supervised

PHONE = {"viewport": {"width": 375, "height": 740}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}


def test_a_phone_shows_what_needs_a_person_and_answers_it(open_page: OpenPage, store: Store, tmp_path: Path) -> None:
    stop_run(store, "stopped-at-night", ("agent",), tmp_path)
    with supervised(store, "nightly", approvals=True) as asks, supervised(store, "spender") as held:
        step = asks.call("bash", {"command": f"npm install left-pad # {EVIL} " + "x" * 300})
        assert asks.before(step).action == "hold"
        held.executor.carry_out(Hold("the run has spent $25.00", "limit"))
        page = open_page("/", **PHONE)
        approval = page.locator(".inbox-item[data-kind=approval]")
        expect(approval).to_contain_text("npm install left-pad")
        expect(approval).to_contain_text("Exactly this call runs.")
        expect(page.locator(".inbox-item")).to_have_count(3)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        assert page.evaluate("window.pwned") is None
        low = [button for button in approval.locator("button").all() if (button.bounding_box() or {})["height"] < 44]
        assert low == []
        if shots := os.environ.get("INTERLOCK_SHOTS"):
            page.screenshot(path=f"{shots}/inbox-phone.png", full_page=True)
            page.set_viewport_size({"width": 1280, "height": 800})
            page.screenshot(path=f"{shots}/inbox-wide.png")
        approval.get_by_role("button", name="approve").tap()
        expect(approval).to_have_count(0)
        assert asks.before(step).action == "proceed"
        page.locator(".inbox-item[data-kind=limit]").get_by_role("button", name="resume").tap()
        expect(page.locator(".inbox-item[data-kind=limit]")).to_have_count(0)
        assert held.run.status == "running"


def test_an_answer_to_a_call_that_changed_is_refused(client: TestClient, store: Store) -> None:
    with supervised(store, "changes", approvals=True) as run:
        step = run.call("bash", {"command": "touch a"})
        run.before(step)
        items = client.get("/api/inbox").json()["items"]
        (old,) = [item for item in items if item["run"] == "changes"]
        changed = replace(step, tool=replace(step.tool, arguments={"command": "rm -r src"}))
        run.before(changed)
        told = client.post(f"/api/inbox/{old['id']}", json={"answer": "approve"}, headers={"x-interlock": "1"})
        assert told.status_code == 404
        assert "changed" in told.json()["todo"]
        assert run.before(changed).action == "hold"
        wrong = client.post("/api/inbox/zzz", json={"answer": "approve"}, headers={"x-interlock": "1"})
        assert wrong.status_code == 404
