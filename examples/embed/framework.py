"""A small agent framework with Interlock inside; tool calls run in parallel. Try it: python framework.py."""

import asyncio
import subprocess

from interlock import RunStopped, Session, Supervision

CAN = frozenset({"deny", "rewrite", "inject", "hold", "stop", "conversation"})


class Agent:
    def __init__(self, model, tools, **options):
        self.model, self.tools = model, tools
        self.supervision = Supervision("my-framework", CAN, options)

    async def run(self, task):
        conversation = [task]
        async with await self.supervision.open_async(task) as session:
            while True:
                turn = await session.turn_async(len(conversation))  # waits while the run is paused
                session.check()  # raises RunStopped
                if turn.keep is not None:  # a rollback: the conversation goes back with the files
                    del conversation[turn.keep :]
                conversation += [message.content for message in turn.messages]
                calls = self.model(conversation)
                if not calls:
                    return conversation
                conversation += await asyncio.gather(*(self.call(session, *call) for call in calls))

    async def call(self, session: Session, call_id, tool, arguments):
        asked = await session.ask_async(tool, arguments, call_id=call_id)
        if not asked.runs:
            return asked.words
        return await session.run_async(asked, lambda given: asyncio.to_thread(self.tools[tool], **given))


def bash(command):
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True).stdout


if __name__ == "__main__":
    script = [[("a", "bash", {"command": "echo hello"}), ("b", "bash", {"command": "rm -rf /"})], []]
    try:
        print(*asyncio.run(Agent(lambda _: script.pop(0), {"bash": bash}).run("say hello")), sep="\n")
    except RunStopped as stopped:
        print(stopped.reason)
