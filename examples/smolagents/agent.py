"""A smolagents agent with a shell, supervised: python agent.py "fix the failing tests"."""

import os
import subprocess
import sys

from smolagents import OpenAIModel, ToolCallingAgent, tool

from interlock.adapters.smolagents import RunStopped, supervise


@tool
def bash(command: str) -> str:
    """Run a shell command in the current folder.

    Args:
        command: The command.
    """
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    return done.stdout + done.stderr


agent = ToolCallingAgent([bash], OpenAIModel(os.environ.get("MODEL", "gpt-5")), max_steps=100, verbosity_level=0)
try:
    print(supervise(agent, workspace=".").run(sys.argv[1]))
except RunStopped as stopped:
    sys.exit(str(stopped))
