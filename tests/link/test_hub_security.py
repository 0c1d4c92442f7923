"""A stranger on the hub cannot steer, answer, hide or cut off a run; each role can do its own work and no other."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from interlock.config.schema import Hub
from interlock.control import Done, RequestOutcome, Result, ResultPayload, Target, encode, new_request
from interlock.core import InterlockError
from interlock.core.keys import SigningKey, TrustedKey, create_key, write_trusted
from interlock.journal.verify import verify_journal
from interlock.link.hub_client import HubClient
from interlock.link.hub_endpoint import HubLink
from interlock.link.hub_permissions import server_config
from interlock.link.hub_session import (
    RUNS_STREAM,
    STREAM,
    control_subject,
    current_subject,
    record_subject,
    run_subject,
    stored_subject,
)

from ..control.owner import make
from ..waiting import eventually
from .broker import Broker
from .owned import Owned
from .test_hub import ask
from .test_hub_hardening import Stranger


class People:
    """Keys for everybody, a file of trusted ones, and the settings of each."""

    def __init__(self, place: Path, **roles: str) -> None:
        self.place, self.keys = place, {}
        for name in (*roles, "mallory"):
            self.keys[name] = create_key(place / name)
        self.trusted = [TrustedKey(self.keys[name].public, tuple(roles[name].split(",")), name) for name in roles]  # type: ignore[arg-type]
        write_trusted(self.trusted, place / "trusted")

    def settings(self, name: str, url: str) -> Hub:
        return Hub(url=url, key_file=str(self.place / name), trusted_file=str(self.place / "trusted"))


@pytest.fixture
def people(quick_root: Path) -> People:
    return People(quick_root, owner="owner", alice="controller", eve="viewer")


@pytest.fixture
def open_broker(quick_root: Path) -> Iterator[Broker]:
    """A server that lets everybody do everything: signatures alone have to do."""
    with Broker(quick_root / "js") as running:
        yield running


@pytest.fixture
def owned(open_broker: Broker, quick_root: Path, people: People) -> Iterator[Owned]:
    with Owned(quick_root / "runs") as made:
        link = HubLink(people.settings("owner", open_broker.url), made.endpoint, made.journal)
        link.start()
        eventually(lambda: link.problem == "")
        yield made
        link.close()


@pytest.fixture
def alice(open_broker: Broker, people: People) -> Iterator[HubClient]:
    with HubClient(people.settings("alice", open_broker.url)) as client:
        yield client


@pytest.fixture
def mallory(open_broker: Broker) -> Iterator[Stranger]:
    made = Stranger(open_broker.settings)
    yield made
    made.close()


def test_a_signed_request_is_obeyed_and_its_sender_named(owned: Owned, alice: HubClient) -> None:
    assert ask(alice, "pause").outcome == "success"
    (request,) = [msgspec.json.decode(r.body) for r in owned.records(frozenset({"request"}))]
    assert request["actor"] == "hub: alice"


def test_requests_of_strangers_are_refused_counted_and_told(
    owned: Owned, alice: HubClient, mallory: Stranger, people: People, open_broker: Broker
) -> None:
    mallory.send(control_subject("run-1"), make("cancel", id="unsigned"))
    for name in ("eve", "mallory"):
        # The keys of a viewer and of a stranger: neither of them may steer.
        sign_and_send(mallory, people.keys[name], control_subject("run-1"), make("cancel", id=f"by-{name}"))
    good = people.keys["alice"]
    sign_and_send(mallory, good, control_subject("run-2"), make("cancel", id="another"), to=control_subject("run-1"))
    sign_and_send(mallory, good, control_subject("run-1"), make("cancel", id="old"), earlier=3600)
    sign_and_send(mallory, good, control_subject("run-1"), make("pause", id="x"), instead=make("cancel", id="x"))
    assert ask(alice, "pause").outcome == "success"
    assert owned.endpoint.state.status == "paused"
    eventually(lambda: owned.endpoint.counts["", "quarantined"] == 6)
    told = [str(row["problem"]) for row in owned.audits() if row["what"] == "quarantined"]
    for words in ("no signature", "not trusted as controller", "signature is wrong", "replay:"):
        assert any(words in problem for problem in told), words


def sign_and_send(
    mallory: Stranger,
    key: SigningKey,
    subject: str,
    data: bytes,
    *,
    to: str | None = None,
    earlier: float = 0.0,
    instead: bytes | None = None,
) -> None:
    """A message that this key signed, perhaps for another subject, long ago, or with another body."""
    from interlock.core.keys import KeyRing
    from interlock.link.hub_signing import Signing

    now = mallory.session.broker_time() - earlier
    mallory.send(to or subject, instead or data, **Signing(KeyRing((), key)).headers(subject, data, now))


def test_a_request_sent_again_takes_effect_once(owned: Owned, alice: HubClient, mallory: Stranger) -> None:
    assert ask(alice, "pause").outcome == "success"
    assert ask(alice, "resume").outcome == "success"
    recorded = mallory.run(mallory.session.get(STREAM, next_by_subj=control_subject("run-1"), seq=1))
    mallory.send(control_subject("run-1"), recorded.data, **{**recorded.headers, "Nats-Msg-Id": "again"})
    assert ask(alice, "pause", 2).outcome == "success", "it was still running"


def test_a_strangers_result_is_not_believed(owned: Owned, alice: HubClient, mallory: Stranger) -> None:
    answers: list[RequestOutcome] = []
    request = new_request("forged", "pause", "run-1")
    # The run does not get the request: whoever answers is not the run.
    owned.endpoint.close()
    hold = threading.Event()
    owned.endpoint.receive = lambda *_, **__: hold.wait(150)  # type: ignore[assignment,method-assign]
    asking = threading.Thread(target=lambda: answers.append(alice.ask(request, timeout=3)))
    asking.start()
    eventually(lambda: mallory.run(mallory.session.get(STREAM, last_by_subj=control_subject("run-1"))) is not None)
    sent = mallory.run(mallory.session.get(STREAM, last_by_subj=control_subject("run-1")))
    forged = encode(
        Result(
            schema=0, request_id="forged", command="pause", target=Target("run-1"),
            timestamp="2026-01-01T00:00:00Z", payload=ResultPayload(status="success", message="paused"),
        )
    )  # fmt: skip
    mallory.send(sent.headers["Interlock-Reply"], forged)
    mallory.send(control_subject("run-1"), forged, **{"Interlock-Seq": "5"})
    asking.join()
    hold.set()
    assert answers[0].outcome == "unknown" and "not accepted: no signature" in answers[0].message


def test_a_forged_end_and_a_forged_row_hide_nothing(owned: Owned, alice: HubClient, mallory: Stranger) -> None:
    eventually(lambda: len(alice.runs()) == 1)
    forged = encode(
        Done(schema=1, reason="COMPLETE", stack=(), run_id="run-1", updated_at="2026-01-01T00:00:00Z", seq=9)
    )
    mallory.send(current_subject("run-1"), forged, **{"Interlock-Seq": "9"})
    mallory.send(run_subject("run-1"), b'{"summary":{"run_id":"run-1","status":"done"},"host":"x","pid":1}')
    mallory.send(record_subject("run-1"), b"{}", **{"Interlock-Seq": "2"})
    eventually(lambda: alice.runs() and alice.refused["no signature"] == 1)
    assert [run.status for run in alice.runs()] == ["running"]
    assert b"STATE" in (alice.current("run-1") or b"")
    assert ask(alice, "cancel").outcome == "success" and owned.endpoint.state.status == "aborted"


def test_an_old_row_that_is_sent_again_does_not_count(
    owned: Owned, alice: HubClient, mallory: Stranger, people: People
) -> None:
    eventually(lambda: len(alice.runs()) == 1)
    old = mallory.run(mallory.session.get(RUNS_STREAM, last_by_subj=run_subject("run-1")))
    assert ask(alice, "pause").outcome == "success"
    eventually(lambda: b"paused" in (alice.current("run-1") or b""))
    sign_and_send(mallory, people.keys["owner"], run_subject("run-1"), old.data, earlier=3600)
    eventually(lambda: alice.runs() and any("replay:" in why for why in alice.refused))
    assert [run.status for run in alice.runs()] == ["paused"], "by its newest signed STATE"


class Guarded:
    """A server with the generated configuration, and somebody on it who sees everything."""

    def __init__(self, place: Path, people: People) -> None:
        config = place / "hub.conf"
        self.broker = Broker(None, "-c", str(config))
        text = server_config(people.trusted, f"127.0.0.1:{self.broker.port}", str(place / "guarded"))
        config.write_text(text.replace("users: [", 'users: [ { user: "all", password: "seeing" },'))
        self.people = people

    def published(self, name: str, subjects: list[str], expected: list[str]) -> list[str]:
        """To which of these a key can publish, by what arrives; what is expected may need several tries."""
        return asyncio.run(self._pass_on(name, subjects, from_role=True, expected=expected))

    def heard(self, name: str, subjects: list[str]) -> list[str]:
        """To which of these a key can listen, by what arrives."""
        return asyncio.run(self._pass_on(name, subjects, from_role=False))

    async def _pass_on(
        self, name: str, subjects: list[str], *, from_role: bool, expected: list[str] | None = None
    ) -> list[str]:
        import nats

        async def ignore(_: Exception) -> None:
            """The server says which are refused; what counts is what arrives."""

        everyone = await nats.connect(self.broker.url, user="all", password="seeing")
        role = await nats.connect(self.broker.url, nkeys_seed_str=self.people.keys[name].seed, error_cb=ignore)
        sender, listener = (role, everyone) if from_role else (everyone, role)
        arrived: list[str] = []
        listening = []
        for subject in (*subjects, *(("over",) if from_role else ())):

            async def hear(message: object, subject: str = subject) -> None:
                arrived.append(subject)

            listening.append(await listener.subscribe(subject, cb=hear))
        await listener.flush()
        # The last one always arrives: a role hears its own inbox. A client that was refused may connect anew meanwhile.
        last = {*(expected or ()), "over" if from_role else subjects[-1]}
        async with asyncio.timeout(60):
            while not last <= set(arrived):
                for subject in subjects:
                    await sender.publish(subject.replace("*", "run-1").replace(">", "x"), b"{}")
                await sender.flush()
                if from_role:
                    await everyone.publish("over", b"{}")
                await asyncio.sleep(0.2)
            while any(each.pending_msgs for each in listening):
                await asyncio.sleep(0.01)
        await role.close()
        await everyone.close()
        return [subject for subject in subjects if subject in arrived]


@pytest.fixture
def guarded(quick_root: Path, people: People) -> Iterator[Guarded]:
    made = Guarded(quick_root, people)
    with made.broker:
        yield made


def test_with_the_generated_configuration_each_role_does_its_work(
    guarded: Guarded, quick_root: Path, people: People
) -> None:
    url = guarded.broker.url
    with Owned(quick_root / "runs") as owned:
        link = HubLink(people.settings("owner", url), owned.endpoint, owned.journal)
        link.start()
        eventually(lambda: link.problem == "")
        with HubClient(people.settings("alice", url)) as alice, HubClient(people.settings("eve", url)) as eve:
            assert ask(alice, "pause").outcome == "success"
            eventually(lambda: [run.summary.run_id for run in eve.runs()] == ["run-1"])
            eventually(lambda: len(eve.records("run-1")) >= 4)
            assert b"paused" in (eve.current("run-1") or b"")
            assert ask(eve, "resume", timeout=2).outcome == "unknown" and owned.endpoint.state.status == "paused"
            assert ask(alice, "cancel").outcome == "success"
        link.close()


def test_a_stranger_does_not_get_in(guarded: Guarded, people: People) -> None:
    for settings in (people.settings("mallory", guarded.broker.url), guarded.broker.settings):
        with pytest.raises(InterlockError, match=r"cannot be reached.*uthorization"):
            HubClient(settings)


DESTROY = [
    f"$JS.API.STREAM.{verb}.{name}" for verb in ("DELETE", "PURGE", "MSG.DELETE") for name in (STREAM, RUNS_STREAM)
]
CONSUME = [f"$JS.API.CONSUMER.CREATE.{STREAM}", f"$JS.API.CONSUMER.DURABLE.CREATE.{STREAM}.x", "$JS.API.STREAM.NAMES"]
ANSWER = ["loop:current.run-1", "loop:record.run-1", "loop:run.run-1", "_INBOX.somebody.x"]
STEER = ["loop:control.run-1"]
CHANGE = [f"$JS.API.STREAM.{verb}.{STREAM}" for verb in ("CREATE", "UPDATE")]
FAKE = [stored_subject("run-1"), "$SYS.REQ.SERVER.PING", "elsewhere"]


@pytest.mark.parametrize(("name", "may"), [("eve", []), ("alice", STEER), ("owner", [*STEER, *ANSWER, *CHANGE])])
def test_what_a_role_may_publish(guarded: Guarded, name: str, may: list[str]) -> None:
    every = [*STEER, *ANSWER, *CHANGE, *DESTROY, *CONSUME, *FAKE]
    assert guarded.published(name, every, may) == may


@pytest.mark.parametrize(("name", "may"), [("eve", []), ("alice", ["loop:control.*"]), ("owner", ["stored:control.*"])])
def test_what_a_role_may_hear(guarded: Guarded, people: People, name: str, may: list[str]) -> None:
    others = f"_INBOX.{people.keys['mallory'].public}.>"
    every = ["loop:control.*", "stored:control.*", "loop:record.*", "_INBOX.>", others, "$JS.>", ">"]
    own = f"_INBOX.{people.keys[name].public}.>"
    assert guarded.heard(name, [*every, own]) == [*may, own]


def test_a_missing_right_is_one_clear_error(guarded: Guarded, people: People) -> None:
    """Nobody but an owner may make the streams."""
    with pytest.raises(InterlockError, match=r"rejected this key|does not respond"):
        HubClient(people.settings("eve", guarded.broker.url))


def test_a_journal_whose_end_was_cut_is_noticed_where_the_hub_has_seen_it(
    open_broker: Broker, quick_root: Path, people: People
) -> None:
    settings = people.settings("owner", open_broker.url)
    with Owned(quick_root / "runs") as owned:
        link = HubLink(settings, owned.endpoint, owned.journal)
        link.start()
        early = (quick_root / "early").resolve()
        owned.journal.flush()
        shutil.copytree(owned.folder.path, early)
        with HubClient(settings) as client:
            assert ask(client, "pause").outcome == "success"
            owned.journal.append([], durable=True)
            last = owned.journal.reader().count()
            eventually(lambda: any(head.seq >= last for head in client.heads("run-1")))
            heads = client.heads("run-1")
        link.close()
    assert verify_journal(owned.folder, heads).intact
    # The machine's own administrator puts an earlier, correctly signed copy in its place.
    for file in owned.folder.path.glob("journal*"):
        file.unlink()
    for file in early.glob("journal*"):
        shutil.copy(file, owned.folder.path)
    assert verify_journal(owned.folder).intact, "by itself it is in order"
    found = verify_journal(owned.folder, heads)
    assert not found.intact and "end is missing" in found.damage[0].what, found
