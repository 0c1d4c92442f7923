"""Screens are captured by whatever works, encoded small enough, and kept for a while."""

from __future__ import annotations

import base64
import contextlib
import io
import os
import sys
from pathlib import Path

import pytest
from PIL import Image

from interlock.config.schema import Gui
from interlock.core import BadInput, InvalidState, ManualClock
from interlock.gui import MSSBackend, Screenshot, ScreenshotBackend, ScrotBackend, create_screenshot_backend
from interlock.gui.display import Programs, VirtualDisplay
from interlock.gui.screenshot import CaptureError
from interlock.gui.screenshot.album import Album
from interlock.gui.screenshot.frame import Frame, changed_tiles, is_unchanged
from interlock.gui.screenshot.screenshot import MAX_BYTES, free_path

from .conftest import Launch, terminal

BACKENDS = [MSSBackend, ScrotBackend]


def picture(width: int = 400, height: int = 300, colour: str = "white") -> Screenshot:
    return Screenshot.of_image(Image.new("RGB", (width, height), colour), 1_700_000_000.5)


def decoded(shot: Screenshot) -> Image.Image:
    return Image.open(io.BytesIO(shot.image_data))


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_whole_screen_is_captured_as_jpeg(desktop: VirtualDisplay, backend: type[MSSBackend]) -> None:
    shot = backend(desktop.name).capture_screen()
    assert (shot.width, shot.height, shot.media_type) == (1280, 800, "image/jpeg")
    assert (shot.screen_width, shot.screen_height) == (1280, 800)
    assert decoded(shot).format == "JPEG"
    assert decoded(shot).size == (1280, 800)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_window_is_captured_by_its_id(desktop: VirtualDisplay, launch: Launch, backend: type[MSSBackend]) -> None:
    window = terminal(launch, "captured", "cat")
    shot = backend(desktop.name).capture_window(window.id)
    assert 200 < shot.width < 900
    assert 200 < shot.height < 600


def test_a_window_id_may_be_hexadecimal_text(desktop: VirtualDisplay, launch: Launch) -> None:
    window = terminal(launch, "captured", "cat")
    assert MSSBackend(desktop.name).capture_window(hex(window.id)).width > 200


def test_a_window_that_does_not_exist_is_an_error(desktop: VirtualDisplay) -> None:
    with pytest.raises(CaptureError, match="not on the screen"):
        MSSBackend(desktop.name).capture_window(0x7654321)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_backend_without_a_display_is_not_available(backend: type[MSSBackend]) -> None:
    assert not backend(":54321").is_available()
    with pytest.raises(CaptureError):
        backend(":54321").capture_screen()


