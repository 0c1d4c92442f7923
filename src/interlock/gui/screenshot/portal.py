"""The desktop portal's Screenshot call over D-Bus."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from .backend import CaptureError

PORTAL = "org.freedesktop.portal.Desktop"


def take_screenshot(timeout_s: float) -> Path:
    """Ask the portal for a picture of the screen; the file that it wrote. The caller removes it."""
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
            raise CaptureError(f"the desktop portal did not answer ({error})", where="portal") from error
    status, results = response.body
    if status != 0:
        raise CaptureError("the desktop portal refused the screenshot", where="portal")
    return Path(unquote(urlparse(results["uri"][1]).path))


def _raise_error(reply: Any) -> None:
    from jeepney import MessageType

    if reply.header.message_type is MessageType.error:
        raise CaptureError(f"the desktop portal has no screenshots ({reply.body})", where="portal")
