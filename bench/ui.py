"""How fast the dashboard opens on many runs and on a long run, its memory, and how soon it shows updates."""

from __future__ import annotations

import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from interlock.core import Step
from interlock.journal import Journal, JournalEntry, RunFolder, Store
from interlock.journal_records import StepRecord
from top import write_run

NOTES = (
    "`interlock web` as a process, and Debian's Chromium, with 200 runs of which one has 100,000 steps (quick: 20 and "
    "5,000). Opening counts from the navigation to the first row, or to the first line and all charts, in a new window "
    "(nothing cached). An update counts from the commit of a record to its words in the page. Memory is the most that "
    "the server had, and what the page's own process has alone (PSS). Goals: 2 s, 300 MB, 250 ms."
)
PATIENCE_MS = 60_000
WATCH = """mark => {
    window.seenAt = 0;
    const look = () => {
        if (window.seenAt || !document.querySelector('.lines > .line')?.textContent.includes(mark)) return;
        window.seenAt = Date.now();
        observer.disconnect();
    };
    const observer = new MutationObserver(look);
    observer.observe(document.querySelector('main'), {subtree: true, childList: true, characterData: true});
}"""


class Dashboard:
    """The server's process."""

    def __init__(self, store: Store) -> None:
        begun = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "interlock", "web", "--no-open", "--port", "0"],
            env={**os.environ, "INTERLOCK_STORE__DIR": str(store.root)},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.entry = self._process.stdout.readline().strip()
        self.ready = time.perf_counter() - begun
        self.address = re.sub(r"/\?token=.*", "", self.entry)

    def memory_mb(self) -> float:
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024

    def close(self) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait()


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """Title, header and rows for the table of results."""
    runs, steps, repeats, marks = (20, 5_000, 2, 5) if quick else (200, 100_000, 5, 20)
    with tempfile.TemporaryDirectory(prefix="interlock-bench-") as temporary, sync_playwright() as play:
        store = Store(Path(temporary) / "runs")
        for number in range(runs - 1):
            write_run(store, f"run-{number:03}", 60)
        long = write_run(store, "long-run", steps)
        dashboard = Dashboard(store)
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        try:
            # The server reads the long run anew each time only before the first; so the worst is told too.
            opened = [_open(browser, dashboard, "/", "table.runs tbody tr")[0] for _ in range(repeats)]
            inside, pages, updates = [], [], []
            for _ in range(repeats):
                spent, page = _open(browser, dashboard, "/runs/long-run", ".lines > .line", charts=4)
                inside.append(spent)
                pages.append(_page_mb(browser, page))
                updates += _updates(page, long, marks)
                page.context.close()
            memory = dashboard.memory_mb()
        finally:
            browser.close()
            dashboard.close()
    rows = [
        ["address printed", f"{dashboard.ready:.2f} s", f"{dashboard.ready:.2f} s"],
        [f"{runs} runs: first row", f"{statistics.median(opened):.2f} s", f"{max(opened):.2f} s"],
        [f"run of {steps:,} steps: timeline and charts", f"{statistics.median(inside):.2f} s", f"{max(inside):.2f} s"],
        ["memory of the server", f"{memory:.0f} MB", f"{memory:.0f} MB"],
        ["memory of the page", f"{statistics.median(pages):.0f} MB", f"{max(pages):.0f} MB"],
        ["update of a live run", f"{statistics.median(updates):.0f} ms", f"{max(updates):.0f} ms"],
    ]
    return "Dashboard", ["measurement", "median", "worst"], rows


def _open(browser: Browser, dashboard: Dashboard, path: str, wanted: str, charts: int = 0) -> tuple[float, Page]:
    """Open a page in a fresh window; seconds until it shows what is wanted."""
    context = browser.new_context(viewport={"width": 1360, "height": 860})
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    begun = time.perf_counter()
    page.goto(dashboard.entry.replace("/?", f"{path}?"), wait_until="commit")
    page.locator(wanted).first.wait_for()
    if charts:
        page.locator(".chart canvas").nth(charts - 1).wait_for()
    spent = time.perf_counter() - begun
    if not charts:
        context.close()
    return spent, page


def _updates(page: Page, folder: RunFolder, count: int) -> list[float]:
    """Milliseconds from a commit to its words in the page."""
    times = []
    with Journal.open(folder) as journal:
        for number in range(count):
            mark = f"mark-{time.time_ns()}"
            page.evaluate(WATCH, mark)
            step = Step(run_id=folder.run_id, index=10**6 + number, role="assistant", content=mark)
            journal.append([JournalEntry("step", StepRecord(step))], durable=True)
            committed = time.time() * 1000
            while not (seen := page.evaluate("window.seenAt")):
                page.wait_for_timeout(20)
            times.append(max(0.0, seen - committed))
            page.wait_for_timeout(50 + 17 * number)
    return times


def _page_mb(browser: Browser, page: Page) -> float:
    """What the page's own process has alone: the newest renderer's proportional share."""
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    pids = [process["id"] for process in processes if process["type"] == "renderer"]
    shares = []
    for pid in pids:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        shares.append(int(text.partition("\nPss:")[2].split()[0]) / 1024)
    return max(shares)


def main() -> None:
    from table import print_table

    print_table(*measure("--quick" in sys.argv), NOTES)


if __name__ == "__main__":
    main()
