"""GUI sessions: capture, encoding, change detection, a check, typing, and the cost of monitoring a replay."""

from __future__ import annotations

import http.server
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from interlock.config.schema import Gui
from interlock.gui.accessibility import Accessibility
from interlock.gui.analyzer.claude import ClaudeAnalyzer
from interlock.gui.analyzer.evidence import ScreenSituation
from interlock.gui.analyzer.layers import AccessibilityLayer, WindowLayer
from interlock.gui.analyzer.local import LocalAnalyzer
from interlock.gui.display import Programs, VirtualDisplay, wait_until
from interlock.gui.doctor import Catcher
from interlock.gui.editor.vscode import VSCodeController
from interlock.gui.orchestrator import InterventionOrchestrator
from interlock.gui.recovery import RecoveryExecutor
from interlock.gui.replay.engine import ReplayEngine
from interlock.gui.replay.store import SessionStore
from interlock.gui.screenshot.frame import changed_tiles
from interlock.gui.screenshot.screenshot import encode
from interlock.gui.screenshot.x_backends import MSSBackend
from interlock.gui.session import FileOperation, Operation, OperationType, ReplaySession
from interlock.gui.windows import WindowSystem
from interlock.gui.xtest_input import XTestInput

ROOT = Path(__file__).parents[1]
TINY_EDITOR = ROOT / "tests" / "gui" / "tiny_editor.py"
SLOW_API_S = 30.0
PROGRAMS = ("Xvfb", "openbox", "dbus-daemon", "scrot", "xdotool", "zenity")

NOTES = (
    "1920x1080 on Xvfb, medians. A check is capture, window system and accessibility together, as in a session; pixels "
    "alone is for screens that nothing else can be asked about. Typing goes into a window that reads the keys back; "
    "exact says whether all of it arrived. The replays go into a small editor of our own; the model's API takes 30 s "
    "for every answer, of which a replay waits 3 s at each routine check and then types on."
)


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """All of it on one display, in one run."""
    header = ["measurement", "Interlock", "compared with", "its value", "ratio"]
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        return "GUI sessions", header, [[f"not measured: {', '.join(missing)} missing", "", "", "", ""]]
    times = 10 if quick else 50
    with tempfile.TemporaryDirectory(prefix="interlock-bench-", ignore_cleanup_errors=True) as temporary:
        display = VirtualDisplay(Programs(Path(temporary) / "programs"), 1920, 1080)
        try:
            rows = [
                *_pictures(display, Path(temporary), times),
                *_typing(display, quick),
                *_replays(display, Path(temporary), quick),
            ]
        finally:
            display.close()
    return "GUI sessions", header, rows


