"""Makes the pictures of the dashboard in docs/images anew: python -m scripts.web_pictures.

With a folder: every page, light, dark and on a phone.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, ViewportSize, sync_playwright
from scripts.web_stage import StageOfRuns
from tests.web.background_server import BackgroundServer

from interlock.config import Config
from interlock.demo import play as play_demo
from interlock.journal import Store
from interlock.report import Story, gather, read_changes, render
from interlock.runtime import Supervisor

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
WIDE: ViewportSize = {"width": 1360, "height": 860}
PHONE: ViewportSize = {"width": 390, "height": 844}
VARIANTS = {"": (WIDE, "light"), "-dark": (WIDE, "dark"), "-phone": (PHONE, "light")}
KEPT = ("overview", "run", "approval-dark", "incident", "inbox-phone")
"""Those that the documentation shows."""

COLOURS = 160
SETTLE_MS = 900


def main() -> None:
    """Draw those of the documentation, or all of them into a folder."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    with tempfile.TemporaryDirectory(prefix="interlock-pictures-") as folder, sync_playwright() as play:
        stage = StageOfRuns(Path(folder))
        stage.build()
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        with BackgroundServer(stage.store) as served:
            for name, path, press in pages(stage):
                for variant in VARIANTS:
                    if target != IMAGES or f"{name}{variant}" in KEPT:
                        draw(browser, served, path, press, variant, target / f"web-{name}{variant}.png")
        page = Path(folder) / "report.html"
        page.write_text(write_report(Path(folder)))
        traces = write_scan(Path(folder))
        unproven = write_proof(Path(folder))
        for variant in VARIANTS if target != IMAGES else ("",):
            shoot(browser, page.as_uri(), "", variant, target / f"report{variant}.png", 1180)
            shoot(browser, traces.as_uri(), "", variant, target / f"scan{variant}.png", 1180)
            shoot(browser, unproven.as_uri(), "", variant, target / f"proof{variant}.png", 1180, part="#proof")
        browser.close()
        stage.close()


def write_report(folder: Path) -> str:
    """The report of the demonstration."""
    store = Store(folder / "demo")
    list(play_demo(keep=store))
    story = Story.open(store.find("demo"))
    with story:
        return render(gather(story, read_changes(story.checkpoints, story.spec.workspace, Config())), "html")


def write_scan(folder: Path) -> Path:
    """The page of the traces that are in this repository, as the documentation makes it."""
    page = folder / "scan.html"
    interlock("scan", "tests/data/traces/extract.jsonl", "--html", str(page), cwd=ROOT)
    return page


AGENT = """
import pathlib, subprocess
from interlock.adapters.command import Steps

steps = Steps()

def bash(command):
    steps.before("bash", {"command": command})
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    steps.after(done.stdout + done.stderr, exit_code=done.returncode)

def edit(name, old, new):
    path = pathlib.Path(name)
    steps.before("edit", {"path": name, "old": old, "new": new})
    path.write_text(path.read_text().replace(old, new))
    steps.after("ok")

bash("python3 -m unittest discover -s tests -t .")
edit("pricing.py", "return total", "return round(total, 2)")
edit("tests/test_pricing.py", "assertEqual(price(10), 90)", "assertEqual(price(10), price(10))")
edit("tests/test_pricing.py", "        self.assertEqual(price(2), 20)\\n", "")
steps.say("All tests pass. There are no type errors. I wrote `docs/pricing.md`.")
"""
PROJECT = {
    "pricing.py": "def price(count):\n    total = count * 10\n    return total * 0.9 if count >= 10 else total\n",
    "tests/__init__.py": "",
    "tests/test_pricing.py": (
        "import unittest\nfrom pricing import price\n\n\nclass Tests(unittest.TestCase):\n"
        "    def test_discount_for_bulk(self):\n        self.assertEqual(price(10), 90)\n\n"
        "    def test_total(self):\n        self.assertEqual(price(1), 10)\n        self.assertEqual(price(2), 20)\n"
    ),
    "agent.py": AGENT,
}
"""An agent that claims more than it did."""


def write_proof(folder: Path) -> Path:
    """The report of a run whose claims are not proven."""
    workspace, page = folder / "pricing", folder / "proof.html"
    for name, text in PROJECT.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text)
    contract = ("--may-change", "pricing.py", "--may-change", "tests/**", "--done-when", "test -s docs/pricing.md")
    interlock("run", "--name", "pricing", *contract, "--", sys.executable, "agent.py", cwd=workspace)
    interlock("report", "pricing", "--output", str(page), cwd=workspace)
    return page


def interlock(*arguments: str, cwd: Path) -> None:
    """One command; what it finds may give it a status of its own."""
    subprocess.run([sys.executable, "-m", "interlock", *arguments], cwd=cwd, check=False, capture_output=True)


def pages(stage: StageOfRuns) -> list[tuple[str, str, str]]:
    """Name, address, and the button that is pressed before the picture is taken."""

    def run(supervisor: Supervisor, tab: str = "") -> str:
        return f"/runs/{supervisor.run.spec.run_id}{tab}"

    incident = next((stage.store.root / stage.incident.run.spec.run_id / "incidents").iterdir()).name
    return [
        ("overview", "/", ""),
        ("inbox", "/", ""),
        ("run", run(stage.climbing), ""),
        ("approval", run(stage.waiting), ""),
        ("control", run(stage.paused), ""),
        ("files", run(stage.climbing, "/files"), ""),
        ("rollback", run(stage.climbing, "/files"), "Undo the whole run"),
        ("screens", run(stage.climbing, "/screens"), ""),
        ("details", run(stage.climbing, "/details"), ""),
        ("incident", f"/incidents/{incident}", ""),
        ("incidents", "/incidents", ""),
    ]


def draw(browser: Browser, served: BackgroundServer, path: str, press: str, variant: str, target: Path) -> None:
    """One picture of a page of the dashboard."""
    shoot(browser, f"{served.address}{path}?token={served.token}", press, variant, target)


def shoot(
    browser: Browser, address: str, press: str, variant: str, target: Path, width: int = 0, part: str = ""
) -> None:
    """One picture of a page or a part of it, with few colours so that it is small."""
    viewport, scheme = VARIANTS[variant]
    if width and viewport is WIDE:
        viewport = {"width": width, "height": WIDE["height"]}
    context = browser.new_context(viewport=viewport, color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(address)
    page.locator("main").first.wait_for()
    if address.startswith("http"):
        page.locator("main :is(table, .card, .tiles)").first.wait_for()
    page.wait_for_timeout(SETTLE_MS)
    if press:
        page.get_by_role("button", name=press).click()
        page.wait_for_timeout(SETTLE_MS)
    picture = Image.open(io.BytesIO(page.locator(part).screenshot() if part else page.screenshot())).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)
    context.close()


if __name__ == "__main__":
    main()
