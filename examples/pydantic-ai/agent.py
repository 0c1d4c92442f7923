"""A Pydantic AI agent with a shell, supervised: python agent.py "fix the failing tests"."""

import os
import subprocess
import sys

from pydantic_ai import Agent, UsageLimits

from interlock.adapters.pydantic_ai import RunStopped, supervise


def bash(command: str) -> str:
    """Run a shell command in the current folder."""
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    return done.stdout + done.stderr


task = sys.argv[1]
agent = Agent(
    f"openai-chat:{os.environ.get('MODEL', 'gpt-5')}",
    tools=[bash],
    capabilities=[supervise(task=task, workspace=".")],
)
try:
    print(agent.run_sync(task, usage_limits=UsageLimits(request_limit=200)).output)
except RunStopped as stopped:
    sys.exit(str(stopped))
