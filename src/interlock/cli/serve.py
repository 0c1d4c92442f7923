"""interlock serve: the resident supervisor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import new_app

app = new_app()


@app.command()
def serve(
    config: Annotated[Path | None, typer.Option("--config", help="A configuration file for every run.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print where it listens as JSON.")] = False,
) -> None:
    """Supervise every agent whose hooks are installed, each session a run of its own, until Ctrl-C.

    Example: interlock serve --config interlock.yaml
    """
    import signal
    import sys

    from ..adapters.hooks.resident import Resident, is_served, serve_socket
    from ..config import load
    from ..core import InvalidState
    from ..link import listen
    from ..runtime.opening import open_store
    from .output import print_json

    store = open_store(load(config))
    path = serve_socket()
    if is_served(path):
        raise InvalidState("somebody serves already", where=str(path), todo="End that interlock serve first.")
    wanted = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
    resident = Resident(listen(path), store, config)
    resident.start()
    if as_json:
        print_json({"socket": str(path), "store": str(store.root)})
    else:
        sys.stdout.write(f"interlock serves on {path}; runs are kept in {store.root}\n")
        sys.stdout.flush()
    signal.sigwait(wanted)
    resident.close()
    path.unlink(missing_ok=True)
