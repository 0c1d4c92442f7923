"""Wayland sessions are captured through grim, else through the desktop portal."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from interlock.gui import WaylandBackend, create_screenshot_backend
from interlock.gui.display import Programs, VirtualDisplay, plain_environment, wait_until
from interlock.gui.screenshot import CaptureError


@pytest.fixture
def sway(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A real compositor without a screen; it refuses to run as root."""
    if shutil.which("sway") is None or shutil.which("grim") is None:
        pytest.skip("sway and grim are not installed")
    runtime = Path("/tmp") / f"interlock-sway-{os.getpid()}"
    runtime.mkdir(mode=0o700, exist_ok=True)
    command = ["sway", "-c", "/dev/null"]
    if os.getuid() == 0:
        # sway refuses to start for whoever could become root again, by user or by group.
        shutil.chown(runtime, "nobody", "nogroup")
        command = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *command]
    environment = plain_environment() | {
        "XDG_RUNTIME_DIR": str(runtime),
        "WLR_BACKENDS": "headless",
        "WLR_RENDERER": "pixman",
        "WLR_LIBINPUT_NO_DEVICES": "1",
        "HOME": str(runtime),
    }
    programs = Programs(tmp_path / "programs")
    programs.start("sway", command, environment)
    found: list[Path] = []

    def socket() -> bool:
        found[:] = [file for file in runtime.glob("wayland-*") if file.suffix != ".lock"]
        return bool(found)

    assert wait_until(socket, 60), programs.log("sway")
    yield {"XDG_RUNTIME_DIR": str(runtime), "WAYLAND_DISPLAY": found[0].name}
    programs.end()
    shutil.rmtree(runtime, ignore_errors=True)


def test_grim_captures_a_real_compositor(sway: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in sway.items():
        monkeypatch.setenv(key, value)
    backend = create_screenshot_backend("auto", display=":54321")
    assert isinstance(backend, WaylandBackend)
    assert backend.tool == "grim"
    shot = backend.capture_screen()
    assert (shot.width, shot.height, shot.media_type) == (1280, 720, "image/jpeg")


def test_without_a_wayland_session_it_is_not_available(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert not WaylandBackend().is_available()
    with pytest.raises(CaptureError, match="Install grim"):
        WaylandBackend().capture_screen()


def serve_portal(address: str, answer: tuple[int, dict[str, tuple[str, object]]], ready: threading.Event) -> None:
    """A portal on a real bus that answers one request: no desktop here has one."""
    from jeepney import DBusAddress, new_method_return, new_signal
    from jeepney.bus_messages import message_bus
    from jeepney.io.blocking import open_dbus_connection

    connection = open_dbus_connection(bus=address)
    connection.send_and_get_reply(message_bus.RequestName("org.freedesktop.portal.Desktop"))
    ready.set()
    while True:
        call = connection.receive(timeout=150)
        if call.header.fields.get(3) == "Screenshot":
            break
    sender = call.header.fields[7].lstrip(":").replace(".", "_")
    handle = f"/org/freedesktop/portal/desktop/request/{sender}/{call.body[1]['handle_token'][1]}"
    connection.send(new_method_return(call, "o", (handle,)))
    emitter = DBusAddress(handle, interface="org.freedesktop.portal.Request")
    connection.send(new_signal(emitter, "Response", "ua{sv}", answer))
    connection.close()


@pytest.mark.parametrize("status", [0, 1])
def test_the_portal_is_asked_over_the_bus(
    desktop: VirtualDisplay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    address = desktop.environment["DBUS_SESSION_BUS_ADDRESS"]
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-none")
    file = tmp_path / "a picture.png"
    Image.new("RGB", (64, 48), "red").save(file)
    ready = threading.Event()
    answer: tuple[int, dict[str, tuple[str, object]]] = (status, {"uri": ("s", file.as_uri())})
    portal = threading.Thread(target=serve_portal, args=(address, answer, ready))
    portal.start()
    assert ready.wait(150)
    backend = WaylandBackend()
    backend.tool = "portal"
    if status == 0:
        shot = backend.capture_screen()
        assert (shot.width, shot.height) == (64, 48)
        assert not file.exists()
    else:
        with pytest.raises(CaptureError, match="refused"):
            backend.capture_screen()
    portal.join(150)
