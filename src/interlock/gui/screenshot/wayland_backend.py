"""WaylandBackend: capture through grim, else through the desktop portal."""

from __future__ import annotations

import io
import json
import os
import secrets
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import unquote, urlparse

from ...core import InterlockError, find_program, run_program
from .backend import CaptureError, ScreenshotBackend
from .screenshot import Screenshot

TIMEOUT_S = 10

Tool = Literal["grim", "portal"]


class WaylandBackend(ScreenshotBackend):
    """Captures a Wayland session. `is_available()` finds out which tool works and sets `tool`."""

    name = "wayland"

    def __init__(self) -> None:
        self.tool: Tool | None = None

    def capture_screen(self) -> Screenshot:
        if self.tool is None and not self.is_available():
            raise CaptureError(
                "no Wayland session can be captured",
                where="wayland",
                todo="Install grim (wlroots compositors) or a desktop portal, and set WAYLAND_DISPLAY.",
            )
        return self._grim(()) if self.tool == "grim" else self._portal()

    def capture_window(self, window_id: int | str) -> Screenshot:
        return self._grim(("-g", _sway_geometry(window_id)))

    def is_available(self) -> bool:
        if "WAYLAND_DISPLAY" not in os.environ:
            return False
        for tool in get_args(Tool):
            self.tool = tool
            with suppress(InterlockError):
                self.capture_screen()
                return True
        self.tool = None
        return False

    def _grim(self, options: tuple[str, ...]) -> Screenshot:
        if find_program("grim") is None:
            raise CaptureError("grim is not installed", where="wayland", todo="Install Debian's grim.")
        # PPM: a PNG takes five times as long, and it becomes a JPEG anyway.
        return self._picture(_run(["grim", "-t", "ppm", *options, "-"]))

    def _portal(self) -> Screenshot:
        file = portal_screenshot(TIMEOUT_S)
        try:
            return self._picture(file.read_bytes())
        except OSError as error:
            raise CaptureError(f"the portal's picture cannot be read ({error})", where="wayland") from error
        finally:
            file.unlink(missing_ok=True)

    def _picture(self, data: bytes) -> Screenshot:
        from PIL import Image

        try:
            with Image.open(io.BytesIO(data)) as image:
                return Screenshot.of_image(image, time.time())
        except OSError as error:
            raise CaptureError(f"not an image ({error})", where="wayland") from error


def _sway_geometry(window_id: int | str) -> str:
    """The position of a window according to sway: other compositors do not tell."""
    waiting = [json.loads(_run(["swaymsg", "-r", "-t", "get_tree"]))]
    while waiting:
        node = waiting.pop()
        if str(node.get("id")) == str(window_id):
            rect = node["rect"]
            return f"{rect['x']},{rect['y']} {rect['width']}x{rect['height']}"
        waiting += [*node.get("nodes", ()), *node.get("floating_nodes", ())]
    raise CaptureError(f"window {window_id} is not on the screen", where="wayland")


def _run(argv: list[str]) -> bytes:
    name = Path(argv[0]).name
    try:
        done = run_program(argv, env=_compositor(), timeout=TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CaptureError(f"{name} failed ({error})", where="wayland") from error
    if done.returncode:
        raise CaptureError(done.stderr.decode(errors="replace").strip() or f"{name} failed", where="wayland")
    return done.stdout


def _compositor() -> dict[str, str]:
    """The sockets of the compositor, which its own programs need."""
    return {name: value for name in ("SWAYSOCK", "I3SOCK") if (value := os.environ.get(name))}


PORTAL = "org.freedesktop.portal.Desktop"


def portal_screenshot(timeout_s: float) -> Path:
    """Ask the portal for a screenshot; returns the file that it wrote, which the caller removes."""
    from jeepney import DBusAddress, MatchRule, message_bus, new_method_call
    from jeepney.io.blocking import open_dbus_connection
    from jeepney.wrappers import DBusErrorResponse

    token = "interlock_" + secrets.token_hex(8)
    try:
        connection = open_dbus_connection(bus="SESSION")
    except (OSError, KeyError) as error:
        raise CaptureError(f"there is no session bus ({error})", where="portal") from error
    with connection:
        sender = connection.unique_name.lstrip(":").replace(".", "_")
        handle = f"/org/freedesktop/portal/desktop/request/{sender}/{token}"
        answer_rule = MatchRule(
            type="signal", interface="org.freedesktop.portal.Request", member="Response", path=handle
        )
        address = DBusAddress("/org/freedesktop/portal/desktop", PORTAL, "org.freedesktop.portal.Screenshot")
        options = {"handle_token": ("s", token), "interactive": ("b", False)}
        try:
            with connection.filter(answer_rule) as answers:
                connection.send_and_get_reply(message_bus.AddMatch(answer_rule), timeout=timeout_s)
                call = new_method_call(address, "Screenshot", "sa{sv}", ("", options))
                _raise_error(connection.send_and_get_reply(call, timeout=timeout_s))
                response = connection.recv_until_filtered(answers, timeout=timeout_s)
        except (TimeoutError, OSError, DBusErrorResponse) as error:
            raise CaptureError(f"the desktop portal did not respond ({error})", where="portal") from error
    status, results = response.body
    if status != 0:
        raise CaptureError("the desktop portal refused the screenshot", where="portal")
    return Path(unquote(urlparse(results["uri"][1]).path))


def _raise_error(reply: Any) -> None:
    from jeepney import MessageType

    if reply.header.message_type is MessageType.error:
        raise CaptureError(f"the desktop portal has no screenshots ({reply.body})", where="portal")
