"""Two agents, streamed: the first hands over to the second, whose tool is supervised too."""

import asyncio
import os
import subprocess
import sys

from agents import Agent, RunHooks, function_tool, set_tracing_disabled
from interlock.adapters.openai_agents import RunStopped, supervise


@function_tool
def bash(command: str) -> str:
    """Run a shell command in the current folder."""
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    return done.stdout + done.stderr


class Told(RunHooks):
    """The user's own hooks go on working."""

    async def on_handoff(self, context: object, from_agent: Agent, to_agent: Agent) -> None:
        print(f"{from_agent.name} to {to_agent.name}")


async def main(task: str) -> None:
    set_tracing_disabled(True)
    worker = Agent(name="worker", tools=[bash], model=os.environ["MODEL"])
    first = Agent(name="first", handoffs=[worker], model=os.environ["MODEL"])
    result = supervise(workspace=".").run_streamed(first, task, hooks=Told(), max_turns=50)
    async for _ in result.stream_events():
        pass
    print(result.final_output)


try:
    asyncio.run(main(sys.argv[1]))
except RunStopped as stopped:
    sys.exit(str(stopped))
