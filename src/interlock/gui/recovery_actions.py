"""Actions: the validated strings of which a recovery consists; and policies: which actions help against what."""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path

from msgspec import Struct

from ..core import InterlockError, from_json
from .input import split_combo

MAX_ACTIONS = 10
MAX_TEXT = 500
MAX_WAIT_S = 60.0
MAX_COORDINATE = 32_767
"""The largest that X supports."""

VOCABULARY = {
    "press KEY": "press one key, or a combination",
    "key COMBO": "press keys together, such as ctrl+p",
    "type TEXT": f"type one line of text, at most {MAX_TEXT} characters",
    "focus_vscode": "bring the editor's window to the front",
    "click X,Y": "click at a place in the picture",
    "wait SECONDS": f"wait, at most {MAX_WAIT_S:.0f} seconds",
    "open_file PATH": "open a file in the workspace",
    "close_dialog": "answer the open dialog with its harmless button",
    "click_button NAME": "click the button with this name",
    "clear_notifications": "dismiss all notifications",
}
"""All actions of the executor; the prompt lists exactly these."""

FORBIDDEN_COMBOS = {
    ("alt", "F4"), ("ctrl", "q"), ("ctrl", "shift", "q"), ("ctrl", "shift", "w"), ("ctrl", "alt", "t"),
    ("ctrl", "alt", "Delete"), ("ctrl", "alt", "BackSpace"), ("alt", "shift", "F4"), ("alt", "F2"),
    *(("ctrl", "alt", f"F{number}") for number in range(1, 13)),
}  # fmt: skip
"""They close windows, end sessions, switch consoles or open a prompt that runs commands. Modifiers are in order."""


class ActionRefused(InterlockError):
    """Raised when an action is not allowed."""


class Press(Struct, frozen=True):
    keys: tuple[str, ...]


class Type(Struct, frozen=True):
    text: str


class Click(Struct, frozen=True):
    x: float
    y: float


class WaitAction(Struct, frozen=True):
    seconds: float


class OpenFile(Struct, frozen=True):
    path: str


class ClickButton(Struct, frozen=True):
    name: str


class Plain(Struct, frozen=True):
    """focus_vscode, close_dialog, clear_notifications."""

    name: str


Action = Press | Type | Click | WaitAction | OpenFile | ClickButton | Plain

PLAIN = ("focus_vscode", "close_dialog", "clear_notifications")


def parse_action(action: str) -> Action:
    """The action that a string means; raises ActionRefused if it is not allowed."""
    line = action.strip()
    # A line end after the text would be a Return.
    if _has_control(action.strip(" ") if line[:5].lower() == "type " else line):
        raise ActionRefused(f"refused: control characters in {_shown(line)}")
    verb, _, rest = line.partition(" ")
    verb, rest = verb.lower(), rest.strip()
    if verb in PLAIN and not rest:
        return Plain(verb)
    if verb in ("press", "key"):
        return _press(rest)
    if verb == "type":
        # The text is everything after the verb, blanks included.
        return _type(line[5:])
    if verb == "click":
        return _click(rest)
    if verb == "wait":
        return _wait(rest)
    if verb == "open_file" and rest:
        return OpenFile(rest)
    if verb == "click_button" and rest and len(rest) <= 100:
        return ClickButton(rest.strip("\"'") or rest)
    raise ActionRefused(f"unknown action {_shown(line)}", todo=f"Known: {', '.join(VOCABULARY)}")


def _press(text: str) -> Press:
    keys = split_combo(text)
    if keys is None:
        raise ActionRefused(f"refused: {_shown(text)} is not on the list of allowed keys")
    order = [name for name in ("ctrl", "alt", "shift") if name in keys[:-1]]
    if "super" in keys or (*order, keys[-1]) in FORBIDDEN_COMBOS or len(keys) > 4:
        raise ActionRefused(f"refused: {_shown(text)} is not an allowed combination")
    return Press(keys)


def _type(text: str) -> Type:
    if not text:
        raise ActionRefused("refused: nothing to type")
    if len(text) > MAX_TEXT:
        raise ActionRefused(f"refused: {len(text)} characters to type, at most {MAX_TEXT}")
    return Type(text)


def _click(text: str) -> Click:
    found = re.fullmatch(r"(-?\d{1,6}(?:\.\d{1,6})?)\s*[, ]\s*(-?\d{1,6}(?:\.\d{1,6})?)", text)
    if not found:
        raise ActionRefused(f"refused: a click needs X,Y, not {_shown(text)}")
    x, y = float(found[1]), float(found[2])
    if not (0 <= x <= MAX_COORDINATE and 0 <= y <= MAX_COORDINATE):
        raise ActionRefused(f"refused: {_shown(text)} is outside the screen")
    return Click(x, y)


def _wait(text: str) -> WaitAction:
    try:
        seconds = float(re.sub(r"\s*s(ec(onds?)?)?$", "", text))
    except ValueError:
        raise ActionRefused(f"refused: {_shown(text)} is not a number of seconds") from None
    if not math.isfinite(seconds) or not 0 <= seconds <= MAX_WAIT_S:
        raise ActionRefused(f"refused: a wait of {_shown(text)} seconds, 0 to {MAX_WAIT_S:.0f} are allowed")
    return WaitAction(seconds)


def _has_control(text: str) -> bool:
    return any(ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 or c in "\u2028\u2029" for c in text)


def _shown(text: str) -> str:
    """The beginning of a text, escaped."""
    return ascii(text if len(text) <= 60 else text[:57] + "...")


NEED_EDITOR = ("focus_vscode", "open_file", "clear_notifications", "key ctrl+1")
"""Actions that only make sense in the editor; in a browser, ctrl+1 switches tabs."""


class RecoveryPolicy(Struct, frozen=True):
    """What to do about one kind of problem.

    `steps` are lists of actions, tried in turn until one helps: a dialog may ignore an early click.
    `then` are the topics about which no layer may report a problem afterwards.
    """

    kind: str
    steps: tuple[tuple[str, ...], ...]
    then: tuple[str, ...]

    def actions(self, attempt: int, expected_file: str | None, *, editor: bool = True) -> tuple[str, ...]:
        """The actions of an attempt (from 0); starts over after the last list.

        Without an `editor`, actions that need one are left out.
        """
        chosen = self.steps[attempt % len(self.steps)]
        if not editor:
            chosen = tuple(action for action in chosen if not action.startswith(NEED_EDITOR))
            chosen = () if all(action.startswith("wait ") for action in chosen) else chosen
        if expected_file is None:
            chosen = tuple(action for action in chosen if "{expected_file}" not in action)
        return tuple(action.replace("{expected_file}", expected_file or "") for action in chosen)


def find_policy(kind: str) -> RecoveryPolicy | None:
    """The policy for a kind of problem; None if there is none."""
    return _table().get(kind)


@cache
def _table() -> dict[str, RecoveryPolicy]:
    raw = (Path(__file__).parent / "policies.json").read_bytes()
    return {policy.kind: policy for policy in from_json(raw, dict[str, tuple[RecoveryPolicy, ...]])["policies"]}
