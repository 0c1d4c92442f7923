"""An OpenAI Agents SDK agent with a shell, supervised: python agent.py "fix the failing tests"."""

import asyncio
import os
import subprocess
import sys

from agents import Agent, function_tool, set_tracing_disabled
from interlock.adapters.openai_agents import RunStopped, supervise


@function_tool
async def bash(command: str) -> str:
    """Run a shell command in the current folder."""
    process = await asyncio.create_subprocess_exec(
        "bash", "-c", command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    out, _ = await process.communicate()
    return out.decode()


task = sys.argv[1]
set_tracing_disabled(True)
agent = Agent(name="coder", instructions="You work in a shell.", tools=[bash], model=os.environ.get("MODEL", "gpt-5"))
runner = supervise(task=task, workspace=".")
try:
    print(asyncio.run(runner.run(agent, task, max_turns=100)).final_output)
except RunStopped as stopped:
    sys.exit(str(stopped))
