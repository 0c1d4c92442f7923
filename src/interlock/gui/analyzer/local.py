"""LocalAnalyzer: layers of evidence on this machine; no network, no key."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ..screenshot.frame import is_unchanged
from ..screenshot.screenshot import Screenshot
from .evidence import (
    DISPUTED,
    AnalysisResult,
    Evidence,
    Layer,
    ReplayStatus,
    ScreenSituation,
    Topic,
    fuse,
    nothing,
    problem,
    situation_of,
    unknown,
)
from .pixel_layer import PixelLayer

RECHECK_S = 0.15
"""A problem must still be there after this time: windows and titles change in steps."""

SETTLE_S, SETTLE_CHECKS = 0.1, 20
"""How often, and how many times, we check what a recovery's steps have done. A browser's dialog ignores clicks for half
a second after it has come up, and an overloaded editor takes longer than that for one key."""

PASSING: frozenset[Topic] = frozenset(("focus", "file"))
"""What a session's own operations disturb: while it opens a file, another one is open."""


LOST_CHECKS = 4
"""After this many checks in a row, a dispute about keyboard focus means that it is lost; titles are not that late."""

KEYBOARD_LOST = problem(
    "keyboard",
    ReplayStatus.DIALOG_BLOCKING,
    "keyboard_lost",
    "focus",
    0.92,
    "the window has taken keyboard focus from the text",
)


