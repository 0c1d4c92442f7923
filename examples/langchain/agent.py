"""A LangChain agent with a shell, supervised: python agent.py "fix the failing tests"."""

import os
import subprocess
import sys

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from interlock.adapters.langchain import supervise


@tool
def bash(command: str) -> str:
    """Run a shell command in the current folder."""
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    return done.stdout + done.stderr


task = sys.argv[1]
model = ChatOpenAI(model=os.environ.get("MODEL", "gpt-5"))
agent = create_agent(model, [bash], middleware=[supervise(task=task, workspace=".")])
answer = agent.invoke({"messages": [("user", task)]}, {"recursion_limit": 200})
print(answer["messages"][-1].text)
