"""interlock top and web: all runs in the terminal or in a browser."""

from __future__ import annotations

import sys
from typing import Annotated

from typer import Argument, Option

from ..core import BadInput
from .app import HubOption, new_app
from .completion import offer_runs
from .output import say_error

top_app = new_app()


@top_app.command()
def top(
    run: Annotated[
        str | None,
        Argument(metavar="RUN", help="Open this run: an id, a name, or a unique prefix.", autocompletion=offer_runs),
    ] = None,
    hub: Annotated[str | None, Option(metavar="URL", help="Also runs on other machines: nats://host:port")] = None,
) -> None:
    """Watch all runs, open one, and steer it with single keys.

    Example: interlock top
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadInput("top needs a terminal", todo="Use interlock ps --json, or interlock web.")
    from ..config import load, load_anyway
    from ..tui import RunSource, Top
    from .runs import open_hub, the_store

    # A hub needs valid keys and certificates, so the configuration must be valid.
    config = load_anyway(say_error) if hub is None else load()
    store = the_store(config)
    run_id = store.find(run).run_id if run is not None else None
    source = RunSource(store, config, hub=open_hub(hub) if hub else None, hub_name=hub or "")
    try:
        Top(source, run_id=run_id).run()
    finally:
        source.close()


web_app = new_app()


@web_app.command()
def web(
    port: Annotated[
        int | None, Option(min=0, max=65_535, help="The port; default: 7717 or a free one near it.")
    ] = None,
    no_open: Annotated[bool, Option("--no-open", help="Do not open a browser.")] = False,
    host: Annotated[str, Option(help="The address to listen on.")] = "127.0.0.1",
    new_token: Annotated[bool, Option("--new-token", help="Create a new token; open pages are locked out.")] = False,
    hub: HubOption = None,
) -> None:
    """Show all runs in a browser: live, with pause, resume, cancel, escalate, approvals, rollback, incidents.

    The first line printed is the address with its token. Only this machine can reach it, unless you use --host.

    Example: interlock web --no-open --port 8000
    """
    import secrets

    from .. import web as dashboard
    from .runs import open_hub, the_store

    store = the_store()
    if host in dashboard.EVERYWHERE:
        raise BadInput(f"{host} means every address of this machine", todo="Specify the address to use.")
    if host not in dashboard.LOOPBACK:
        say_error(f"the dashboard listens on {host}: anyone who has its address with the token can steer every run")
    token = dashboard.load_token(store.root, new=new_token)
    listener = dashboard.open_socket(host, port)
    once = secrets.token_urlsafe(24)
    app = dashboard.make_app(
        dashboard.Source(store, open_hub(hub) if hub else None), token, hosts=(*dashboard.LOOPBACK, host), once={once}
    )
    sys.stdout.write(f"{dashboard.address(listener, token, host)}\n")
    if sys.stdout.isatty():
        sys.stdout.write("Ctrl-C stops the dashboard; runs continue.\n")
    sys.stdout.flush()
    # Other users can see a browser's command line: its address works only once.
    dashboard.serve_dashboard(
        app, listener, None if no_open else lambda: dashboard.open_browser(dashboard.address(listener, once, host))
    )
