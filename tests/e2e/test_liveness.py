"""What a real run is doing, told while it does it: prompts on a real terminal, and a stream that stays half open."""

from __future__ import annotations

import os
import pty
import socket
import sys
import threading

import pytest

from interlock.journal import RunSummary

from .running import Place, until

PROMPTS = {
    "password": ("import getpass; getpass.getpass('Password for deploy@host: ')", "Password for deploy@host:"),
    "yes or no": ("input('Remove 3 packages? [y/N] ')", "Remove 3 packages? [y/N]"),
    "host key": ("input('Are you sure you want to continue connecting (yes/no)? ')", "continue connecting (yes/no)?"),
    "licence": ("input('Do you accept the licence terms? ')", "Do you accept the licence terms?"),
}


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("name", PROMPTS)
def test_a_prompt_on_the_terminal_is_shown_as_waiting_for_a_person_with_its_text(place, name):
    code, text = PROMPTS[name]
    master, slave = pty.openpty()
    process = place.start(sys.executable, "-c", code, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    drain = threading.Thread(target=read_all, args=(master,), daemon=True)
    drain.start()
    until("it is told", lambda: (runs := place.store.runs()) and text in question_of(runs[0]))
    liveness = place.store.runs()[0].liveness
    assert liveness is not None and liveness.word == "waiting for a person"
    assert "reads the terminal" in liveness.evidence
    _, shown, _ = place.interlock("ps")
    assert b"waiting for a person" in shown
    os.write(master, b"y\n")
    process.wait(60)
    os.close(master)


def question_of(run: RunSummary) -> str:
    return run.liveness.question or "" if run.liveness is not None else ""


def read_all(master: int) -> None:
    try:
        while os.read(master, 65_536):
            pass
    except OSError:
        return


AGENT = """
import http.client, json, os, urllib.parse
body = {"model": "claude-sonnet-4-5", "max_tokens": 9, "stream": True, "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"name": "Bash", "input_schema": {}}]}
where = urllib.parse.urlsplit(os.environ["ANTHROPIC_BASE_URL"])
connection = http.client.HTTPConnection(where.hostname, where.port)
connection.request("POST", where.path + "/v1/messages", json.dumps(body), {"content-type": "application/json"})
try:
    connection.getresponse().read()
except Exception as error:
    print("broke:", type(error).__name__, flush=True)
"""


def half_open(server: socket.socket) -> None:
    """Begin an answer, and say nothing more."""
    kept = []
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            return
        client.recv(65_536)
        client.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        kept.append(client)


@pytest.mark.torture
def test_a_half_open_stream_is_told_and_its_connection_closed(place, tmp_path):
    script = tmp_path / "agent.py"
    script.write_text(AGENT)
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=half_open, args=(server,), daemon=True).start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        environment = {**place.environment, "ANTHROPIC_BASE_URL": address}
        process = place.start(sys.executable, str(script), options=("--proxy",), env=environment)
        told = lambda: [each.get("wedged") for each in place.records("liveness")]  # noqa: E731
        until("asked", lambda: (runs := place.store.runs()) and runs[0].liveness is not None)
        process.wait(240)
        assert "half-open stream" in told()
        assert [each["answer"] for each in place.records("unwedge")][:2] == [
            "said", "the connection to the model was closed"]  # fmt: skip
        assert process.stdout is not None and b"broke:" in process.stdout.read()
