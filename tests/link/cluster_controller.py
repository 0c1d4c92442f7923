"""A controller in a process of its own: steers runs at random, and writes down what it asked and what it was told."""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
from pathlib import Path

from interlock.config.model import Hub
from interlock.control import new_request
from interlock.core import InterlockError
from interlock.link.hub_client import HubClient


def main(url: str, history: str, runs: str, seed: str, threads: str) -> None:
    while True:
        try:
            client = HubClient(Hub(url=url, unsigned=True))
            break
        except InterlockError:
            time.sleep(0.2)
    out = Path(history).open("a", buffering=1)  # noqa: SIM115 - until the process is killed
    lock = threading.Lock()

    def note(**what: object) -> None:
        with lock:
            out.write(json.dumps(what) + "\n")

    def steer(number: int) -> None:
        dice = random.Random(f"{seed}-{number}")
        while True:
            run, command = dice.choice(runs.split(",")), dice.choice(("pause", "resume"))
            request_id = os.urandom(8).hex()
            note(id=request_id, run=run, command=command, asked=time.monotonic())
            answer = client.ask(new_request(request_id, command, run), timeout=45)  # type: ignore[arg-type]
            note(id=request_id, outcome=answer.outcome, code=answer.code, told=time.monotonic())

    for number in range(int(threads)):
        threading.Thread(target=steer, args=(number,), daemon=True).start()
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
