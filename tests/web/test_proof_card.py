"""The card "Is it really done?" in a real browser: the worst verdict first, readable on a phone, in light and dark."""

from __future__ import annotations

import pytest
from playwright.sync_api import ViewportSize, expect

from interlock.journal import Store
from interlock.journal_records import ProofRecord, RunSpec
from interlock.proof import ClaimVerdict, TestFact
from interlock.proof.model import Claim
from interlock.runtime import Run

from .pages import OpenPage
from .test_accessibility import AXE, SERIOUS

CLAIMS = (
    ClaimVerdict(Claim("lint", "Ruff is happy.", 3), "proven", "`ruff check .` at step 1 passed"),
    ClaimVerdict(Claim("types", "mypy is clean.", 3), "stale", "`mypy` at step 1 passed, but a.py changed afterwards"),
    ClaimVerdict(Claim("endpoint", "The server is up and running.", 3), "unproven", "nothing asked it"),
    ClaimVerdict(
        Claim("tests", f"All 42 tests pass, <b>even</b> {'test_with_a_long_name_' * 8}.", 3),
        "contradicted",
        "`pytest -q` at step 2 failed: 1 failed, 41 passed",
    ),
)
FACTS = (TestFact("1 assertion removed from test_total", f"tests/{'deep/' * 20}test_total.py", 8),)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
def test_claims_are_shown_with_their_verdicts_the_worst_first(
    open_page: OpenPage, store: Store, width: int, scheme: str
) -> None:
    name = f"claiming-{width}"
    with Run.create(RunSpec(run_id=name, name=name, adapter="direct"), store) as run:
        run.record(ProofRecord(CLAIMS, FACTS, "c1", 4))
        run.end("done", "COMPLETE")
    size: ViewportSize = {"width": width, "height": 800}
    page = open_page(f"/runs/{name}", viewport=size, color_scheme=scheme)
    card = page.locator(".card", has=page.locator(".claims"))
    expect(card).to_contain_text("4 claims, 3 not proven")
    pills = card.locator(".claims .pill")
    expect(pills).to_have_text(["contradicted", "unproven", "stale", "proven"])
    expect(card.locator(".claims q").first).to_contain_text("<b>even</b>")
    expect(card.locator(".claims p").first).to_have_text("pytest -q at step 2 failed: 1 failed, 41 passed")
    expect(card.locator(".claims p code").first).to_have_text("pytest -q")
    expect(card.locator(".test-facts")).to_contain_text("1 assertion removed from test_total")
    colours = pills.evaluate_all("all => all.map(each => getComputedStyle(each).color)")
    assert colours[1] == colours[2] and len(set(colours)) == 3
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    verdict, words = pills.first.bounding_box(), card.locator(".claims q").first.bounding_box()
    assert verdict is not None and words is not None
    above, beside = verdict["y"] + verdict["height"] <= words["y"] + 1, verdict["x"] + verdict["width"] <= words["x"]
    assert above if width < 560 else beside
    page.evaluate(AXE)
    assert page.evaluate(SERIOUS) == []
