"""A controller in a process of its own: steers runs at random, and writes down what it asked and what it was told."""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
from pathlib import Path
from typing import BinaryIO

from interlock.config.schema import Hub
from interlock.control import Request, RequestOutcome, new_request
from interlock.core import InterlockError
from interlock.link.hub_client import HubClient


def note_and_ask(client: HubClient, history: BinaryIO, request: Request, timeout: float) -> RequestOutcome:
    """Each note is one write to an unbuffered file, so that threads do not mix theirs."""
    asked = {"id": request.request_id, "run": request.target.run_id, "command": request.command}
    history.write(json.dumps({**asked, "asked": time.monotonic()}).encode() + b"\n")
    answer = client.ask(request, timeout=timeout)
    told = {"id": request.request_id, "outcome": answer.outcome, "code": answer.code, "told": time.monotonic()}
    history.write(json.dumps(told).encode() + b"\n")
    return answer


def main(url: str, history: str, runs: str, seed: str, threads: str) -> None:
    while True:
        try:
            client = HubClient(Hub(url=url, unsigned=True))
            break
        except InterlockError:
            time.sleep(0.2)
    out = Path(history).open("ab", buffering=0)  # noqa: SIM115 - until the process is killed

    def steer(number: int) -> None:
        dice = random.Random(f"{seed}-{number}")
        while True:
            run, command = dice.choice(runs.split(",")), dice.choice(("pause", "resume"))
            note_and_ask(client, out, new_request(os.urandom(8).hex(), command, run), 45)  # type: ignore[arg-type]
            time.sleep(dice.uniform(0, 0.1))

    for number in range(int(threads)):
        threading.Thread(target=steer, args=(number,), daemon=True).start()
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
