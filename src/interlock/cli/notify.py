"""interlock notify: the alert channels, and whether they work."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from ..core import BadInput
from .app import new_app
from .output import print_json, say, say_error

app = new_app()

PATIENCE_S = 20.0
"""How long a channel may take for a test."""


@app.command()
def notify(
    names: Annotated[list[str] | None, Argument(metavar="[CHANNEL]...", help="Only these channels.")] = None,
    test: Annotated[bool, Option("--test", help="Send a test message through each and report the result.")] = False,
    json: Annotated[bool, Option("--json", help='{"channels": [{"name", "kind", "ok", "message"}]}')] = False,
) -> None:
    """List the configured alert channels (notifications.channels), and test them.

    Exit status: 0 all work, 4 a channel did not accept the message, 2 there is none.

    Example: interlock notify --test
    """
    from ..config import load

    channels = load(warn=say_error).notifications.channels
    if not channels:
        raise BadInput("there are no channels", todo="Add one under notifications.channels in interlock.yaml.")
    for name in names or ():
        if name not in channels:
            raise BadInput(f"there is no channel {name!r}", todo=f"Known: {', '.join(channels)}")
    found = []
    for name, url in channels.items():
        if not names or name in names:
            # An address may contain credentials: only its type is shown.
            ok, message = try_channel(url) if test else (None, "")
            found.append({"name": name, "kind": url.partition(":")[0], "ok": ok, "message": message})
    if json:
        print_json({"channels": found})
    else:
        for each in found:
            word = {True: "works", False: "does not work", None: "not tried, see --test"}[each["ok"]]  # type: ignore[index]
            say(f"{each['name']} ({each['kind']}): {word}{': ' if each['message'] else ''}{each['message']}")
    if any(each["ok"] is False for each in found):
        raise SystemExit(4)


def try_channel(url: str) -> tuple[bool, str]:
    """Send a message through one channel; returns whether it was accepted, and why not."""
    from ..core import Notify
    from ..runtime import apprise_channel, with_timeout

    words = Notify("Interlock: a test", "If you can read this, alerts of your runs will reach you.", "info")

    def attempt() -> tuple[bool, str]:
        try:
            apprise_channel(url)(words)
        except Exception as error:  # noqa: BLE001  a channel is foreign code: whatever it raises is its answer
            from ..redact import redact_text

            return False, redact_text(str(error))
        return True, ""

    return with_timeout(attempt, PATIENCE_S, (False, f"no reply within {PATIENCE_S:.0f} s"))
