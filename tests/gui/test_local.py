"""LocalAnalyzer: layers of evidence put together."""

from __future__ import annotations

from interlock.gui import LocalAnalyzer, ReplayStatus, Screenshot
from interlock.gui.analyzer.evidence import Evidence, ScreenSituation, nothing, ok, problem

from .drawn import Drawn

DIALOG, TERMINAL, WRONG = ReplayStatus.DIALOG_BLOCKING, ReplayStatus.TERMINAL_FOCUS, ReplayStatus.WRONG_FILE
SHOT = Drawn(1).shot()


class Says:
    """A layer that says these in turn, the last one for ever."""

    def __init__(self, name: str, *words: Evidence) -> None:
        self.name, self._words, self.looks = name, list(words), 0

    def inspect(self, screenshot: Screenshot | None, situation: ScreenSituation) -> Evidence:
        self.looks += 1
        return self._words.pop(0) if len(self._words) > 1 else self._words[0]


def analyzer(*layers: Says, pixels: bool = False) -> LocalAnalyzer:
    return LocalAnalyzer(layers, pixels=pixels, pause=lambda seconds: None)


WINDOW_OK = ok("window", "a.py has keyboard focus", 0.9, "file", "focus", "window")
TREE_OK = ok("tree", "no dialog", 0.8, "dialog", "error")
BOX = problem("window", DIALOG, "input_box", "focus", 0.9, "a box has keyboard focus")
TREE_BOX = problem("tree", DIALOG, "input_box", "focus", 0.88, "the palette has keyboard focus")
SAVE = problem("tree", DIALOG, "dialog", "dialog", 0.95, "Save changes?")
OTHER = problem("window", WRONG, "wrong_file", "file", 0.95, "b.py is open", "b.py")


SEEN_ELSEWHERE = problem("pixels", DIALOG, "foreign_dialog", "window", 0.88, "another window is in front")


def test_without_an_editor_no_step_looks_for_one() -> None:
    tree = Says("tree", SEEN_ELSEWHERE)
    assert list(analyzer(tree).analyze(SHOT).recovery_actions) == ["close_dialog", "focus_vscode"]
    alone = LocalAnalyzer([tree], pixels=False, pause=lambda seconds: None, editor=False)
    assert list(alone.analyze(SHOT).recovery_actions) == ["close_dialog"]
    shell = Says("tree", problem("tree", TERMINAL, "terminal", "focus", 0.95, "a terminal has keyboard focus"))
    alone = LocalAnalyzer([shell], pixels=False, pause=lambda seconds: None, editor=False)
    assert list(alone.analyze(SHOT).recovery_actions) == []


def test_a_normal_screen_says_what_could_not_be_seen_and_is_none_where_that_is_all() -> None:
    windows, dialogs = "which window is in front (no window manager)", "dialogs (no accessibility bus)"
    with_editor = LocalAnalyzer(pause=lambda seconds: None, blind_spots=[windows, dialogs]).analyze(SHOT)
    assert with_editor.status is ReplayStatus.NORMAL
    assert with_editor.description == f"nothing covers the editor; cannot see {windows} or {dialogs}"
    without = LocalAnalyzer(pause=lambda seconds: None, editor=False, blind_spots=[windows, dialogs]).analyze(SHOT)
    assert (without.status, without.confidence) == (ReplayStatus.UNKNOWN, 0.0)
    assert without.description == f"cannot see {windows} or {dialogs}; nothing covers the screen"
    half = LocalAnalyzer(pause=lambda seconds: None, editor=False, blind_spots=[dialogs]).analyze(SHOT)
    assert half.status is ReplayStatus.NORMAL
    assert half.description == f"nothing covers the screen; cannot see {dialogs}"


def test_layers_that_agree_are_surer_together() -> None:
    result = analyzer(Says("window", BOX), Says("tree", TREE_BOX)).analyze(SHOT)
    assert result.status is DIALOG
    assert result.confidence > 0.98
    assert result.recovery_actions == ("press Escape",)


def test_layers_that_contradict_each_other_give_no_verdict() -> None:
    focused = ok("tree", "keyboard focus is in an editor", 0.9, "focus")
    result = analyzer(Says("window", BOX), Says("tree", focused)).analyze(SHOT)
    assert result.status is ReplayStatus.UNKNOWN
    assert not result.recovery_actions
    assert len(result.evidence) == 2


def test_a_layer_vouches_only_for_what_it_can_see() -> None:
    assert analyzer(Says("window", WINDOW_OK), Says("tree", SAVE)).analyze(SHOT).status is DIALOG


def test_no_evidence_is_not_normal() -> None:
    assert analyzer(Says("tree", nothing("tree", "empty"))).analyze(SHOT).status is ReplayStatus.UNKNOWN


def test_what_is_gone_at_the_second_look_was_passing() -> None:
    result = analyzer(Says("window", BOX, WINDOW_OK), Says("tree", TREE_OK)).analyze(SHOT)
    assert result.status is ReplayStatus.UNKNOWN
    assert result.description.startswith("passing")


def test_a_dialog_is_dealt_with_before_the_wrong_file() -> None:
    assert analyzer(Says("window", OTHER), Says("tree", SAVE)).analyze(SHOT).status is DIALOG


