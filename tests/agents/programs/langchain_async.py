"""An agent in an event loop, twice with one middleware: first it fails without a word, then it works."""

import asyncio
import os
import sys

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.errors import GraphRecursionError

from interlock.adapters.langchain import supervise


@tool
async def bash(command: str) -> str:
    """Run a shell command in the current folder."""
    process = await asyncio.create_subprocess_exec("bash", "-c", command, stdout=asyncio.subprocess.PIPE)
    return (await process.communicate())[0].decode()


async def main(task: str) -> None:
    agent = create_agent(ChatOpenAI(model=os.environ["MODEL"]), [bash], middleware=[supervise(workspace=".")])
    try:
        await agent.ainvoke({"messages": [("user", "too long")]}, {"recursion_limit": 6})
    except GraphRecursionError:
        print("too long")
    answer = await agent.ainvoke({"messages": [("user", task)]}, {"recursion_limit": 100})
    print(answer["messages"][-1].text)


asyncio.run(main(sys.argv[1]))
