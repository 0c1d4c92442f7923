"""An agent on Anthropic's own SDK that works in words alone, without tools: single questions until a file `stop`."""

import os
from pathlib import Path

import anthropic

client = anthropic.Anthropic()
number = 0
while not Path("stop").exists():
    number += 1
    question = [{"role": "user", "content": f"Question {number}"}]
    client.messages.create(model=os.environ["MODEL"], max_tokens=99, messages=question)
    Path("asked").write_text(str(number))