class LocalAnalyzer:
    """Combines layers, the cheap ones first; pixels are examined only when nothing else sees dialogs.

    `editor` says whether one has to be there; `blind_spots` what no layer can see on this display.
    """

    def __init__(
        self,
        layers: Sequence[Layer] = (),
        *,
        pixels: bool = True,
        pause: Callable[[float], object] = time.sleep,
        editor: bool = True,
        blind_spots: Sequence[str] = (),
    ) -> None:
        self._layers = tuple(layers)
        self._pixels: Layer | None = PixelLayer(over="the editor" if editor else "the screen") if pixels else None
        self._editor, self._blind_spots = editor, tuple(blind_spots)
        self.live: Callable[[], ScreenSituation] | None = None
        """The situation as it is at the moment of asking, where a session is running."""
        self._pause = pause
        self._seen: tuple[Screenshot, ScreenSituation, Evidence] | None = None
        self._failed_attempts: dict[str, int] = {}
        self._lost = 0

    def analyze(self, screenshot: Screenshot, context: object = None) -> AnalysisResult:
        """The verdict on what is there now; never raises."""
        result = self._check(screenshot, self._situation(context), at_first_sight=bool(self._layers))
        if not self._layers or not (result.is_problem or _is_disputed(result)):
            return result
        self._pause(RECHECK_S)
        again = self._check(screenshot, self._situation(context))
        if result.is_problem and again.status is not result.status:
            return unknown(f"passing: {result.description}", evidence=again.evidence)
        return again

    def settle(self, capture: Callable[[], Screenshot | None], context: object, give_up: Callable[[], bool]) -> bool:
        """Wait until the screen is normal after a recovery's steps; False if it does not become so."""
        for _ in range(SETTLE_CHECKS):
            shot = capture()
            if shot is None or give_up():
                return False
            if self._check(shot, self._situation(context)).status is ReplayStatus.NORMAL:
                return True
            self._pause(SETTLE_S)
        return False

    def tried(self, result: AnalysisResult, helped: bool) -> None:
        """Record how the steps of a verdict went; if they did not help, the next ones are suggested."""
        key = result.status.value
        self._failed_attempts[key] = 0 if helped else self._failed_attempts.get(key, 0) + 1

    def _situation(self, context: object) -> ScreenSituation:
        given = situation_of(context)
        if self.live is None:
            return given
        live = self.live()
        return live if live.expected_file or not given.expected_file else given

    def _check(
        self, screenshot: Screenshot, situation: ScreenSituation, *, at_first_sight: bool = False
    ) -> AnalysisResult:
        """One check. At first sight pixels do not settle disputes: most are over in a moment, and pixels cost most."""
        raw = [layer.inspect(screenshot, situation) for layer in self._layers]
        # Before the session's own boxes are removed: a layer that has seen one works.
        seen = _is_seen(raw, situation) or (at_first_sight and _has_problem(raw))
        evidence = self._without_own(raw, situation)
        if self._pixels is not None and not seen:
            evidence = self._without_own([*evidence, self._check_pixels(screenshot, situation)], situation)
        evidence = self._with_lost_keyboard(raw, evidence)
        first = self._fuse(evidence, situation)
        if first.status is ReplayStatus.NORMAL and not _has_problem(raw):
            self._failed_attempts.clear()
        attempt = self._failed_attempts.get(first.status.value, 0)
        return self._fuse(evidence, situation, attempt) if attempt else first

    def _fuse(self, evidence: list[Evidence], situation: ScreenSituation, attempt: int = 0) -> AnalysisResult:
        """One verdict, which names what no layer can see; UNKNOWN where that is everything."""
        result = fuse(evidence, situation, attempt, editor=self._editor)
        if result.status is not ReplayStatus.NORMAL or not self._blind_spots:
            return result
        unseen = f"cannot see {' or '.join(self._blind_spots)}"
        if not self._editor and len(self._blind_spots) > 1:
            return unknown(f"{unseen}; {result.description}", evidence=result.evidence)
        return replace(result, description=f"{result.description}; {unseen}")

    def _without_own(self, evidence: list[Evidence], situation: ScreenSituation) -> list[Evidence]:
        """The evidence without what the session's own operations have caused."""
        if self.live is None:
            return evidence
        after = self.live()
        if situation.operating or after.operating or after.serial != situation.serial:
            return [_settled(each) for each in evidence]
        return evidence

    def _with_lost_keyboard(self, raw: list[Evidence], evidence: list[Evidence]) -> list[Evidence]:
        """The evidence, plus a lost keyboard where title and text have disagreed about it for a while."""
        if not _has_problem(raw):
            self._lost = 0
        elif _is_keyboard_lost(evidence):
            self._lost += 1
            if self._lost >= LOST_CHECKS:
                return [*evidence, KEYBOARD_LOST]
        return evidence

    def _check_pixels(self, screenshot: Screenshot, situation: ScreenSituation) -> Evidence:
        """What the pixels show; the last finding holds while the picture does not change."""
        assert self._pixels is not None
        if self._seen is not None:
            before, expected, evidence = self._seen
            same = expected.expected_file == situation.expected_file
            if same and evidence.verdict == "ok" and is_unchanged(before.frame, screenshot.frame):
                return evidence
        evidence = self._pixels.inspect(screenshot, situation)
        self._seen = (screenshot, situation, evidence)
        return evidence


def _is_seen(evidence: Sequence[Evidence], situation: ScreenSituation) -> bool:
    """Whether the layers have found a problem and agree on it, or one of them vouches that there is no dialog."""
    if fuse(evidence, situation).is_problem:
        return True
    return any(each.verdict == "ok" and "dialog" in each.topics for each in evidence)


def _has_problem(evidence: Sequence[Evidence]) -> bool:
    return any(each.verdict == "problem" for each in evidence)


def _is_keyboard_lost(evidence: Sequence[Evidence]) -> bool:
    """Whether one layer finds keyboard focus in no view and another in the text: the page itself has lost it."""
    return any(each.kind == "input_box" for each in evidence) and any(
        each.verdict == "ok" and "focus" in each.topics for each in evidence
    )


def _is_disputed(result: AnalysisResult) -> bool:
    """Whether layers contradict each other."""
    return result.status is ReplayStatus.UNKNOWN and result.description.startswith(DISPUTED)


def _settled(evidence: Evidence) -> Evidence:
    """The finding, unless the session's own operation may have caused it."""
    if evidence.verdict == "problem" and evidence.topics & PASSING and evidence.status is not ReplayStatus.ERROR_STATE:
        return nothing(evidence.layer, f"the session is working ({evidence.says})")
    return evidence
