"""A hub that is not friendly: strays, poison, floods, small limits, servers that are gone. The run stays reachable."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.config.schema import Hub
from interlock.control import new_request
from interlock.core import BadInput, InterlockError
from interlock.journal import JournalEntry
from interlock.link.hub_client import HubClient
from interlock.link.hub_connect import open_session
from interlock.link.hub_endpoint import HubLink
from interlock.link.hub_session import (
    RUNS_STREAM,
    STREAM,
    HubSession,
    LoopThread,
    SessionLost,
    control_subject,
    record_subject,
    run_subject,
    stored_subject,
)
from interlock.link.hub_streams import read_all
from interlock.link.request_queue import MOST, RequestQueue

from ..control.owner import make
from ..waiting import eventually
from .broker import Broker, keep_port
from .owned import Owned
from .test_hub import ask


@pytest.fixture
def broker(quick_root: Path) -> Iterator[Broker]:
    with Broker(quick_root / "js") as running:
        yield running


class Stranger:
    """Somebody with a connection, and no manners."""

    def __init__(self, settings: Hub) -> None:
        self._thread = LoopThread("stranger")
        self.session: HubSession = self._thread.run(open_session(settings, "stranger"))

    def send(self, subject: str, data: bytes, **headers: str) -> None:
        async def publish() -> None:
            await self.session.client.publish(subject, data, headers=headers or None)
            await self.session.client.flush()

        self._thread.run(publish())

    def run(self, work: Any) -> Any:
        return self._thread.run(work)

    def close(self) -> None:
        self._thread.run(self.session.close())
        self._thread.close()


@pytest.fixture
def stranger(broker: Broker) -> Iterator[Stranger]:
    made = Stranger(broker.settings)
    yield made
    made.close()


def test_strays_and_poison_are_put_aside_and_the_run_stays_reachable(
    broker: Broker, quick_root: Path, stranger: Stranger
) -> None:
    stranger.send(record_subject("run-1"), b"poison", **{"Interlock-Seq": "x"})
    stranger.send(run_subject("run-1"), b"\xff\xfe", **{"Interlock-Seq": "-1"})
    with Owned(quick_root) as owned, HubClient(broker.settings) as elsewhere:
        link = HubLink(broker.settings, owned.endpoint, owned.journal)
        link.start()
        eventually(lambda: link.problem == "")
        for headers in ({}, {"Nats-Sequence": "x"}, {"Nats-Sequence": "7", "Nats-Time-Stamp": "yesterday"}):
            stranger.send(stored_subject("run-1"), b"stray", **headers)
        stranger.send(record_subject("run-1"), b"{}", **{"Interlock-Seq": "99999999999999999999"})
        stranger.send(control_subject("run-1"), b"\x00" * 100)
        assert ask(elsewhere, "pause").outcome == "success"
        eventually(lambda: len(elsewhere.records("run-1")) >= 4)
        stranger.send(run_subject("run-1"), b"junk")
        eventually(lambda: elsewhere.runs() and elsewhere.refused["a row that cannot be read"] == 1)
        assert [run.summary.run_id for run in elsewhere.runs()] == ["run-1"], "by its newest STATE"
        eventually(lambda: any(row["what"] == "quarantined" for row in owned.audits()))
        assert owned.endpoint.counts["", "quarantined"] >= 3
        broker.kill()
        eventually(lambda: link.problem != "")
        broker.start()
        eventually(lambda: link.problem == "")
        assert ask(elsewhere, "resume").outcome == "success", "the cursor is found again in spite of the poison"
        link.close()


def test_an_answer_is_published_to_an_inbox_and_nowhere_else(
    broker: Broker, quick_root: Path, stranger: Stranger
) -> None:
    """Else a stranger has the owner publish to the server's own API, with the owner's rights."""
    with Owned(quick_root) as owned:
        link = HubLink(broker.settings, owned.endpoint, owned.journal)
        link.start()
        eventually(lambda: link.problem == "")
        stranger.send(
            control_subject("run-1"), make("pause", id="p"), **{"Interlock-Reply": f"$JS.API.STREAM.DELETE.{STREAM}"}
        )
        eventually(lambda: owned.endpoint.state.status == "paused")
        with HubClient(broker.settings) as elsewhere:
            assert ask(elsewhere, "resume").outcome == "success"
        link.close()


@pytest.mark.parametrize("copies", [4_000, pytest.param(20_000, marks=pytest.mark.torture)])
def test_a_flood_of_requests_does_not_keep_a_cancel_from_arriving(
    broker: Broker, quick_root: Path, stranger: Stranger, copies: int
) -> None:
    with Owned(quick_root) as owned, HubClient(broker.settings) as elsewhere:
        link = HubLink(broker.settings, owned.endpoint, owned.journal)
        link.start()
        eventually(lambda: link.problem == "")

        async def flood() -> None:
            for number in range(copies):
                await stranger.session.client.publish(
                    control_subject("run-1"), make("pause" if number % 2 else "resume", id=f"flood-{number}")
                )
            await stranger.session.client.flush()

        stranger.run(flood())
        answer = ask(elsewhere, "cancel", timeout=150)
        assert (answer.outcome, answer.attempts) == ("success", 1), "the first copy arrived"
        assert owned.endpoint.state.status == "aborted"
        link.close()


def test_a_cancel_overtakes_and_nothing_else_does() -> None:
    queue: RequestQueue[str] = RequestQueue()
    for command in ("resume", "pause", "cancel"):
        assert queue.put(make(command, id=command), "a", command)
    assert [queue.pop(), queue.pop(), queue.pop(), queue.pop()] == ["cancel", "resume", "pause", None]


def test_one_sender_cannot_fill_the_queue_for_the_others() -> None:
    queue: RequestQueue[int] = RequestQueue()
    body = make("pause", id="p")
    assert all(queue.put(body, "flood", number) for number in range(MOST))
    assert not queue.put(body, "flood", 0)
    assert queue.put(body, "somebody", 1) and queue.put(make("cancel", id="c"), "flood", 2)


def test_records_larger_than_the_servers_limit_are_cut_with_a_word(quick_root: Path) -> None:
    config = quick_root / "small.conf"
    config.write_text("max_payload: 65536\n")
    with Broker(quick_root / "js", "-c", str(config)) as broker, Owned(quick_root) as owned:
        owned.journal.append([JournalEntry("message", {"text": "x" * 200_000}), JournalEntry("message", {"text": "y"})])
        link = HubLink(broker.settings, owned.endpoint, owned.journal)
        link.start()
        with HubClient(broker.settings) as elsewhere:
            eventually(lambda: [r for r in elsewhere.records("run-1") if r.kind == "audit"])
            found = elsewhere.records("run-1")
            assert [record.seq for record in found] == list(range(1, len(found) + 1))
            assert b'"too_large":2000' in bytes(next(r for r in found if r.kind == "message").body)
            assert any("too long for the hub" in str(row.get("problem")) for row in owned.audits())
            assert ask(elsewhere, "pause").outcome == "success"
            with pytest.raises(BadInput, match="max_payload"):
                elsewhere.ask(new_request("long", "pause", "run-1", reason="x" * 65_000))
        link.close()


@pytest.mark.parametrize("scheme", ["tls", "nats"])
def test_no_token_goes_to_a_server_without_tls_where_tls_was_asked_for(quick_root: Path, scheme: str) -> None:
    token = quick_root / "token"
    token.write_text("open sesame\n")
    listener, heard = socket.create_server(("127.0.0.1", 0)), []
    port = listener.getsockname()[1]

    def listen() -> None:
        sock, _ = listener.accept()
        sock.sendall(b'INFO {"server_id":"x","version":"2.15.1","headers":true,"max_payload":1048576,"proto":1}\r\n')
        sock.settimeout(150)
        with sock:
            while data := sock.recv(65536):
                heard.append(data)

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    tls = {}
    if scheme == "nats":
        tls = {"ca_file": str(_certificate(quick_root))}
    with pytest.raises(InterlockError, match="does not use TLS"):
        HubClient(Hub(url=f"{scheme}://127.0.0.1:{port}", token_file=str(token), tls=tls, unsigned=True))
    thread.join(150)
    listener.close()
    assert b"".join(heard) == b""


def _certificate(place: Path) -> Path:
    cert = place / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-keyout", str(place / "key.pem"), "-out", str(cert)],
        check=True, capture_output=True,
    )  # fmt: skip
    return cert


def test_the_same_request_gets_the_same_answer_as_long_as_it_is_promised(
    broker: Broker, quick_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Owned(quick_root) as owned, HubClient(broker.settings) as elsewhere:
        link = HubLink(broker.settings, owned.endpoint, owned.journal)
        link.start()
        assert ask(elsewhere, "cancel").outcome == "success"
        link.close()
        broker_time = HubSession.broker_time
        for later, outcome in ((290, "success"), (400, "failure")):
            monkeypatch.setattr(HubSession, "broker_time", lambda session, later=later: broker_time(session) + later)
            assert ask(elsewhere, "cancel").outcome == outcome, f"{later} s later"


def test_one_address_that_answers_is_enough(broker: Broker) -> None:
    kept = [keep_port() for _ in range(2)]
    dead = [f"nats://127.0.0.1:{sock.getsockname()[1]}" for sock in kept]
    for _ in range(4):
        with HubClient(Hub(url=f"{dead[0]},{broker.url}", unsigned=True)) as client:
            assert client.runs() == []
    with pytest.raises(InterlockError, match="no server of the hub can be used") as caught:
        HubClient(Hub(url=",".join(dead), unsigned=True))
    assert all(url in str(caught.value) for url in dead), "each of them is named"
    for sock in kept:
        sock.close()


def test_no_status_is_taken_for_emptiness(broker: Broker, stranger: Stranger) -> None:
    async def read() -> list[object]:
        return [message async for message in read_all(stranger.session, "loop:run.*", stream="NONESUCH")]

    with pytest.raises(SessionLost, match="503"):
        stranger.run(read())


def test_a_stream_that_was_deleted_is_a_lost_session(stranger: Stranger) -> None:
    assert stranger.run(stranger.session.api(f"STREAM.DELETE.{STREAM}", {}))["success"]
    with pytest.raises(SessionLost, match=r"does not have its stream \(stream not found\)"):
        stranger.run(stranger.session.set_clock())


@pytest.mark.parametrize("stream", [STREAM, RUNS_STREAM])
def test_a_run_whose_stream_somebody_deletes_is_listed_and_steered_again(
    broker: Broker, stranger: Stranger, quick_root: Path, stream: str
) -> None:
    with Owned(quick_root) as owned, HubClient(broker.settings) as elsewhere:
        link = HubLink(broker.settings, owned.endpoint, owned.journal)
        link.start()
        assert ask(elsewhere, "pause").outcome == "success"
        eventually(lambda: len(elsewhere.runs()) == 1)
        assert stranger.run(stranger.session.api(f"STREAM.DELETE.{stream}", {}))["success"]

        def is_listed() -> bool:
            with contextlib.suppress(InterlockError):
                return len(elsewhere.runs()) == 1
            return False

        eventually(is_listed)
        assert ask(elsewhere, "resume").outcome == "success"
        link.close()


def test_runs_leave_no_consumer_behind(broker: Broker, quick_root: Path, stranger: Stranger) -> None:
    for number in range(3):
        with Owned(quick_root / str(number), run_id=f"run-{number}") as owned, HubClient(broker.settings) as elsewhere:
            link = HubLink(broker.settings, owned.endpoint, owned.journal)
            link.start()
            assert ask(elsewhere, "cancel", run=f"run-{number}").outcome == "success"
            elsewhere.runs(), elsewhere.records(f"run-{number}")
            link.close()
    assert stranger.run(stranger.session.api(f"STREAM.INFO.{STREAM}", {}))["state"]["consumer_count"] == 0


def test_a_stream_of_an_older_version_is_brought_up_to_date(broker: Broker, quick_root: Path) -> None:
    async def make_old() -> None:
        import nats

        client = await nats.connect(broker.url)
        subjects = ["loop:control.*", "loop:current.*", "loop:record.*", "loop:summary.*"]
        await client.jetstream().add_stream(name=STREAM, subjects=subjects)
        await client.close()

    asyncio.run(make_old())
    with Owned(quick_root) as owned, HubClient(broker.settings) as elsewhere:
        link = HubLink(broker.settings, owned.endpoint, owned.journal)
        link.start()
        assert ask(elsewhere, "pause").outcome == "success"
        link.close()


def test_a_hub_that_is_away_is_told_in_the_journal(quick_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interlock.link.outbox.TELL_AFTER_S", 0.0)
    broker = Broker(quick_root / "js")
    with Owned(quick_root) as owned:
        link = HubLink(broker.settings, owned.endpoint, owned.journal)
        link.start()
        eventually(lambda: any(row["what"] == "hub_away" for row in owned.audits()))
        with broker:
            eventually(lambda: any(row["what"] == "hub_back" for row in owned.audits()))
        link.close()


def test_a_journal_that_cannot_be_written_delays_a_request_and_does_not_lose_it(
    broker: Broker, quick_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Owned(quick_root) as owned, HubClient(broker.settings) as elsewhere:
        link = HubLink(broker.settings, owned.endpoint, owned.journal)
        link.start()
        eventually(lambda: link.problem == "")
        receive, failures = owned.endpoint.receive, []

        def fail_twice(*given: Any, **more: Any) -> None:
            if len(failures) < 2:
                failures.append(time.monotonic())
                raise InterlockError("no space left on device")
            receive(*given, **more)

        monkeypatch.setattr(owned.endpoint, "receive", fail_twice)
        assert ask(elsewhere, "pause").outcome == "success" and len(failures) == 2
        link.close()


@pytest.fixture
def small_disk(quick_root: Path) -> Iterator[Path]:
    disk = quick_root / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("no tmpfs may be mounted here")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def test_a_hub_whose_disk_was_full_works_again_after_a_restart(small_disk: Path, quick_root: Path) -> None:
    with Broker(small_disk) as broker, Owned(quick_root / "runs") as owned, HubClient(broker.settings) as elsewhere:
        link = HubLink(broker.settings, owned.endpoint, owned.journal)
        link.start()
        assert ask(elsewhere, "pause").outcome == "success"
        filler = small_disk / "filler"
        notices: list[str] = []
        # The hub's files have room in the pages that are theirs already, and it deletes some of them as it goes:
        # so the disk is filled up again before each request, until one no longer fits.
        for number in range(100):
            with contextlib.suppress(OSError), filler.open("ab", buffering=0) as file:
                while True:
                    file.write(b"\0" * 4096)
            answer = ask(elsewhere, "resume", number, timeout=6, notice=notices.append)
            if answer.outcome == "unknown":
                break
        assert answer.outcome == "unknown" and "no reply" in answer.message
        assert any("no reply within 5 s" in words or "rejected" in words for words in notices), notices
        filler.unlink()
        broker.kill()
        broker.start()
        assert ask(elsewhere, "pause", 100).outcome != "unknown"
        eventually(lambda: len(elsewhere.records("run-1")) == owned.journal.reader().count())
        link.close()