def _pictures(display: VirtualDisplay, folder: Path, times: int) -> Iterator[list[str]]:
    import mss

    backend = MSSBackend(display.name)
    shot = backend.capture_screen()
    assert shot.frame is not None
    frame = shot.frame

    def scrot() -> None:
        subprocess.run(["scrot", "-o", "-q", "85", "/dev/shm/interlock-bench.jpg"], env=display.environment, check=True)

    def fresh() -> None:
        with mss.MSS(display=display.name) as one:
            one.grab(one.monitors[1])

    capture = _median(backend.capture_screen, times)
    other = _median(scrot, max(5, times // 5))
    yield ["capture", _ms(capture), "scrot", _ms(other), f"{capture / other:.3f}"]
    other = _median(fresh, times)
    yield ["capture", _ms(capture), "a fresh mss object", _ms(other), f"{capture / other:.3f}"]
    yield ["JPEG, quality 85", _ms(_median(lambda: encode(frame.to_image()), times)), "", "", ""]
    again = backend.capture_screen().frame
    assert again is not None
    yield ["tile difference", _ms(_median(lambda: changed_tiles(frame, again), times)), "", "", ""]
    yield ["check, local evidence", _ms(_check(display, backend, folder, times)), "target", "30.0 ms", ""]
    pixels = LocalAnalyzer()

    def check_pixels() -> None:
        pixels._seen = None
        pixels.analyze(shot)

    yield ["check, pixels only", _ms(_median(check_pixels, max(5, times // 5))), "", "", ""]
    backend.close()


def _check(display: VirtualDisplay, backend: MSSBackend, folder: Path, times: int) -> float:
    """Capture, ask the window system and the accessibility bus, put the evidence together; nothing is wrong."""
    accessibility = Accessibility(display.environment["DBUS_SESSION_BUS_ADDRESS"])
    dialog = subprocess.Popen(
        ["zenity", "--info", "--text", "behind the editor"], env=display.environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert wait_until(accessibility.dialogs, 30), "zenity does not describe itself"
        with _editor(display, folder / "check") as controller:
            layers = [WindowLayer(controller.windows), AccessibilityLayer(accessibility, controller.is_behind)]
            analyzer = LocalAnalyzer(layers)
            verdict = analyzer.analyze(backend.capture_screen())
            assert not verdict.is_problem, verdict
            return _median(lambda: analyzer.analyze(backend.capture_screen()), times)
    finally:
        dialog.kill()
        dialog.wait()
        accessibility.close()


def _typing(display: VirtualDisplay, quick: bool) -> Iterator[list[str]]:
    text = "def f(a, b): return {'k': [a ** 2, \"x\"]}  # ~`$!;" * (20 if quick else 100)
    ours, our_text = _type(display, text, lambda: XTestInput(display.name).type_text(text))

    def xdotool() -> None:
        subprocess.run(["xdotool", "type", "--file", "-"], input=text.encode(), env=display.environment, check=True)

    theirs, their_text = _type(display, text, xdotool)
    said = f"{len(text) / ours:,.0f} characters/s, {'exact' if our_text == text else 'NOT exact'}"
    beside = f"{len(text) / theirs:,.0f} characters/s, {'exact' if their_text == text else 'NOT exact'}"
    yield ["typing", said, "xdotool type", beside, f"{theirs / ours:.1f}x"]


def _type(display: VirtualDisplay, text: str, type_it: Callable[[], None]) -> tuple[float, str]:
    """Seconds until all of it has arrived, and what has."""
    catcher = Catcher(display.name)
    try:
        begun = time.perf_counter()
        type_it()
        wait_until(lambda: len(catcher.text) >= len(text), 60, every_s=0.001)
        return time.perf_counter() - begun, catcher.text
    finally:
        catcher.close()


def _replays(display: VirtualDisplay, folder: Path, quick: bool) -> Iterator[list[str]]:
    lines = 40 if quick else 400
    with _editor(display, folder) as controller:
        plain = _replay(controller, folder, "plain", lines, None)
        watched = _replay(controller, folder, "watched", lines, _watch(display, controller, LocalAnalyzer([
            WindowLayer(controller.windows, str(controller.folder))], pixels=False)))  # fmt: skip
        yield _beside("replay, monitored 10 times a second", watched, plain)
        with _slow_api():
            slow = _replay(controller, folder, "slow", lines, _watch(display, controller, ClaudeAnalyzer()))
        yield _beside(f"replay, API takes {SLOW_API_S:.0f} s", slow, plain)


def _beside(what: str, seconds: float, plain: float) -> list[str]:
    return [what, f"{seconds:.2f} s", "not monitored", f"{plain:.2f} s", f"{seconds / plain:.2f}"]


def _watch(display: VirtualDisplay, controller: VSCodeController, analyzer: object) -> InterventionOrchestrator:
    config = Gui(interval_seconds=0.1, save_screenshots=False)
    executor = RecoveryExecutor(controller.keyboard, controller)
    watch = InterventionOrchestrator(config, MSSBackend(display.name), analyzer, executor)  # type: ignore[arg-type]
    if isinstance(analyzer, LocalAnalyzer):
        analyzer.live = lambda: watch.situation() if watch.situation else ScreenSituation()
    return watch


def _replay(
    controller: VSCodeController, folder: Path, name: str, lines: int, watch: InterventionOrchestrator | None
) -> float:
    text = "".join(f"line_{n} = [{n}, (x ** {n})]\n" for n in range(lines))
    session = ReplaySession(name, [FileOperation(f"{name}.py", [Operation(OperationType.INSERT, 1, None, text)])])
    engine = ReplayEngine(controller, watch, store=lambda where, key: SessionStore(where, key, folder / "state"))
    engine.load_session(session)
    result = engine.execute()
    assert result.success, result
    return result.seconds


@contextmanager
def _editor(display: VirtualDisplay, folder: Path) -> Iterator[VSCodeController]:
    workspace = folder / "work"
    workspace.mkdir(parents=True)
    argv = [sys.executable, str(TINY_EDITOR), str(workspace), str(folder / "control"), str(folder / "log")]
    process = subprocess.Popen(argv, env=display.environment)
    keyboard = XTestInput(display.name)
    with closing(WindowSystem(display.name)) as windows:
        controller = VSCodeController(keyboard, windows, workspace)
        controller.list_s = 0.02
        try:
            assert wait_until(lambda: (w := controller.window()) is not None and windows.has_focus(w.id), 20)
            yield controller
        finally:
            process.kill()
            process.wait()
            keyboard.close()


@contextmanager
def _slow_api() -> Iterator[None]:
    """A model's API on loopback that takes its time."""
    over = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            over.wait(SLOW_API_S)

        def log_message(self, *arguments: object) -> None:
            return

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    before = {name: os.environ.get(name) for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")}
    os.environ |= {"ANTHROPIC_API_KEY": "sk-ant-bench", "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}"}
    try:
        yield
    finally:
        over.set()
        server.shutdown()
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)


def _median(action: Callable[[], object], times: int) -> float:
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        action()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


def main() -> None:
    from table import print_table

    print_table(*measure("--quick" in sys.argv), NOTES)


if __name__ == "__main__":
    main()
