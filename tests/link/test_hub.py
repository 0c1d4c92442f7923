"""The hub: other machines, outages, age by the broker's clock, and servers that will not do."""

from __future__ import annotations

import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from interlock.config.schema import Hub
from interlock.control import RequestOutcome, RunEnded, new_request
from interlock.core import BadInput, InterlockError
from interlock.link.hub_client import HubClient
from interlock.link.hub_endpoint import HubLink
from interlock.link.hub_session import HubSession, token_of

from ..control.owner import make
from ..waiting import eventually
from .broker import Broker, keep_port
from .hub_sender import HubSender
from .owned import Owned


@pytest.fixture
def broker(quick_root: Path) -> Iterator[Broker]:
    with Broker(quick_root / "js") as running:
        yield running


def ask(client: HubClient, command: str, number: int = 0, run: str = "run-1", **more: object) -> RequestOutcome:
    return client.ask(new_request(f"{command}-{number}", command, run), **more)  # type: ignore[arg-type]


def test_two_machines_list_pause_resume_and_cancel_each_others_runs(broker: Broker, quick_root: Path) -> None:
    with Owned(quick_root / "one", run_id="first") as one, Owned(quick_root / "two", run_id="second") as two:
        links = [HubLink(broker.settings, owned.endpoint, owned.journal) for owned in (one, two)]
        for link in links:
            link.start()
        with HubClient(broker.settings) as elsewhere:
            eventually(lambda: len(elsewhere.runs()) == 2)
            assert {run.summary.run_id for run in elsewhere.runs()} == {"first", "second"}
            assert not any(run.is_unknown for run in elsewhere.runs())
            assert ask(elsewhere, "pause", run="first").outcome == "success"
            assert one.endpoint.state.status == "paused" and two.endpoint.state.status == "running"
            assert ask(elsewhere, "resume", run="first").message == "resumed at iteration 1"
            assert ask(elsewhere, "cancel", run="second").outcome == "success"
            assert two.endpoint.state.status == "aborted"
            again = ask(elsewhere, "pause", run="second")
            assert (again.outcome, again.code) == ("failure", "not_found")
        for link in links:
            link.close()


def test_the_records_of_a_run_are_on_the_hub_in_sequence_and_once(broker: Broker, quick_root: Path) -> None:
    with Owned(quick_root) as owned:
        link = HubLink(broker.settings, owned.endpoint, owned.journal)
        link.start()
        with HubClient(broker.settings) as elsewhere:
            for number in range(5):
                assert ask(elsewhere, "pause", number).outcome in ("success", "failure")
                assert ask(elsewhere, "resume", number).outcome == "success"
            written = owned.journal.reader().count()
            eventually(lambda: len(elsewhere.records("run-1")) == written)
            found = elsewhere.records("run-1")
            assert [record.seq for record in found] == list(range(1, written + 1))
            assert [bytes(r.body) for r in found] == [bytes(r.body) for r in owned.journal.reader().read()]
            assert elsewhere.records("run-1", after=written - 2) == found[-2:]
        link.close()


def test_what_is_written_while_the_hub_is_away_arrives_when_it_is_back(quick_root: Path) -> None:
    broker = Broker(quick_root / "js")
    with Owned(quick_root) as owned:
        link = HubLink(broker.settings, owned.endpoint, owned.journal)
        link.start()
        eventually(lambda: "cannot be reached" in link.problem)
        owned.endpoint.receive(make("pause", id="offline"), None)
        with broker, HubClient(broker.settings) as elsewhere:
            eventually(lambda: len(elsewhere.records("run-1")) == owned.journal.reader().count())
            assert link.problem == ""
            broker.kill()
            eventually(lambda: link.problem)
            owned.endpoint.receive(make("resume", id="offline too"), None)
            broker.start()
            eventually(lambda: _count(elsewhere, "run-1") == owned.journal.reader().count())
        link.close()


def _count(client: HubClient, run_id: str) -> int:
    try:
        return len(client.records(run_id))
    except InterlockError:
        return -1