def test_a_wrong_file_names_the_open_one_and_the_way_back() -> None:
    result = analyzer(Says("window", OTHER), Says("tree", TREE_OK)).analyze(SHOT, {"expected_file": "a.py"})
    assert (result.actual_file, result.recovery_actions) == ("b.py", ("open_file a.py",))


def test_the_sessions_own_boxes_are_no_trouble() -> None:
    looking = analyzer(Says("window", BOX), Says("tree", TREE_OK))
    looking.live = lambda: ScreenSituation("a.py", operating=True)
    assert looking.analyze(SHOT).status is ReplayStatus.NORMAL


def test_a_dialog_is_trouble_also_while_the_session_has_a_box_open() -> None:
    looking = analyzer(Says("tree", SAVE))
    looking.live = lambda: ScreenSituation("a.py", operating=True)
    assert looking.analyze(SHOT).status is DIALOG


def test_other_steps_are_given_when_the_first_did_not_help() -> None:
    looking = analyzer(Says("tree", SAVE))
    first = looking.analyze(SHOT)
    looking.tried(first, False)
    second = looking.analyze(SHOT)
    assert (first.recovery_actions, second.recovery_actions) == (("close_dialog",), ("press Escape",))
    looking.tried(second, True)
    assert looking.analyze(SHOT).recovery_actions == ("close_dialog",)


def test_the_first_steps_come_again_after_the_last() -> None:
    looking = analyzer(Says("tree", SAVE))
    given = []
    for _ in range(3):
        given.append(looking.analyze(SHOT).recovery_actions)
        looking.tried(looking.analyze(SHOT), False)
    assert given == [("close_dialog",), ("press Escape",), ("close_dialog",)]


def test_a_new_trouble_begins_with_the_first_steps() -> None:
    looking = analyzer(Says("tree", SAVE, SAVE, TREE_OK, SAVE))
    looking.tried(looking.analyze(SHOT), False)
    assert looking.analyze(SHOT).status is ReplayStatus.NORMAL
    assert looking.analyze(SHOT).recovery_actions == ("close_dialog",)


def test_a_dialog_is_answered_by_its_button_though_the_title_takes_it_for_a_box() -> None:
    result = analyzer(Says("window", BOX), Says("tree", SAVE)).analyze(SHOT)
    assert result.recovery_actions == ("close_dialog",)


def test_a_screen_that_becomes_normal_after_a_while_has_settled() -> None:
    tree = Says("tree", SAVE, SAVE, SAVE, TREE_OK)
    assert analyzer(tree).settle(lambda: SHOT, None, lambda: False)
    assert tree.looks == 4


def test_a_dialog_that_stays_does_not_settle() -> None:
    assert not analyzer(Says("tree", SAVE)).settle(lambda: SHOT, None, lambda: False)


def test_settling_ends_on_a_stop() -> None:
    tree = Says("tree", SAVE)
    assert not analyzer(tree).settle(lambda: SHOT, None, lambda: True)
    assert tree.looks == 0


def test_a_dispute_that_is_over_at_the_second_look_was_none() -> None:
    focused = ok("tree", "keyboard focus is in an editor", 0.9, "dialog", "focus")
    window = Says("window", BOX, WINDOW_OK)
    assert analyzer(window, Says("tree", focused)).analyze(SHOT).status is ReplayStatus.NORMAL
    assert window.looks == 2


def test_a_dispute_about_the_keyboard_that_lasts_is_a_lost_keyboard() -> None:
    focused = ok("tree", "keyboard focus is in an editor", 0.9, "dialog", "focus")
    looking = analyzer(Says("window", BOX), Says("tree", focused))
    assert looking.analyze(SHOT).status is ReplayStatus.UNKNOWN
    result = looking.analyze(SHOT)
    assert (result.status, result.recovery_actions) == (DIALOG, ("focus_vscode",))


def test_a_keyboard_that_was_found_in_between_is_not_lost() -> None:
    focused = ok("tree", "keyboard focus is in an editor", 0.9, "dialog", "focus")
    looking = analyzer(Says("window", BOX, BOX, WINDOW_OK, BOX), Says("tree", focused))
    verdicts = [looking.analyze(SHOT).status for _ in range(3)]
    assert verdicts == [ReplayStatus.UNKNOWN, ReplayStatus.NORMAL, ReplayStatus.UNKNOWN]


def test_the_sessions_own_box_does_not_send_anybody_to_the_pixels() -> None:
    screen = Drawn(3)
    screen.dialog()
    server = ok("server", "answers", 0.3, "server")
    looking = analyzer(Says("window", BOX), Says("tree", TREE_BOX), Says("server", server), pixels=True)
    looking.live = lambda: ScreenSituation("a.py", operating=True)
    assert looking.analyze(screen.shot()).status is ReplayStatus.NORMAL


def test_pixels_are_looked_at_only_where_nothing_else_sees_dialogs() -> None:
    screen = Drawn(3)
    screen.dialog()
    assert analyzer(Says("tree", TREE_OK), pixels=True).analyze(screen.shot()).status is ReplayStatus.NORMAL
    assert analyzer(Says("window", WINDOW_OK), pixels=True).analyze(screen.shot()).status is DIALOG
