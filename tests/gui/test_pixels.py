"""What pixels alone tell: problem against normal, on pictures drawn for the test."""

from __future__ import annotations

import pytest

from interlock.gui import LocalAnalyzer, ReplayStatus
from interlock.gui.analyzer import pixels

from .drawn import Drawn

PROBLEMS = {
    "dialog": ReplayStatus.DIALOG_BLOCKING,
    "input_box": ReplayStatus.DIALOG_BLOCKING,
    "notification": ReplayStatus.ERROR_STATE,
    "foreign_window": ReplayStatus.DIALOG_BLOCKING,
    "crash": ReplayStatus.ERROR_STATE,
    "focus_terminal": ReplayStatus.TERMINAL_FOCUS,
}


@pytest.fixture(autouse=True)
def no_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shapes decide; reading words takes a second program and much longer."""
    monkeypatch.setattr(pixels, "find_program", lambda name: None)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_problem_is_seen(problem: str, dark: bool) -> None:
    for seed in (11, 12):
        screen = Drawn(seed, dark=dark, terminal=problem == "focus_terminal")
        getattr(screen, problem)()
        result = LocalAnalyzer().analyze(screen.shot())
        assert result.status is PROBLEMS[problem], (seed, result)
        assert result.confidence >= 0.85
        assert result.recovery_actions


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("terminal", [False, True], ids=["plain", "terminal"])
def test_a_normal_screen_is_no_trouble_whatever_words_are_on_it(dark: bool, terminal: bool) -> None:
    for seed in range(4):
        result = LocalAnalyzer().analyze(Drawn(seed, dark=dark, terminal=terminal).shot())
        assert result.status is ReplayStatus.NORMAL, (seed, result)


def test_a_picture_that_is_too_small_is_no_evidence() -> None:
    screen = Drawn(1)
    screen.image = screen.image.resize((100, 60))
    assert LocalAnalyzer().analyze(screen.shot()).status is ReplayStatus.UNKNOWN