def test_a_request_that_waits_for_its_owner_is_executed_when_it_comes(broker: Broker, quick_root: Path) -> None:
    answers: list[RequestOutcome] = []
    with HubClient(broker.settings) as elsewhere:
        asking = threading.Thread(target=lambda: answers.append(ask(elsewhere, "pause", timeout=150)))
        asking.start()
        eventually(lambda: _messages(broker) == 1)
        with Owned(quick_root) as owned:
            link = HubLink(broker.settings, owned.endpoint, owned.journal)
            link.start()
            asking.join()
            assert answers[0].outcome == "success" and owned.endpoint.state.status == "paused"
            link.close()


def _messages(broker: Broker) -> int:
    import asyncio

    from interlock.link.hub_connect import open_session
    from interlock.link.hub_session import STREAM

    async def count() -> int:
        session = await open_session(broker.settings, "count")
        info = await session.stream.stream_info(STREAM)
        await session.client.close()
        return int(info.state.messages)

    return asyncio.run(count())


def test_a_copy_older_than_30_s_by_the_brokers_clock_is_dropped_with_an_audit_row(
    broker: Broker, quick_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Owned(quick_root) as owned:
        sender = HubSender(owned, broker.settings)
        broker_time = HubSession.broker_time
        monkeypatch.setattr(HubSession, "broker_time", lambda session: broker_time(session) + 31)
        sender.send(make("pause", id="old"))
        eventually(lambda: any(row["what"] == "expired" for row in owned.audits()))
        monkeypatch.undo()
        assert owned.endpoint.state.status == "running"
        sender.close()


def test_the_brokers_time_is_learnt_and_not_read_from_our_wall_clock(broker: Broker) -> None:
    import asyncio

    from interlock.link.hub_connect import open_session

    async def difference() -> float:
        session = await open_session(broker.settings, "clock")
        found = session.broker_time() - time.time()
        await session.client.close()
        return found

    assert abs(asyncio.run(difference())) < 5


def test_a_retry_reaches_the_run_and_gets_the_stored_result(broker: Broker, quick_root: Path) -> None:
    with Owned(quick_root) as owned:
        sender = HubSender(owned, broker.settings)
        assert sender.say(make("pause", id="p"), 3) == ["ACK", "success", "STATE paused"]
        stored = sender.last_result()
        assert sender.say(make("pause", id="p"), 1) == ["success"]
        assert sender.last_result() == stored
        sender.close()


@pytest.mark.parametrize("data", [b"not json", b"[]", b'{"type":"REQUEST"}', b"x" * 300_000])
def test_what_cannot_be_read_gets_no_answer_on_a_topic_and_an_audit_row(
    broker: Broker, quick_root: Path, data: bytes
) -> None:
    with Owned(quick_root) as owned:
        sender = HubSender(owned, broker.settings)
        assert sender.say(data, 0) == []
        assert [row["what"] for row in owned.audits()] == ["unreadable"]
        sender.close()


def test_a_run_that_ended_long_ago_is_not_found_though_nobody_answers(broker: Broker, quick_root: Path) -> None:
    with Owned(quick_root) as owned, HubClient(broker.settings) as elsewhere:
        link = HubLink(broker.settings, owned.endpoint, owned.journal)
        link.start()
        assert ask(elsewhere, "cancel").outcome == "success"
        link.close()
        assert ask(elsewhere, "cancel").outcome == "success"
        late = ask(elsewhere, "pause")
        assert (late.outcome, late.code) == ("failure", "not_found")


def test_nobody_answers_and_the_outcome_is_unknown(broker: Broker) -> None:
    with HubClient(broker.settings) as elsewhere:
        assert ask(elsewhere, "pause", run="nobody", timeout=0.5).outcome == "unknown"


def test_a_host_that_has_gone_quiet_is_unknown(
    broker: Broker, quick_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Owned(quick_root) as owned, HubClient(broker.settings) as elsewhere:
        link = HubLink(broker.settings, owned.endpoint, owned.journal)
        link.start()
        eventually(lambda: len(elsewhere.runs()) == 1)
        broker_time = HubSession.broker_time
        monkeypatch.setattr(HubSession, "broker_time", lambda session: broker_time(session) + 120)
        assert elsewhere.runs()[0].is_unknown
        monkeypatch.undo()
        owned.endpoint.post(RunEnded("COMPLETE"))
        link.close()


def test_run_ids_of_any_kind_are_one_token_of_a_subject() -> None:
    assert token_of("a-b_9") == "a-b_9"
    assert token_of("a.b c*>é") == "a=2Eb=20c=2A=3E=C3=A9"


def test_a_server_that_is_too_old_is_refused_with_a_clear_error() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]

    def be_old() -> None:
        sock, _ = listener.accept()
        info = {
            "server_id": "old",
            "version": "2.9.10",
            "headers": True,
            "max_payload": 1048576,
            "proto": 1,
            "port": port,
        }
        sock.sendall(b"INFO " + msgspec.json.encode(info) + b"\r\n")
        with sock, sock.makefile("rb") as lines:
            for line in lines:
                if line.startswith(b"PING"):
                    sock.sendall(b"PONG\r\n")

    thread = threading.Thread(target=be_old, daemon=True)
    thread.start()
    with pytest.raises(InterlockError, match=r"server is 2\.9\.10, which is too old\. Use nats-server 2\.12"):
        HubClient(Hub(url=f"nats://127.0.0.1:{port}"))
    thread.join(150)
    listener.close()


def test_a_hub_that_is_not_there_is_one_clear_error() -> None:
    with keep_port() as nobody, pytest.raises(InterlockError, match="cannot be reached"):
        HubClient(Hub(url=f"nats://127.0.0.1:{nobody.getsockname()[1]}"))


def test_a_server_without_jetstream_is_one_clear_error() -> None:
    with Broker.without_streams() as plain, pytest.raises(InterlockError, match="no JetStream"):
        HubClient(plain.settings)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        (Hub(), "no hub is configured"),
        (Hub(url="http://x"), "is not a hub address"),
        (Hub(url="nats://me:secret@host:4222"), "has credentials in it"),
        (Hub(url="nats://h:1", token_file="/no/such/file"), "there is no file"),
        (Hub(url="nats://h:1", credentials_file="/no/such/file"), "there is no file"),
        (Hub(url="nats://h:1", tls={"password": "x"}), "hub.tls has no 'password'"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: Hub, what: str) -> None:
    with pytest.raises(BadInput, match=what):
        HubClient(settings)


def test_a_token_comes_from_a_file(quick_root: Path) -> None:
    token = quick_root / "token"
    token.write_text("open sesame\n")
    with Broker(quick_root / "js", "--auth", "open sesame") as broker:
        with pytest.raises(InterlockError, match="cannot be reached"):
            HubClient(broker.settings)
        with HubClient(Hub(url=broker.url, token_file=str(token))) as client:
            assert client.runs() == []


def test_tls_with_files_of_ones_own(quick_root: Path) -> None:
    key, cert = quick_root / "key.pem", quick_root / "cert.pem"
    subprocess.run(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost "
        f"-addext subjectAltName=IP:127.0.0.1 -keyout {key} -out {cert}",
        shell=True,
        check=True,
        capture_output=True,
    )
    options = ("--tls", "--tlscert", str(cert), "--tlskey", str(key), "--tlsverify", "--tlscacert", str(cert))
    with Broker(quick_root / "js", *options) as broker:
        files = {"ca_file": str(cert), "cert_file": str(cert), "key_file": str(key)}
        with HubClient(Hub(url=broker.url.replace("nats:", "tls:"), tls=files)) as client:
            assert client.runs() == []
        with pytest.raises(InterlockError, match="cannot be reached"):
            HubClient(Hub(url=broker.url.replace("nats:", "tls:")))


def test_a_credentials_file_is_used(quick_root: Path) -> None:
    from .creds import make_account

    config, creds = make_account(quick_root)
    with Broker(quick_root / "js", "-c", str(config)) as broker:
        with pytest.raises(InterlockError, match="cannot be reached"):
            HubClient(broker.settings)
        with HubClient(Hub(url=broker.url, credentials_file=str(creds))) as client:
            assert client.runs() == []
