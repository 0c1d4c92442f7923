"""An agent loop of one's own, supervised: python agent.py COMMAND... runs each command as an agent would."""

import subprocess
import sys

from interlock import Supervisor


def act(supervisor: Supervisor, command: str) -> str:
    """One step: ask, act, tell; gives what the model is to see."""
    decision = supervisor.ask(supervisor.call("bash", {"command": command}))
    if decision.action == "stop":
        sys.exit(f"Stopped: {decision.reason}")
    if decision.action not in ("proceed", "rewrite"):
        return f"Refused: {decision.reason}"
    if decision.arguments is not None:
        command = str(decision.arguments["command"])
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    answer = supervisor.after(supervisor.result(done.stdout + done.stderr, exit_code=done.returncode))
    if answer.action == "stop":
        sys.exit(f"Stopped: {answer.reason}")
    hints = [message.content for message in (*decision.messages, *answer.messages)]
    return "\n".join([done.stdout + done.stderr, *hints])


with Supervisor.open(task="run the commands", workspace=".") as supervisor:
    for command in sys.argv[1:]:
        print(f"$ {command}\n{act(supervisor, command)}")
