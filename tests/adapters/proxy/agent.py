"""A small agent that speaks all four wire formats, streamed or whole, with the standard library alone.

python agent.py API [--stream] PROMPT: asks the model at the address in the environment, runs what it is told to run,
and prints what the model said last.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

VARIABLES = {
    "anthropic": ("ANTHROPIC_BASE_URL", "/v1/messages"),
    "responses": ("OPENAI_BASE_URL", "/responses"),
    "chat": ("OPENAI_BASE_URL", "/chat/completions"),
    "gemini": ("GOOGLE_GEMINI_BASE_URL", "/v1beta/models/{model}:"),
}
KEY = "sk-test-THIS-IS-A-SECRET-KEY-0123456789"
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
Runner = Callable[[str, dict[str, Any]], str]


class Agent:
    """`run` talks until the model wants nothing more; `answers` are the raw bodies that came back."""

    def __init__(
        self, api: str, base: str, runner: Runner, *, stream: bool = False, model: str = "m-1", tools: bool = True
    ) -> None:
        self.api, self.base, self.runner, self.stream, self.model, self.tools = api, base, runner, stream, model, tools
        self.history: list[dict[str, Any]] = []
        self.answers: list[bytes] = []
        self.statuses: list[int] = []
        self.headers: dict[str, str] = {}

    def run(self, prompt: str, turns: int = 30) -> str:
        self.history.append(self._user(prompt))
        for _ in range(turns):
            text, calls = self.ask()
            if not calls:
                return text
            self.history += self._results([(call, self.runner(call[1], call[2])) for call in calls])
        return "too many turns"

    def ask(self) -> tuple[str, list[tuple[str, str, dict[str, Any]]]]:
        """One request; what the model says and wants."""
        status, raw = self.post(self.body())
        self.answers.append(raw)
        self.statuses.append(status)
        if status != 200:
            raise RuntimeError(f"{status} {raw[:300]!r}")
        text, calls, said = READERS[self.api](events(raw) if self.stream else json.loads(raw), self.stream)
        self.history += said
        return text, calls

    def post(self, body: dict[str, Any], headers: dict[str, str] | None = None) -> tuple[int, bytes]:
        parts = urlsplit(self.base + self._path())
        connection = http.client.HTTPConnection(parts.netloc, timeout=150)
        auth = {"x-api-key": KEY, "authorization": f"Bearer {KEY}", "x-goog-api-key": KEY}
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.request(
            "POST",
            target,
            json.dumps(body).encode(),
            {"content-type": "application/json", **auth, **self.headers, **(headers or {})},
        )
        answer = connection.getresponse()
        data = answer.read()
        self.last_headers = dict(answer.getheaders())
        connection.close()
        return answer.status, data

    def body(self) -> dict[str, Any]:
        if self.api == "gemini":
            body: dict[str, Any] = {"contents": self.history}
            tool: Any = {"functionDeclarations": [{"name": "bash", "parameters": SCHEMA}]}
        else:
            body = {
                "model": self.model,
                "stream": self.stream,
                "input" if self.api == "responses" else "messages": self.history,
            }
            tool = {"name": "bash", "input_schema": SCHEMA}
            if self.api == "chat":
                if self.stream:
                    body["stream_options"] = {"include_usage": True}
                tool = {"type": "function", "function": {"name": "bash", "parameters": SCHEMA}}
            elif self.api == "responses":
                tool = {"type": "function", "name": "bash", "parameters": SCHEMA}
            else:
                body["max_tokens"] = 1000
        return {**body, "tools": [tool]} if self.tools else body

    def _path(self) -> str:
        path = VARIABLES[self.api][1].format(model=self.model)
        if self.api == "gemini":
            path += "streamGenerateContent?alt=sse" if self.stream else "generateContent"
        return path

    def _user(self, text: str) -> dict[str, Any]:
        return (
            {"role": "user", "parts": [{"text": text}]} if self.api == "gemini" else {"role": "user", "content": text}
        )

    def _results(self, done: list[tuple[tuple[str, str, dict[str, Any]], str]]) -> list[dict[str, Any]]:
        if self.api == "anthropic":
            return [
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": call[0], "content": out} for call, out in done],
                }
            ]
        if self.api == "chat":
            return [{"role": "tool", "tool_call_id": call[0], "content": out} for call, out in done]
        if self.api == "responses":
            return [{"type": "function_call_output", "call_id": call[0], "output": out} for call, out in done]
        parts = [
            {"functionResponse": {"id": call[0], "name": call[1], "response": {"output": out}}} for call, out in done
        ]
        return [{"role": "user", "parts": parts}]


def events(raw: bytes) -> list[Any]:
    lines = [line[6:] for line in raw.decode().splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def read_anthropic(answer: Any, stream: bool) -> Any:
    if stream:
        blocks: list[Any] = []
        for event in answer:
            if event["type"] == "content_block_start":
                assert event["index"] == len(blocks), "blocks come in order"
                blocks.append({**event["content_block"], "json": ""})
            elif event["type"] == "content_block_delta":
                delta, block = event["delta"], blocks[event["index"]]
                if delta["type"] == "text_delta":
                    block["text"] += delta["text"]
                else:
                    block["json"] += delta["partial_json"]
        assert answer[-1]["type"] == "message_stop", "a message ends"
        for block in blocks:
            given = block.pop("json")
            if block["type"] == "tool_use":
                block["input"] = json.loads(given or "{}")
    else:
        blocks = answer["content"]
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    calls = [(block["id"], block["name"], block["input"]) for block in blocks if block["type"] == "tool_use"]
    return text, calls, [{"role": "assistant", "content": blocks}]


def read_chat(answer: Any, stream: bool) -> Any:
    if stream:
        text, calls = "", {}
        for event in answer:
            for choice in event["choices"]:
                delta = choice["delta"]
                text += delta.get("content") or ""
                for piece in delta.get("tool_calls") or []:
                    call = calls.setdefault(
                        piece["index"], {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
                    )
                    call["id"] = piece.get("id") or call["id"]
                    call["function"]["name"] += piece["function"].get("name") or ""
                    call["function"]["arguments"] += piece["function"].get("arguments") or ""
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = list(calls.values())
    else:
        message = answer["choices"][0]["message"]
    found = [
        (c["id"], c["function"]["name"], json.loads(c["function"]["arguments"]))
        for c in message.get("tool_calls") or []
    ]
    return message.get("content") or "", found, [message]


def read_responses(answer: Any, stream: bool) -> Any:
    if stream:
        numbers = [event["sequence_number"] for event in answer]
        assert numbers == list(range(len(numbers))), "events are numbered"
        assert answer[-1]["type"] == "response.completed"
        done = [event["item"] for event in answer if event["type"] == "response.output_item.done"]
        answer = answer[-1]["response"]
        assert answer["output"] == done, "the whole is what its parts were"
    output = answer["output"]
    text = "".join(part["text"] for item in output if item["type"] == "message" for part in item["content"])
    calls = [
        (item["call_id"], item["name"], json.loads(item["arguments"]))
        for item in output
        if item["type"] == "function_call"
    ]
    return text, calls, output


def read_gemini(answer: Any, stream: bool) -> Any:
    parts = [part for one in (answer if stream else [answer]) for part in one["candidates"][0]["content"]["parts"]]
    text = "".join(part.get("text", "") for part in parts)
    calls = [
        (p["functionCall"].get("id", ""), p["functionCall"]["name"], p["functionCall"]["args"])
        for p in parts
        if "functionCall" in p
    ]
    return text, calls, [{"role": "model", "parts": parts}]


READERS: dict[str, Any] = {
    "anthropic": read_anthropic,
    "chat": read_chat,
    "responses": read_responses,
    "gemini": read_gemini,
}


def run_shell(name: str, arguments: dict[str, Any]) -> str:
    done = subprocess.run(
        ["/bin/sh", "-c", arguments["command"]], capture_output=True, text=True, timeout=150, check=False
    )
    return f"{done.stdout}{done.stderr}exit code {done.returncode}"


def main() -> None:
    api, prompt, stream = sys.argv[1], sys.argv[-1], "--stream" in sys.argv
    base = os.environ[VARIABLES[api][0]]
    agent = Agent(api, base, run_shell, stream=stream)
    for attempt in range(40):
        # As a real client does: what was cut off is asked for again.
        try:
            text = agent.run(prompt) if attempt == 0 else agent_goes_on(agent)
        except (OSError, http.client.HTTPException):
            time.sleep(0.1)
            continue
        print(text)
        return


def agent_goes_on(agent: Agent) -> str:
    while True:
        text, calls = agent.ask()
        if not calls:
            return text
        agent.history += agent._results([(call, agent.runner(call[1], call[2])) for call in calls])


if __name__ == "__main__":
    main()
