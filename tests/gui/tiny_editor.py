"""A tiny text editor in an X window that behaves as the real one does: titles, input boxes, chords, dialogs.

It lets the replay be tested on a real display in seconds. Usage: tiny_editor.py WORKSPACE CONTROL_SOCKET LOG
The control socket takes words: palette, dialog, terminal, open PATH, freeze. The log notes what must never happen:
commands run, dialogs answered, lines submitted to a shell.
"""

from __future__ import annotations

import select
import socket
import sys
import time
from pathlib import Path

from Xlib import XK, X, display

CHORDS = {
    "r": "revert", "n": "clear", "e": "focus", "a": "anchor", "s": "select", "d": "delete", "z": "end", "k": "accept",
    "l": "\n", "t": "\t", "b": " ", "p": "quickopen", "g": "goto", "y": "save",
}  # fmt: skip


class TinyEditor:
    def __init__(self, workspace: str, control: str, log: str) -> None:
        self.workspace, self.log = Path(workspace), Path(log)
        self.display = display.Display()
        screen = self.display.screen()
        self.window = screen.root.create_window(
            0, 0, 900, 600, 0, screen.root_depth, X.InputOutput, background_pixel=screen.white_pixel,
            event_mask=X.KeyPressMask | X.StructureNotifyMask,
        )  # fmt: skip
        self.window.set_wm_class("tiny", "Tiny")
        self.control = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.control.bind(control)
        self.path: Path | None = None
        self.text, self.cursor, self.anchor, self.dirty = "", 0, 0, False
        self.mode, self.box = "text", ""
        self.parted = False
        self.show()
        self.window.map()
        self.display.flush()

    def run(self) -> None:
        while True:
            if not self.display.pending_events():
                ready, _, _ = select.select([self.display, self.control], [], [], 5)
                if self.control in ready:
                    self.obey(self.control.recv(4096).decode())
            while self.display.pending_events():
                event = self.display.next_event()
                if event.type == X.MappingNotify:
                    self.display.refresh_keyboard_mapping(event)
                elif event.type == X.KeyPress:
                    self.press(event)
            self.show()

    def show(self) -> None:
        view = {"text": "Text Editor" if self.path else "", "terminal": "Terminal"}.get(self.mode, "")
        name = str(self.path) + " | " if self.path else ""
        dirty = "●" if self.dirty else ""
        title = f"{name}dirty={dirty} | view={view} | state= | ws | automated by Interlock | Visual Studio Code"
        atom, kind = self.display.intern_atom("_NET_WM_NAME"), self.display.intern_atom("UTF8_STRING")
        self.window.change_property(atom, kind, 8, title.encode())
        self.display.flush()

    def obey(self, order: str) -> None:
        word, _, rest = order.partition(" ")
        if word == "open":
            self.open(self.workspace / rest)
        elif word == "freeze":
            time.sleep(float(rest))
        elif word == "part":
            self.parted = True
        else:
            self.mode, self.box = word, ""

    def press(self, event: object) -> None:
        state = event.state  # type: ignore[attr-defined]
        control, alt, shift = state & X.ControlMask, state & X.Mod1Mask, state & X.ShiftMask
        symbol = self.display.keycode_to_keysym(event.detail, 1 if shift else 0)  # type: ignore[attr-defined]
        plain = self.display.keycode_to_keysym(event.detail, 0)  # type: ignore[attr-defined]
        if control and alt and shift:
            self.chord(CHORDS.get(chr(plain) if plain < 256 else "", ""))
        elif control:
            self.combination(chr(plain) if plain < 256 else "")
        elif symbol in (XK.XK_Return, XK.XK_Escape, XK.XK_Delete, XK.XK_End, XK.XK_Tab, XK.XK_F1):
            self.special(symbol)
        else:
            character = chr(symbol & 0xFFFFFF) if symbol >= 0x1000000 else chr(symbol) if symbol < 256 else ""
            self.character(character)

    def character(self, character: str) -> None:
        if self.mode == "text":
            self.insert(character)
        elif self.mode in ("goto", "quickopen"):
            self.box += character
        elif self.mode == "dialog" and character == " ":
            self.note("dialog answered")
        elif self.mode == "terminal":
            self.box += character

    def combination(self, letter: str) -> None:
        if self.mode == "dialog":
            return
        if letter == "p":
            self.mode, self.box = "quickopen", ""
        elif letter == "g" and self.path:
            self.mode, self.box = "goto", ""
        elif letter == "s":
            self.save()
        elif letter == "1":
            self.mode = "text"

    def chord(self, meaning: str) -> None:
        if meaning == "focus" and self.mode != "dialog":
            self.mode = "text"
        elif meaning in ("quickopen", "goto", "save"):
            self.combination({"quickopen": "p", "goto": "g", "save": "s"}[meaning])
        elif meaning == "accept" and self.mode in ("quickopen", "goto"):
            self.submit()
        elif self.mode != "text" or not meaning:
            return
        elif meaning == "revert" and self.path and not self.parted:
            self.open(self.path)
        elif meaning == "anchor":
            self.anchor = self.cursor
        elif meaning == "delete":
            low, high = sorted((self.anchor, self.cursor))
            self.text, self.cursor, self.dirty = self.text[:low] + self.text[high:], low, True
        elif meaning == "end":
            end = self.text.find("\n", self.cursor)
            self.cursor = end if end >= 0 else len(self.text)
        elif meaning in "\n\t ":
            self.insert(meaning)

    def special(self, symbol: int) -> None:
        if self.mode == "text":
            if symbol == XK.XK_F1:
                self.mode = "palette"
            elif symbol == XK.XK_Return:
                self.insert("\n")
        elif symbol == XK.XK_Escape:
            self.mode = "text"
        elif symbol == XK.XK_Return:
            self.submit()

    def submit(self) -> None:
        mode, box = self.mode, self.box
        if mode == "quickopen":
            self.mode = "text"
            if Path(box).is_file():
                self.open(Path(box))
        elif mode == "goto":
            line, _, column = box.partition(":")
            lines = self.text.split("\n")
            number = min(int(line or 1), len(lines))
            self.cursor = sum(len(each) + 1 for each in lines[: number - 1])
            self.cursor += min(int(column or 1) - 1, len(lines[number - 1]))
            self.mode = "text"
        else:
            self.note(f"{mode} ran {box!r}")

    def insert(self, text: str) -> None:
        if self.path is None:
            return
        self.text = self.text[: self.cursor] + text + self.text[self.cursor :]
        self.cursor += len(text)
        self.dirty = True

    def open(self, path: Path) -> None:
        self.path, self.text, self.cursor, self.dirty, self.mode = path, path.read_text(), 0, False, "text"

    def save(self) -> None:
        if self.path is not None and not self.parted:
            self.path.write_text(self.text)
            self.dirty = False

    def note(self, line: str) -> None:
        with self.log.open("a") as file:
            file.write(line + "\n")


if __name__ == "__main__":
    TinyEditor(*sys.argv[1:]).run()
