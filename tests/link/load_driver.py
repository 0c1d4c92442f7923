"""Many runs, many controllers: `python -m tests.link.load_driver DIR RUNS CONTROLLERS SECONDS`.

Owners are processes with fifty runs each; controllers are threads in processes of ten. Prints what came of it.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
import uuid
from pathlib import Path

from interlock.control import new_request, new_state
from interlock.core import RunSpec
from interlock.journal import Journal, RunFolder, Store
from interlock.link import ControlServer, Endpoint, FileGate, JournalLog, ask_owner, noted_socket

from .crash_driver import fork, kill
from .gate_actuator import Actuator

RUNS_PER_OWNER, CONTROLLERS_PER_PROCESS = 50, 10
COMMANDS = ("pause", "resume", "pause", "resume", "escalate", "approve", "rollback")
PAYLOADS: dict[str, dict[str, object]] = {
    "escalate": {"model": "opus"},
    "approve": {"step": 1},
    "rollback": {"to": "c"},
}
EXPECTED = (None, "invalid_state")


def be_owner(folders: list[RunFolder]) -> None:
    for folder in folders:
        log = JournalLog(Journal.open(folder))
        endpoint = Endpoint(new_state(folder.run_id, model="haiku"), log, Actuator(FileGate(folder.gate)))
        endpoint.start()
        ControlServer(endpoint, folder.path).open()
    signal.pause()


def be_controllers(folders: list[RunFolder], out: Path, seconds: float, seed: int) -> None:
    spent: list[float] = []
    wrong: list[str] = []

    def steer(number: int) -> None:
        dice = random.Random(seed * 1000 + number)
        over = time.monotonic() + seconds
        while time.monotonic() < over:
            folder, command = dice.choice(folders), dice.choice(COMMANDS)
            request = new_request(
                str(uuid.UUID(int=dice.getrandbits(128))), command, folder.run_id, PAYLOADS.get(command)
            )  # type: ignore[arg-type]
            begin = time.perf_counter()
            answer = ask_owner(folder, request, timeout=150)
            spent.append(time.perf_counter() - begin)
            if answer.outcome == "unknown" or answer.code not in EXPECTED:
                wrong.append(f"{command}: {answer.outcome} {answer.code} {answer.message}")

    threads = [threading.Thread(target=steer, args=(number,)) for number in range(CONTROLLERS_PER_PROCESS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    out.write_text(json.dumps([spent, wrong]))


def drive(place: Path, runs: int, controllers: int, seconds: float) -> dict[str, object]:
    store = Store(place / "runs")
    folders = [store.create(RunSpec(run_id=f"load-{number}")) for number in range(runs)]
    parts = [folders[start : start + RUNS_PER_OWNER] for start in range(0, runs, RUNS_PER_OWNER)]
    owners = [fork(lambda part=part: be_owner(part)) for part in parts]  # type: ignore[misc]
    while any(noted_socket(folder.path) is None for folder in folders):
        time.sleep(0.05)
    processes = max(1, controllers // CONTROLLERS_PER_PROCESS)
    outs = [place / f"told-{number}" for number in range(processes)]
    people = [
        fork(lambda out=out, seed=seed: be_controllers(folders, out, seconds, seed))  # type: ignore[misc]
        for seed, out in enumerate(outs)
    ]
    for person in people:
        os.waitpid(person, 0)
    for owner in owners:
        kill(owner)
    told = [json.loads(out.read_text()) for out in outs]
    spent = sorted(value for part, _ in told for value in part)
    return {
        "commands": len(spent),
        "p50 ms": round(spent[len(spent) // 2] * 1e3, 1),
        "p99 ms": round(spent[len(spent) * 99 // 100] * 1e3, 1),
        "errors": [text for _, wrong in told for text in wrong][:20],
    }


if __name__ == "__main__":
    root = Path(sys.argv[1])
    os.environ["XDG_RUNTIME_DIR"] = str(root)
    print(json.dumps(drive(root, int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))))
