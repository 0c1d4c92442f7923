"""python -m interlock.demo.model [--script FILE or NAME] [--port N] [--log FILE] [--port-file FILE]"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path

from .script import BUILT_IN, ModelRequest, Scripts, read_scripts
from .server import ScriptedModel


def main() -> None:
    """Serve until interrupted; the first line printed is the base URL."""
    parser = argparse.ArgumentParser(prog="python -m interlock.demo.model", description="A scripted model on loopback.")
    parser.add_argument("--script", default="healthy", help="a built-in script's name, or a JSON file of scripts")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path, help="write each request as a line of JSON")
    parser.add_argument("--port-file", type=Path, help="write the port into this file")
    given = parser.parse_args()
    scripts: Scripts = given.script
    if given.script.endswith(".json"):
        scripts = read_scripts(Path(given.script))
    elif given.script not in read_scripts(BUILT_IN):
        parser.error(f"no script {given.script!r}; there are: {', '.join(sorted(read_scripts(BUILT_IN)))}")
    with _Logged(scripts, given.port, given.log) as model:
        if given.port_file is not None:
            given.port_file.write_text(str(model.port))
        sys.stdout.write(f"{model.url}\n")
        sys.stdout.flush()
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


class _Logged(ScriptedModel):
    def __init__(self, scripts: Scripts, port: int, log: Path | None) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        super().__init__(scripts, port)
        self._log = log

    def respond(self, request: ModelRequest):  # type: ignore[no-untyped-def]
        name, turn = super().respond(request)
        if self._log is not None:
            line = {"path": request.path, "api": request.api, "script": name, "turn": request.turn}
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**line, "headers": request.headers, "body": request.body}) + "\n")
        return name, turn


if __name__ == "__main__":
    main()
