"""What is typed arrives exactly, whatever the characters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.core import BadInput, InvalidState
from interlock.gui import InputBackend
from interlock.gui.display import Programs, VirtualDisplay, wait_until
from interlock.gui.input import InputError, XdotoolInput, create_input_backend, split_combo
from interlock.gui.windows import DisplayGone, WindowSystem
from interlock.gui.xtest_input import XTestInput

from .conftest import Launch, recorder, terminal

ASCII = "".join(map(chr, range(0x20, 0x7F)))
CODE = 'def f(a, b):\n\treturn {"k": [a ** 2, f"{b!r}"]}  # ~`$#@!\n'


@pytest.fixture(params=["xtest", "xdotool"])
def keyboard(desktop: VirtualDisplay, request: pytest.FixtureRequest) -> Iterator[InputBackend]:
    backend = create_input_backend(request.param, desktop.name)
    yield backend
    backend.close()


@pytest.fixture
def xtest(desktop: VirtualDisplay) -> Iterator[XTestInput]:
    backend = XTestInput(desktop.name)
    yield backend
    backend.close()


def arrives(file: Path, text: str, timeout_s: float = 20) -> bool:
    # A raw terminal sends what its keys send: Return is a carriage return.
    wanted = text.replace("\n", "\r").encode()
    return wait_until(lambda: len(file.read_bytes()) >= len(wanted), timeout_s) and file.read_bytes() == wanted


@pytest.mark.parametrize("text", [ASCII, CODE], ids=["every ASCII character", "code"])
def test_text_arrives_exactly(keyboard: InputBackend, launch: Launch, tmp_path: Path, text: str) -> None:
    file = tmp_path / "typed"
    recorder(launch, "recorder", file)
    keyboard.type_text(text)
    assert arrives(file, text), file.read_bytes()


def test_characters_that_are_on_no_key_arrive_exactly(xtest: XTestInput, launch: Launch, tmp_path: Path) -> None:
    file = tmp_path / "typed"
    recorder(launch, "recorder", file)
    text = "é ü → ✓ 日本語 €uro ß ∀x: λ→😀!"
    xtest.type_text(text)
    assert arrives(file, text), file.read_bytes().decode(errors="replace")


def test_more_unusual_characters_than_spare_keys_arrive_exactly(
    xtest: XTestInput, launch: Launch, tmp_path: Path
) -> None:
    file = tmp_path / "typed"
    recorder(launch, "recorder", file)
    text = "".join(chr(0x3041 + number) for number in range(60)) + " done"
    xtest.type_text(text)
    assert arrives(file, text), file.read_bytes().decode(errors="replace")


def test_a_long_text_arrives_exactly(xtest: XTestInput, launch: Launch, tmp_path: Path) -> None:
    file = tmp_path / "typed"
    recorder(launch, "recorder", file)
    text = CODE * 30
    xtest.type_text(text)
    assert arrives(file, text)


def test_keys_and_combinations_arrive(keyboard: InputBackend, launch: Launch, tmp_path: Path) -> None:
    file = tmp_path / "typed"
    recorder(launch, "recorder", file)
    keyboard.key_press("Escape")
    keyboard.key_combo("ctrl", "p")
    keyboard.key_combo("ctrl", "shift", "a")
    keyboard.key_press("plus")
    assert wait_until(lambda: len(file.read_bytes()) >= 4, 60)
    assert file.read_bytes() == b"\x1b\x10\x01+"


def test_a_click_gives_the_keyboard_to_what_is_there(
    keyboard: InputBackend, windows: WindowSystem, launch: Launch
) -> None:
    first = terminal(launch, "first", "cat")
    launch("second", "xterm", "-T", "second", "-geometry", "20x5+900+600", "-e", "cat")
    bounds = windows.bounds(first.id)
    assert bounds is not None
    keyboard.mouse_move_click(*bounds.centre)
    assert wait_until(lambda: (windows.active() or first).id == first.id, 60)


def test_a_window_is_found_by_its_title_and_activated(
    keyboard: InputBackend, windows: WindowSystem, launch: Launch
) -> None:
    wanted = terminal(launch, "file.py - Visual Studio Code", "cat")
    launch("other", "xterm", "-T", "other", "-geometry", "20x5+900+600", "-e", "cat")
    assert keyboard.search_window("visual studio code") == wanted.id
    assert keyboard.search_window("no such title") is None
    keyboard.activate_window(wanted.id)
    assert wait_until(lambda: (windows.active() or wanted).id == wanted.id, 60)


def test_a_window_that_is_gone_cannot_be_activated(keyboard: InputBackend) -> None:
    with pytest.raises(InputError, match="is gone"):
        keyboard.activate_window(0x7654321)


def test_an_unknown_key_is_an_error(xtest: XTestInput) -> None:
    with pytest.raises(InputError, match="no key 'NoSuchKey'"):
        xtest.key_press("NoSuchKey")


def test_the_way_that_works_is_chosen(desktop: VirtualDisplay) -> None:
    backend = create_input_backend("auto", desktop.name)
    assert isinstance(backend, XTestInput)
    assert backend.screen_size() == (1280, 800)
    backend.close()


def test_a_missing_xdotool_is_named(desktop: VirtualDisplay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interlock.core.programs._used", {})
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InvalidState, match="xdotool is not installed"):
        create_input_backend("xdotool", desktop.name)


def test_no_display_is_an_error_that_says_what_is_needed() -> None:
    with pytest.raises(InvalidState, match="Input needs an X display"):
        create_input_backend("auto", ":54321")
    with pytest.raises(BadInput):
        create_input_backend("telepathy")


def test_a_display_that_went_away_is_an_error(tmp_path: Path) -> None:
    display = VirtualDisplay(Programs(tmp_path), 320, 200, manager=False, bus=False)
    backend = XTestInput(display.name)
    display.close()
    with pytest.raises(DisplayGone):
        backend.type_text("x")
    backend.close()
    # It connects for each text, and the closed display's number may be another test's by now.
    with pytest.raises(InputError):
        XdotoolInput(":54321").type_text("x")


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("ctrl+p", ("ctrl", "p")),
        ("Control+Shift+P", ("ctrl", "shift", "p")),
        ("ctrl++", ("ctrl", "plus")),
        ("ctrl+plus", ("ctrl", "plus")),
        ("+", ("plus",)),
        ("Escape", ("Escape",)),
        ("enter", ("Return",)),
        ("ctrl+`", ("ctrl", "grave")),
        ("ctrl+nothing", None),
        ("banana+p", None),
        ("", None),
        ("ctrl+", ("ctrl", "plus")),
    ],
)
def test_combinations_are_split(text: str, keys: tuple[str, ...] | None) -> None:
    assert split_combo(text) == keys
