"""Makes the pictures of the dashboard in docs/images anew: every page, light, dark and on a phone."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from web_stage import StageOfRuns

from interlock.web.background import Background

IMAGES = Path(__file__).parents[1] / "docs" / "images"
WIDE = {"width": 1360, "height": 860}
PHONE = {"width": 390, "height": 844}


def main() -> None:
    """Draw all, or those whose name holds a word."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="interlock-pictures-") as folder:
        stage = StageOfRuns(Path(folder))
        stage.build()
        served = Background(stage.store)
        try:
            with sync_playwright() as play:
                browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
                for name, path, act in pages(stage):
                    for look, viewport, scheme in (
                        ("", WIDE, "light"),
                        ("-dark", WIDE, "dark"),
                        ("-phone", PHONE, "light"),
                    ):
                        if wanted in f"{name}{look}":
                            draw(browser, served, path, act, viewport, scheme, target / f"web-{name}{look}.png")
                browser.close()
        finally:
            served.close()
            stage.close()


def pages(stage: StageOfRuns):  # type: ignore[no-untyped-def]
    """Name, address, and what is done before the picture is taken."""

    def run(supervisor, tab=""):  # type: ignore[no-untyped-def]
        return f"/runs/{supervisor.run.spec.run_id}{tab}"

    incident = next((stage.root / "runs" / stage.incident.run.spec.run_id / "incidents").iterdir()).name
    return [
        ("overview", "/", None),
        ("run", run(stage.climbing), None),
        ("approval", run(stage.waiting), None),
        ("control", run(stage.paused), None),
        ("files", run(stage.climbing, "/files"), None),
        ("rollback", run(stage.climbing, "/files"), "text=Undo the whole run"),
        ("details", run(stage.climbing, "/details"), None),
        ("screens", run(stage.climbing, "/screens"), None),
        ("incident", f"/incidents/{incident}", None),
        ("incidents", "/incidents", None),
    ]


def draw(browser: Browser, served: Background, path: str, act, viewport, scheme: str, target: Path) -> None:  # type: ignore[no-untyped-def]
    context = browser.new_context(
        viewport=viewport, color_scheme=scheme, device_scale_factor=1, reduced_motion="reduce"
    )
    page: Page = context.new_page()
    page.on("console", lambda m: print(m.type, m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda e: print("error", e))
    page.goto(served.entry)
    page.goto(served.address + path)
    page.wait_for_selector("main :is(table, .card, .tiles)")
    page.wait_for_timeout(900)
    if act:
        page.click(act)
        page.wait_for_timeout(700)
    page.screenshot(path=target)
    context.close()


if __name__ == "__main__":
    main()
