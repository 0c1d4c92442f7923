"""interlock serve: the resident supervisor, and the systemd user unit that keeps it running."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

from typer import Option

from ..core import InterlockError, run_program
from .app import new_app
from .output import print_json, say, say_error

app = new_app()


@app.command()
def serve(
    config: Annotated[Path | None, Option(help="A configuration file for every run.")] = None,
    http: Annotated[
        int | None,
        Option(help="Also listen on this loopback port (0: any), with a token.", metavar="PORT", min=0, max=65535),
    ] = None,
    metrics_port: Annotated[
        int | None, Option(metavar="N", min=0, max=65535, help="Serve /metrics on this port; 0: any.")
    ] = None,
    hub: Annotated[
        str | None, Option(metavar="URL", help="Publish runs on this hub, and answer requests to runs that have ended.")
    ] = None,
    install_service: Annotated[
        bool, Option("--install-service", help="Install a systemd user service that starts now and after a reboot.")
    ] = False,
    as_json: Annotated[bool, Option("--json", help="Print where it listens as JSON.")] = False,
) -> None:
    """Supervise every agent whose hooks are installed, each session as its own run, until Ctrl-C.

    It also resumes parked runs whose supervisor is gone, for example after a reboot.

    Example: interlock serve --config interlock.yaml
    """
    if install_service:
        for words in set_up_service(config):
            say(words)
        return
    import gc
    import secrets
    import signal

    from ..adapters.hooks import ResidentSupervisor, serve_hooks
    from ..config import load
    from ..core import InvalidState
    from ..journal import open_store
    from ..link import adopt_orphans, is_served, listen, serve_socket

    if hub is not None:
        # Every session reads the configuration and the environment again.
        os.environ["INTERLOCK_HUB__URL"] = hub
    settings = load(config, warn=say_error)
    store = open_store(settings)
    path = serve_socket()
    if is_served(path):
        raise InvalidState("interlock serve is already running", where=str(path), todo="End it first.")
    metrics = None
    if metrics_port is not None:
        from ..report import JournalMetrics, serve_metrics

        metrics = serve_metrics(JournalMetrics(store), metrics_port)
    wanted = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
    # Objects from start-up stay: collecting them would delay a hook by 50 ms.
    gc.freeze()
    resident = ResidentSupervisor(listen(path), store, config)
    resident.on_poll = lambda: adopt_orphans(store.root)
    resident.start()
    absent = None
    if settings.hub.url:
        from ..link import AbsentRuns

        absent = AbsentRuns(settings.hub)
        absent.start()
    where = {"socket": str(path), "store": str(store.root)}
    if metrics is not None:
        where["metrics"] = f"{metrics.url}/metrics"
    server = None
    if http is not None:
        token = secrets.token_urlsafe(24)
        server = serve_hooks(token, resident.answer, http)
        where |= {"url": server.url, "token": token}
    if as_json:
        print_json(where)
    else:
        sys.stdout.write(f"listening on {path}; runs are stored in {store.root}\n")
        sys.stdout.write(
            f"and on {server.url}/hooks/CLIENT with the bearer token {token}\n" if server is not None else ""
        )
        sys.stdout.write(f"metrics: {metrics.url}/metrics\n" if metrics is not None else "")
        sys.stdout.flush()
    signal.sigwait(wanted)
    for part in (server, resident, absent, metrics):
        if part is not None:
            part.close()
    path.unlink(missing_ok=True)


UNIT = "interlock.service"

TEMPLATE = """\
[Unit]
Description=Interlock: the resident supervisor, which resumes parked runs
Documentation=man:systemd.service(5)
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=exec
ExecStart={command}
Restart=on-failure
RestartSec=5
# What it supervises survives a restart.
KillMode=process

[Install]
WantedBy=default.target
"""


def unit_text(config: Path | None = None) -> str:
    """The unit, for the interpreter that runs now."""
    words = [sys.executable, "-P", "-m", "interlock", "serve", *(("--config", str(config.resolve())) if config else ())]
    return TEMPLATE.format(command=" ".join(map(_quoted, words)))


def unit_path() -> Path:
    """The path of the systemd user unit."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser()
    return Path(home) / "systemd" / "user" / UNIT


def set_up_service(config: Path | None = None) -> list[str]:
    """Write the unit, and start it if the user's systemd responds; returns what was done, in words."""
    path = unit_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(unit_text(config))
    except OSError as error:
        raise InterlockError(f"the unit cannot be written ({error.strerror})", where=str(path)) from None
    done = [f"wrote {path}"]
    for words in (("daemon-reload",), ("enable", "--now", UNIT)):
        try:
            failed = run_program(["systemctl", "--user", *words]).returncode != 0
        except OSError:
            failed = True
        if failed:
            return [*done, f"systemd did not respond; once it does: systemctl --user enable --now {UNIT}"]
    done.append(f"enabled and started {UNIT}")
    return [*done, "to keep it running while you are logged out: loginctl enable-linger"]


def _quoted(word: str) -> str:
    """A word of ExecStart, quoted: systemd expands % and $."""
    plain = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{plain}"' if any(char in plain for char in " \t\"'\\;") else plain