def test_a_missing_scrot_is_named(desktop: VirtualDisplay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interlock.core.programs._used", {})
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(CaptureError, match="scrot is not installed"):
        ScrotBackend(desktop.name).capture_screen()


def test_the_first_backend_that_works_is_chosen(desktop: VirtualDisplay, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(create_screenshot_backend({"backend": "auto"}, display=desktop.name), MSSBackend)
    monkeypatch.setattr(MSSBackend, "is_available", lambda self: False)
    assert isinstance(create_screenshot_backend(None, display=desktop.name), ScrotBackend)


def test_scrot_is_the_fallback_where_mss_is_not_installed(
    desktop: VirtualDisplay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mss", None)
    backend = create_screenshot_backend({"backend": "auto"}, display=desktop.name)
    assert isinstance(backend, ScrotBackend)
    assert backend.capture_screen().width == 1280
    with pytest.raises(CaptureError, match="mss is not installed"):
        create_screenshot_backend({"backend": "mss"}, display=desktop.name).capture_screen()


@pytest.mark.parametrize(
    "config",
    [
        {"backend": "scrot"},
        {"intervention": {"screenshot_backend": "scrot"}},
        {"gui": {"screenshot_backend": "scrot"}},
        Gui(screenshot_backend="scrot"),
    ],
)
def test_the_configuration_names_the_backend(config: object) -> None:
    backend = create_screenshot_backend(config)
    assert isinstance(backend, ScrotBackend)
    assert isinstance(backend, ScreenshotBackend)


def test_an_unknown_backend_is_an_error() -> None:
    with pytest.raises(BadInput, match="no screenshot backend 'gnome'"):
        create_screenshot_backend({"backend": "gnome"})


def test_no_working_backend_is_an_error_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    with pytest.raises(InvalidState, match="Set DISPLAY"):
        create_screenshot_backend("auto", display=":54321")


def test_a_display_that_went_away_is_an_error_and_its_return_is_noticed(tmp_path: Path) -> None:
    display = VirtualDisplay(Programs(tmp_path), 328, 200, manager=False, bus=False)
    backend = MSSBackend(display.name)
    assert backend.capture_screen().width == 328
    display.close()
    with pytest.raises(CaptureError):
        backend.capture_screen()
    # Its number is free now: a display of another test may have it.
    with contextlib.suppress(CaptureError):
        assert backend.capture_screen().width != 328


def test_a_large_screen_is_pictured_at_1920_by_1080_and_keeps_both_sizes() -> None:
    shot = picture(3840, 1600)
    assert (shot.width, shot.height) == (1920, 800)
    assert (shot.screen_width, shot.screen_height) == (3840, 1600)
    assert decoded(shot).size == (1920, 800)
    assert shot.to_screen(960, 400) == (1920, 800)


def test_a_picture_full_of_noise_stays_small_enough() -> None:
    noise = Image.frombytes("RGB", (1920, 1080), os.urandom(1920 * 1080 * 3))
    shot = Screenshot.of_image(noise.resize((960, 540)).resize((1920, 1080)), 0.0)
    plain = io.BytesIO()
    noise.save(plain, "JPEG", quality=85)
    assert len(shot.image_data) < max(MAX_BYTES, len(plain.getvalue()) // 2)


def test_base64_is_that_of_the_bytes() -> None:
    shot = Screenshot(b"abc", "image/png", 1, 1, 0.0)
    assert base64.b64decode(shot.to_base64()) == b"abc"
    assert (shot.screen_width, shot.screen_height) == (1, 1)


@pytest.mark.parametrize(
    ("name", "media_type", "saved"),
    [
        ("a.png", "image/jpeg", "a.jpg"),
        ("a.jpg", "image/jpeg", "a.jpg"),
        ("a.jpeg", "image/jpeg", "a.jpeg"),
        ("a", "image/png", "a.png"),
        ("a.jpg", "image/png", "a.png"),
    ],
)
def test_the_ending_matches_the_type(tmp_path: Path, name: str, media_type: str, saved: str) -> None:
    path = Screenshot(b"x", media_type, 1, 1, 0.0).save(tmp_path / "deep" / "er" / name)
    assert path == tmp_path / "deep" / "er" / saved
    assert path.read_bytes() == b"x"


def test_home_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Screenshot(b"x", "image/png", 1, 1, 0.0).save("~/a.png") == tmp_path / "a.png"


def test_names_of_the_same_moment_do_not_collide(tmp_path: Path) -> None:
    assert len({free_path(tmp_path, 5.0, ".jpg") for _ in range(1000)}) == 1000


def test_old_pictures_are_removed_and_nothing_else(tmp_path: Path) -> None:
    clock = ManualClock()
    album = Album(tmp_path, retention_days=7, clock=clock)
    old, new = picture(colour="red").save(tmp_path), picture(colour="blue").save(tmp_path)
    mine = tmp_path / "holiday.jpg"
    mine.write_bytes(b"")
    for file, age in ((old, 8), (new, 6), (mine, 100)):
        os.utime(file, times=(clock.time() - age * 86_400,) * 2)
    assert album.prune() == 1
    assert (old.exists(), new.exists(), mine.exists()) == (False, True, True)


def test_the_album_does_not_keep_the_same_picture_twice(tmp_path: Path) -> None:
    album = Album(tmp_path)
    first, again, other = album.keep(picture()), album.keep(picture()), album.keep(picture(colour="black"))
    assert first == again != other


def test_a_picture_that_cannot_be_saved_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert Album(tmp_path / "file" / "folder").keep(picture()) is None


def full(colour: str = "white") -> Image.Image:
    return Image.new("RGB", (1280, 800), colour)


def test_a_blinking_caret_is_no_change_and_a_toast_is() -> None:
    before, caret, toast = full(), full(), full()
    caret.paste("black", (400, 300, 402, 318))
    toast.paste("grey", (900, 600, 1250, 760))
    frames = [Frame.from_image(image) for image in (before, caret, toast)]
    assert changed_tiles(frames[0], frames[0]).sum() == 0
    assert is_unchanged(frames[0], frames[1])
    assert not is_unchanged(frames[0], frames[2])


def test_another_size_is_a_change() -> None:
    small = Frame.from_image(Image.new("RGB", (1279, 801)))
    assert not is_unchanged(Frame.from_image(full("black")), small)
    assert changed_tiles(small, Frame.from_image(full())).all()


def test_a_frame_survives_the_way_to_an_image_and_back() -> None:
    image = Image.effect_noise((33, 21), 80).convert("RGB")
    assert Frame.from_image(image).to_image().tobytes() == image.tobytes()
