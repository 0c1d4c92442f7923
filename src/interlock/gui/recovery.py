"""RecoveryExecutor: executes validated actions in order; and the decision whether to act on a verdict."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import structlog
from msgspec import Struct

from ..config import Gui
from ..core import Clock, InterlockError
from .analyzer.evidence import AnalysisResult, ReplayStatus
from .editor.vscode import VSCodeController
from .input import InputBackend
from .recovery_actions import (
    MAX_ACTIONS,
    ActionRefused,
    Click,
    ClickButton,
    OpenFile,
    Plain,
    Press,
    Type,
    WaitAction,
    parse_action,
)
from .screenshot.screenshot import Screenshot
from .windows import Rectangle

BETWEEN_S = 0.5
"""Between two actions: the editor needs a moment to show the effect of the first."""

EDITOR_TITLE = "Visual Studio Code"

log = structlog.get_logger("interlock.gui")


class RecoveryResult(Struct, frozen=True):
    """The result of one action. `success` says that the keys were sent, not that it helped."""

    success: bool
    action_taken: str = ""
    error: str | None = None


class RecoveryExecutor:
    """Executes action strings through an input backend and an editor's controller."""

    def __init__(
        self,
        input_backend: InputBackend,
        vscode_controller: VSCodeController | None = None,
        *,
        allowed_buttons: Sequence[str] = (),
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        self.input_backend, self.vscode_controller = input_backend, vscode_controller
        self._allowed = tuple(allowed_buttons)
        self._stop = threading.Event()
        # Waits this many seconds; True if it was asked to stop meanwhile.
        self._wait = wait or self._stop.wait

    def stop(self) -> None:
        """Stop: a running list of actions ends at the next one, a wait ends at once."""
        self._stop.set()

    def start(self) -> None:
        """Work again after a stop."""
        self._stop.clear()

    def execute(self, actions: list[str], screenshot: Screenshot | None = None) -> list[RecoveryResult]:
        """Execute actions in order and stop at the first that fails; a result for each one tried. Never raises.

        Click positions are those in `screenshot`; without it, those on the screen.
        """
        if len(actions) > MAX_ACTIONS:
            return [RecoveryResult(False, "", f"refused: {len(actions)} actions, at most {MAX_ACTIONS}")]
        results: list[RecoveryResult] = []
        for number, action in enumerate(actions):
            if (number and self._wait(BETWEEN_S)) or self._stop.is_set():
                return [*results, RecoveryResult(False, "", "stopped")]
            results.append(self._try(str(action), screenshot))
            if not results[-1].success:
                break
        return results

    def _try(self, action: str, screenshot: Screenshot | None) -> RecoveryResult:
        try:
            self._carry_out(action, screenshot)
        except Exception as error:  # noqa: BLE001 - whatever a backend raises is a failed recovery, not a crash
            log.warning("recovery action failed", action=ascii(action)[:80], error=str(error))
            return RecoveryResult(False, action.strip(), _text(error))
        return RecoveryResult(True, action.strip())

    def _carry_out(self, line: str, screenshot: Screenshot | None) -> None:
        match parse_action(line):
            case Press(keys):
                if keys[-1] == "Return" and self._terminal_has_focus():
                    raise ActionRefused("refused: Return while a terminal has the focus")
                if len(keys) == 1:
                    self.input_backend.key_press(keys[0])
                else:
                    self.input_backend.key_combo(*keys)
            case Type(text):
                if self._terminal_has_focus():
                    raise ActionRefused("refused: typing while a terminal has the focus")
                self.input_backend.type_text(text)
            case Click(x, y):
                self.input_backend.mouse_move_click(*self._on_screen(x, y, screenshot))
            case WaitAction(seconds):
                if self._wait(seconds):
                    raise ActionRefused("stopped")
            case OpenFile(path):
                if not self._controller().open_file(path):
                    raise ActionRefused(f"{path} could not be opened")
            case ClickButton(name):
                self._click_button(name)
            case Plain("focus_vscode"):
                self._focus()
            case Plain("close_dialog"):
                self._close_dialog()
            case _:
                if not self._controller().clear_notifications():
                    raise ActionRefused("the notifications could not be cleared")

    def _focus(self) -> None:
        if self.vscode_controller is not None:
            self.vscode_controller.revive()
        window = self.input_backend.search_window(EDITOR_TITLE)
        if not window:
            raise ActionRefused(f"there is no window titled {EDITOR_TITLE!r}")
        self.input_backend.activate_window(window)
        if self.vscode_controller is not None:
            self.vscode_controller.wake()

    def _click_button(self, name: str) -> None:
        if not is_allowed(name, self._allowed):
            raise ActionRefused(
                f"refused: the button {name!r} deletes something or grants trust",
                todo="gui.allowed_buttons can allow it.",
            )
        by_name = {each.casefold(): bounds for each, bounds in self._buttons().items()}
        bounds = by_name.get(name.casefold())
        if bounds is None:
            raise ActionRefused(f"there is no button {name!r}")
        self.input_backend.mouse_move_click(*bounds.centre)

    def _close_dialog(self) -> None:
        """Press the harmless button, else one that the configuration allows; Escape if no button is known."""
        buttons = self._buttons() if self.vscode_controller is not None else {}
        name = harmless(list(buttons)) or next((each for each in self._allowed if each in buttons), None)
        if name is not None:
            self.input_backend.mouse_move_click(*buttons[name].centre)
        elif buttons:
            raise ActionRefused(f"refused: none of the buttons is harmless ({', '.join(buttons)})")
        else:
            self.input_backend.key_press("Escape")

    def _buttons(self) -> dict[str, Rectangle]:
        found = self._controller().buttons()
        return found if isinstance(found, dict) else {}

    def _on_screen(self, x: float, y: float, screenshot: Screenshot | None) -> tuple[int, int]:
        """A position in the picture as a position on the screen; one outside is refused."""
        at = screenshot.to_screen(x, y) if screenshot is not None else (round(x), round(y))
        size = (screenshot.screen_width, screenshot.screen_height) if screenshot is not None else None
        size = size or self.input_backend.screen_size()
        if isinstance(size, tuple) and not (0 <= at[0] < size[0] and 0 <= at[1] < size[1]):
            raise ActionRefused(f"refused: {x:g},{y:g} is outside the screen")
        return at

    def _terminal_has_focus(self) -> bool:
        return self.vscode_controller is not None and self.vscode_controller.terminal_has_focus() is True

    def _controller(self) -> VSCodeController:
        if self.vscode_controller is None:
            raise ActionRefused("there is no editor to ask")
        return self.vscode_controller


def _text(error: Exception) -> str:
    return str(error) if isinstance(error, InterlockError) else f"{type(error).__name__}: {error}".rstrip(": ")


HARMLESS = (
    "Cancel", "Keep Editing", "Stay", "Close", "Dismiss", "Not Now", "Later", "Ask Me Later", "No", "Ignore", "OK",
    "Got it", "Never Mind",
)  # fmt: skip
"""Buttons that discard nothing, the best answer first."""

DANGEROUS = re.compile(
    r"\b(don.?t save|discard|delete|remove|overwrite|replace|leave|trust|revert|reset|erase|format|uninstall|install"
    r"|restart|shut ?down|quit|exit|kill|force|allow|grant|authori[sz]e|sign in|log ?in|run|execute|sync|publish|push"
    r"|empty|drop|terminate|truncate|accept|agree|enable|yes)",
    re.IGNORECASE,
)
"""Buttons that destroy, trust, run or agree; SAFE_EXCEPTIONS are safe anyway."""

SAFE_EXCEPTIONS = re.compile(r"don.?t (trust|allow|install|delete|remove|sync)|do not (trust|allow)", re.IGNORECASE)


def is_allowed(name: str, allowed: Iterable[str]) -> bool:
    """Whether a button may be pressed: harmless by its name, or named by the configuration."""
    plain = _plain(name)
    if any(plain == _plain(each) for each in allowed):
        return True
    return bool(SAFE_EXCEPTIONS.search(plain)) or not DANGEROUS.search(plain)


def harmless(names: Sequence[str]) -> str | None:
    """The button that closes a dialog and discards nothing; None if there is none."""
    by_name = {_plain(name).casefold(): name for name in names}
    for wanted in HARMLESS:
        if wanted.casefold() in by_name:
            return by_name[wanted.casefold()]
    return next((name for name in names if SAFE_EXCEPTIONS.search(_plain(name))), None)


def _plain(name: str) -> str:
    """A name without mnemonics, curly quotes, look-alike and invisible letters, and surrounding blanks."""
    folded = unicodedata.normalize("NFKC", name).replace("_", "").replace("&", "").replace("\u2019", "'")
    return "".join(c for c in folded if unicodedata.category(c) != "Cf").strip()


class RecoveryDecision(Struct, frozen=True):
    """Whether to act, or the outcome of the check instead, and why."""

    outcome: Literal["act", "none", "skipped", "no_action"]
    reason: str = ""


def decide(result: AnalysisResult, config: Gui, pacing: Pacing | None) -> RecoveryDecision:
    """Act on a problem with enough confidence and known steps that is not too soon after the last recovery."""
    if not result.is_problem:
        return RecoveryDecision("none")
    if result.confidence < config.confidence_threshold:
        return RecoveryDecision("skipped", f"confidence {result.confidence:g} is below {config.confidence_threshold:g}")
    if not result.recovery_actions:
        return RecoveryDecision("no_action", "no steps are known")
    left = pacing.cooldown_left() if pacing is not None else 0.0
    if left > 0:
        return RecoveryDecision("skipped", f"cooldown: {left:.1f} s left")
    return RecoveryDecision("act")


class Pacing:
    """Counts failures and times the cooldown, by the monotonic clock."""

    def __init__(self, config: Gui, clock: Clock) -> None:
        self._config, self._clock = config, clock
        self._last: float | None = None
        self._failures = 0
        self._reported = False

    def cooldown_left(self) -> float:
        if self._last is None:
            return 0.0
        return max(0.0, self._last + self._config.min_cooldown_seconds - self._clock.monotonic())

    def note_status(self, status: ReplayStatus) -> None:
        """Note the state of the screen: a normal one resets the count of failures."""
        if status is ReplayStatus.NORMAL:
            self._failures, self._reported = 0, False

    def recovered(self, success: bool) -> None:
        self._last = self._clock.monotonic()
        if success:
            self._failures, self._reported = 0, False
        else:
            self._failures += 1

    def is_critical(self) -> bool:
        """True once, when too many recoveries in a row have failed."""
        if self._failures < self._config.max_retries or self._reported:
            return False
        self._reported = True
        return True
