"""XTestInput: keys and clicks through the XTEST extension, exact for any character."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress

from .input import DisplayInput, InputError, canonical_key
from .windows import DisplayGone, WindowSystem, connect, display_errors, lost_errors

SYNC_EVERY = 16
"""Keys between two round trips: a short server queue lets an abort take effect at once."""

SETTLE_S = 0.5
"""After a key was remapped, every program has to reload the keyboard map."""

MOST_SETTLE_S = 8.0
"""The longest wait for that when the CPU is busy."""

MODIFIER_KEYSYMS = {"ctrl": "Control_L", "shift": "Shift_L", "alt": "Alt_L", "super": "Super_L"}


class XTestInput(DisplayInput):
    """Keyboard and mouse of an X display."""

    name = "xtest"

    def __init__(self, display: str | None = None) -> None:
        self._lock = threading.RLock()
        self._display = connect(display)
        if not self._display.has_extension("XTEST"):
            self._display.close()
            raise DisplayGone("the X server has no XTEST extension", todo="xdotool needs it too: use another display.")
        self._windows = WindowSystem(display)
        self._read_keymap()
        self._mapped: dict[str, tuple[int, bool]] = {}

    def type_text(self, text: str) -> None:
        with self._lock, display_errors():
            for part in self._parts(text):
                self._map_keys(part)
                for count, character in enumerate(part, 1):
                    self._stroke(character)
                    if count % SYNC_EVERY == 0:
                        self._display.sync()
                self._display.sync()

    def key_combo(self, *keys: str) -> None:
        with self._lock, display_errors():
            *modifiers, last = keys
            codes = [self._modifier_code(modifier) for modifier in modifiers]
            code, shifted = self._key_code(last)
            if shifted and "shift" not in modifiers:
                codes.append(self._modifier_code("shift"))
            self._press(codes, code)
            self._display.sync()

    def mouse_move_click(self, x: int, y: int) -> None:
        from Xlib import X
        from Xlib.ext import xtest

        with self._lock, display_errors():
            xtest.fake_input(self._display, X.MotionNotify, x=x, y=y)
            self._display.sync()
            xtest.fake_input(self._display, X.ButtonPress, 1)
            xtest.fake_input(self._display, X.ButtonRelease, 1)
            self._display.sync()

    def close(self) -> None:
        with self._lock:
            with suppress(*lost_errors()):
                for code in {code for code, _ in self._mapped.values()}:
                    self._display.change_keyboard_mapping(code, [(0,) * self._width])
                self._display.sync()
                self._display.close()
            self._windows.close()

    def _read_keymap(self) -> None:
        """Read which key produces which character, plain and with shift, and which keys are free."""
        info = self._display.display.info
        first, count = info.min_keycode, info.max_keycode - info.min_keycode + 1
        mapping = self._display.get_keyboard_mapping(first, count)
        self._width = len(mapping[0])
        self._keys: dict[int, tuple[int, bool]] = {}
        spare = [first + i for i, symbols in enumerate(mapping) if not any(symbols)]
        # Each key holds two characters, plain and with shift: every change makes all programs reload the map.
        self._spare = [(code, shifted) for code in spare for shifted in (False, True)]
        for level in (1, 0):
            for index, symbols in enumerate(mapping):
                if len(symbols) > level and symbols[level]:
                    self._keys[symbols[level]] = (first + index, level == 1)

    def _parts(self, text: str) -> list[str]:
        """Split the text so that no part needs more unmapped characters than there are free keycodes."""
        parts, part, unusual = [], "", set[str]()
        for character in text:
            if self._usual(character) is None:
                if not self._spare:
                    raise InputError(f"{character!r} is not on the keyboard, and no key is free")
                if character not in unusual and len(unusual) == len(self._spare):
                    parts.append(part)
                    part, unusual = "", set()
                unusual.add(character)
            part += character
        return [*parts, part] if part else parts

    def _map_keys(self, text: str) -> None:
        """Map the unusual characters of a part to free slots; start over if there are not enough."""
        wanted = {character for character in text if self._usual(character) is None}
        new = wanted - self._mapped.keys()
        if not new:
            return
        if self._mapped:
            # What was typed with the current map must arrive before it changes.
            self._display.sync()
            _settle()
        if len(new) > len(self._spare) - len(self._mapped):
            self._mapped, new = {}, wanted
        used = set(self._mapped.values())
        free = [slot for slot in self._spare if slot not in used]
        changed = set()
        for character, slot in zip(sorted(new), free, strict=False):
            self._mapped[character] = slot
            changed.add(slot[0])
        holders = {slot: keysym_of(character) for character, slot in self._mapped.items()}
        for code in sorted(changed):
            pair = (holders.get((code, False), 0), holders.get((code, True), 0))
            self._display.change_keyboard_mapping(code, [(*pair, *(0,) * (self._width - 2))])
        self._display.sync()
        _settle()

    def _usual(self, character: str) -> tuple[int, bool] | None:
        return self._keys.get(keysym_of(character))

    def _stroke(self, character: str) -> None:
        code, shifted = self._usual(character) or self._mapped[character]
        self._press([self._modifier_code("shift")] if shifted else [], code)

    def _press(self, modifiers: list[int], code: int) -> None:
        """Press and release a key while the modifiers are down."""
        for each in (*modifiers, code):
            self._fake(True, each)
        for each in (code, *reversed(modifiers)):
            self._fake(False, each)

    def _key_code(self, key: str) -> tuple[int, bool]:
        from Xlib import XK

        name = canonical_key(key) or key
        found = self._keys.get(XK.string_to_keysym(name))
        if found is None:
            raise InputError(f"there is no key {key!r} on this keyboard")
        return found

    def _modifier_code(self, modifier: str) -> int:
        from Xlib import XK

        name = MODIFIER_KEYSYMS.get(modifier.lower())
        found = self._keys.get(XK.string_to_keysym(name)) if name else None
        if found is None:
            raise InputError(f"there is no modifier {modifier!r} on this keyboard")
        return found[0]

    def _fake(self, press: bool, code: int) -> None:
        from Xlib import X
        from Xlib.ext import xtest

        xtest.fake_input(self._display, X.KeyPress if press else X.KeyRelease, code)


def keysym_of(character: str) -> int:
    """The keysym of a character: Latin-1 is itself, the rest is Unicode with an offset."""
    special = {"\n": 0xFF0D, "\t": 0xFF09, "\r": 0xFF0D}
    code = ord(character)
    if character in special:
        return special[character]
    return code if 0x20 <= code < 0x7F or 0xA0 <= code < 0x100 else 0x01000000 | code


def _settle() -> None:
    """Wait until programs have processed their events: longer under load."""
    time.sleep(min(MOST_SETTLE_S, SETTLE_S * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))))
