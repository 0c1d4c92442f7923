"""An OpenAI Agents SDK agent as people write it, streamed, that knows nothing of us: plain_openai.py API TASK."""

import asyncio
import os
import subprocess
import sys

from agents import Agent, Runner, function_tool, set_default_openai_api, set_tracing_disabled


@function_tool
def bash(command: str) -> str:
    """Run a shell command."""
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    return f"{done.stdout}{done.stderr}exit code {done.returncode}"


async def main() -> None:
    agent = Agent(name="coder", instructions="You work in a shell.", tools=[bash], model=os.environ["MODEL"])
    result = Runner.run_streamed(agent, sys.argv[2], max_turns=30)
    async for _ in result.stream_events():
        pass
    print(result.final_output)


set_tracing_disabled(True)
set_default_openai_api(sys.argv[1])
asyncio.run(main())
