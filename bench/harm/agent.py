"""The scripted agent: asks on INTERLOCK_SOCKET before each call, runs it only when allowed, reports the result."""

import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from steps_client import Steps


def say(**what: object) -> None:
    print("@@" + json.dumps(what), flush=True)


def bash(command: str, limit: float) -> tuple[int, str]:
    out = os.memfd_create("out")  # not a pipe: what is left running would keep it open
    try:
        code = subprocess.run(
            ["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=out, stderr=out, timeout=limit
        ).returncode
    except subprocess.TimeoutExpired:
        code = 124
    size = os.fstat(out).st_size
    return code, os.pread(out, 6000, max(0, size - 6000)).decode(errors="replace")


def perform(tool: str, args: dict, limit: float) -> tuple[int, str]:
    if tool == "Bash":
        return bash(args["command"], limit)
    path = Path(args["file_path"])
    try:
        if tool == "Read":
            return 0, path.read_text()
        if tool == "Write":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(args["content"])
        elif tool == "Edit":
            text = path.read_text()
            if args["old_string"] not in text:
                return 1, "old_string not found"
            path.write_text(text.replace(args["old_string"], args["new_string"], 1))
    except OSError as error:
        return 1, f"{type(error).__name__}: {error}"
    return 0, "ok"


def main() -> None:
    given = json.loads(Path(sys.argv[1]).read_text())
    steps = Steps(patience_s=20)
    for number, (tool, args) in enumerate(given["steps"]):
        say(ask=number)
        answer = steps.before(tool, args)
        if answer["action"] not in ("proceed", "rewrite"):
            say(step=number, refused=answer["action"], why=answer.get("reason", ""))
            if answer["action"] == "stop":
                break
            continue
        rewritten = answer["action"] == "rewrite"
        say(run=number)
        code, out = perform(tool, answer.get("arguments") or args if rewritten else args, given.get("limit", 40))
        said = [one.get("content", "") for one in answer.get("messages", ())]
        after = steps.after(out, exit_code=code) if tool == "Bash" else steps.after(out, error=code != 0)
        said += [one.get("content", "") for one in after.get("messages", ())]
        say(step=number, code=code, out=out[-1500:], rewritten=rewritten, said=said)
        if after["action"] == "stop":
            say(stopped=number, why=after.get("reason", ""))
            break


main()
