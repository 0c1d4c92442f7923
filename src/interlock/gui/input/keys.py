"""Names of keys: what may be called what, and the one name that is used inside."""

from __future__ import annotations

MODIFIERS = {
    "ctrl": "ctrl",
    "control": "ctrl",
    "shift": "shift",
    "alt": "alt",
    "super": "super",
    "meta": "super",
    "win": "super",
    "cmd": "super",
}

NAMED = (
    "Escape", "Return", "Tab", "BackSpace", "Delete", "Insert", "Home", "End", "Prior", "Next", "Up", "Down", "Left",
    "Right", "space", "plus", "minus", "equal", "comma", "period", "slash", "backslash", "semicolon", "apostrophe",
    "grave", "bracketleft", "bracketright", *(f"F{number}" for number in range(1, 13)),
)  # fmt: skip
"""X keysym names, alongside letters and digits."""

ALIASES = {
    "esc": "Escape", "enter": "Return", "backspace": "BackSpace", "del": "Delete", "ins": "Insert", "pageup": "Prior",
    "page_up": "Prior", "pgup": "Prior", "pagedown": "Next", "page_down": "Next", "pgdn": "Next", "spacebar": "space",
    "+": "plus", "-": "minus", "=": "equal", ",": "comma", ".": "period", "/": "slash", "\\": "backslash",
    ";": "semicolon", "'": "apostrophe", "`": "grave", "backtick": "grave", "[": "bracketleft", "]": "bracketright",
    "arrowup": "Up", "arrowdown": "Down", "arrowleft": "Left", "arrowright": "Right",
}  # fmt: skip

_CANONICAL = {name.lower(): name for name in NAMED} | ALIASES


def canonical_key(name: str) -> str | None:
    """The keysym name of a key, or None if we do not know it; letters become small, as on the key."""
    if len(name) == 1 and name.isascii() and name.isalnum():
        return name.lower()
    return _CANONICAL.get(name.lower())


def split_combo(text: str) -> tuple[str, ...] | None:
    """`ctrl+shift+p` as modifiers and key in their canonical names; `ctrl++` is a plus. None if a part is unknown."""
    parts = text.split("+")
    if text.endswith("+"):
        parts = [*text[:-1].rstrip("+").split("+"), "+"] if len(text) > 1 else ["+"]
    *modifiers, key = [part.strip() for part in parts]
    names = [MODIFIERS.get(part.lower()) for part in modifiers]
    last = canonical_key(key)
    if last is None or None in names:
        return None
    return (*(name for name in names if name), last)
