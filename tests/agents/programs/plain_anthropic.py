"""An agent on Anthropic's own SDK, streamed, that knows nothing of us: plain_anthropic.py TASK."""

import os
import subprocess
import sys

import anthropic

TOOL = {"name": "bash", "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}}}
client = anthropic.Anthropic()
messages = [{"role": "user", "content": sys.argv[1]}]
while True:
    with client.messages.stream(model=os.environ["MODEL"], max_tokens=999, tools=[TOOL], messages=messages) as stream:
        answer = stream.get_final_message()
    messages.append({"role": "assistant", "content": answer.content})
    calls = [block for block in answer.content if block.type == "tool_use"]
    if not calls:
        break
    results = []
    for call in calls:
        done = subprocess.run(["bash", "-c", call.input["command"]], capture_output=True, text=True)
        out = f"{done.stdout}{done.stderr}exit code {done.returncode}"
        results.append(
            {"type": "tool_result", "tool_use_id": call.id, "content": out, "is_error": done.returncode != 0}
        )
    messages.append({"role": "user", "content": results})
print("".join(block.text for block in answer.content if block.type == "text"))
