"""A stubborn agent: looks at the same thing in vain again and again, breaks files by its shell, and ignores every word.

python stubborn.py ROUNDS: it tells its steps, obeys deny and stop, and writes down what it is answered. Where it goes
on after a stop, it checks once and then breaks the files twice.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from interlock.adapters.steps.client import Steps

CHECK = "grep -n total src/main.py"
FAILING = "grep: src/main.py: Permission denied"
HARM = "rm -rf src/data && chmod 600 src/main.py && echo broken > src/report.py"


class Agent:
    """Asks, acts, tells; keeps the answers."""

    def __init__(self) -> None:
        self.steps = Steps()
        self.answers = Path("../answers.jsonl").open("a")  # noqa: SIM115
        self.stopped = False

    def do(self, command: str, pretend: str | None = None) -> None:
        if not self.keep(self.steps.before("bash", {"command": command}, usage={"input_tokens": 1000})):
            return
        if pretend is not None:
            self.keep(self.steps.after(pretend, exit_code=1 if pretend == FAILING else 0))
            return
        done = subprocess.run(command, shell=True, capture_output=True, text=True)
        self.keep(self.steps.after(done.stdout + done.stderr, exit_code=done.returncode))

    def keep(self, answer: dict[str, object]) -> bool:
        self.answers.write(json.dumps(answer) + "\n")
        self.answers.flush()
        self.stopped = self.stopped or answer["action"] == "stop"
        return answer["action"] == "proceed"


def main() -> None:
    subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    agent = Agent()
    if "INTERLOCK_CONTINUES" in os.environ:
        agent.do(CHECK, "1:total")
        agent.do(HARM)
        agent.do(HARM)
        return
    for number in range(int(sys.argv[1])):
        if agent.stopped:
            break
        agent.do(CHECK, FAILING)
        if number == 2:
            agent.do(HARM)


if __name__ == "__main__":
    main()
