"""A Claude Agent SDK agent that lets the project set things."""

import asyncio
import os
import sys

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage

from interlock.adapters.claude_agent_sdk import RunStopped, supervise


async def main(task: str) -> None:
    options = ClaudeAgentOptions(
        cwd=".",
        setting_sources=["project"],
        allowed_tools=["Bash", "Read", "Write", "Edit"],
        model=os.environ.get("MODEL", "claude-sonnet-4-5"),
    )
    async with supervise(options, task=task) as client:
        await client.query(task)
        async for message in client.receive_response():
            if isinstance(message, ResultMessage):
                print(message.result)


try:
    asyncio.run(main(sys.argv[1]))
except RunStopped as stopped:
    sys.exit(str(stopped))
