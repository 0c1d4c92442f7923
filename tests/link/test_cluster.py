"""A cluster of three servers under fault, while owners and controllers die: nothing lost, doubled, reordered or untrue."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from interlock.config.schema import Hub
from interlock.core import InterlockError, Record
from interlock.link import hub_endpoint
from interlock.link.hub_client import HubClient
from interlock.link.hub_connect import open_session
from interlock.link.hub_endpoint import HubLink
from interlock.link.hub_streams import SUBJECTS

from ..waiting import eventually
from .cluster import SIZE, Cluster
from .cluster_torture import FAULTS, ClusterTorture
from .linearizability import judge
from .owned import Owned
from .test_hub import ask


def torture(place: Path, seed: int, faults: int, commands: int, controllers: int, threads: int) -> None:
    made = ClusterTorture(place, seed, controllers=controllers, threads=threads)
    made.run(faults, commands)
    answered, unknown = made.judge()
    print(f"{answered:,} commands, {unknown} unknown; {made.happened.total()} faults: {dict(made.happened)}")
    assert answered >= commands and made.happened.total() == faults
    assert set(made.happened) | made.missing == set(FAULTS) or faults < len(FAULTS)


def test_a_cluster_under_a_fault(quick_root: Path) -> None:
    torture(quick_root, 34, faults=1, commands=20, controllers=1, threads=3)


@pytest.mark.torture
@pytest.mark.timeout(3600)
def test_a_cluster_under_two_hundred_faults(quick_root: Path) -> None:
    torture(quick_root, 1, faults=200, commands=20_000, controllers=3, threads=5)


def test_streams_get_as_many_copies_as_configured_also_those_that_exist(
    quick_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_endpoint, "CATCH_UP_S", 0.5)
    monkeypatch.setattr(hub_endpoint, "COPIES_S", 0.5)

    async def copies(settings: Hub) -> set[int]:
        """Connect as an owner does; how many copies each stream is kept in then."""
        session = await open_session(settings, "replicas", owner=True)
        try:
            infos = [await session.api(f"STREAM.INFO.{name}", {}) for name in SUBJECTS]
            return {info["config"]["num_replicas"] for info in infos}
        finally:
            await session.close()

    with Cluster(quick_root / "hub", at_first=SIZE - 1) as cluster, Owned(quick_root / "runs") as owned:
        settings = cluster.settings
        assert asyncio.run(copies(settings)) == {1}, "two servers are too few for three copies"
        link = HubLink(settings, owned.endpoint, owned.journal)
        link.start()
        with HubClient(settings) as elsewhere:
            assert ask(elsewhere, "pause").outcome == "success"
            cluster.start(SIZE - 1)
            eventually(cluster.is_whole)  # The owner has asked for the copies again.
            assert asyncio.run(copies(structs.replace(settings, replicas=1))) == {1}
            assert asyncio.run(copies(structs.replace(settings, replicas=SIZE))) == {SIZE}
            with pytest.raises(InterlockError, match="cannot keep 5 copies"):
                asyncio.run(copies(structs.replace(settings, replicas=5)))
            eventually(cluster.is_whole)
            eventually(lambda: len(elsewhere.records("run-1")) == owned.journal.reader().count())
            cluster.kill(cluster.leader() or 0)
            assert ask(elsewhere, "resume", timeout=150).outcome == "success", "although the leader is gone"
            eventually(lambda: len(elsewhere.records("run-1")) == owned.journal.reader().count())
        link.close()


def _record(seq: int, kind: str, **body: object) -> Record:
    return Record(seq=seq, run_id="r", time=float(seq), kind=kind, body=msgspec.Raw(msgspec.json.encode(body)))


def _result(seq: int, request_id: str, command: str, status: str = "success") -> Record:
    code = {} if status == "success" else {"code": "invalid_state"}
    return _record(seq, "result", request_id=request_id, command=command, payload={"status": status, **code})


def _asked(
    asked: float, told: float, outcome: str = "success", code: str | None = None, command: str = "pause"
) -> dict[str, object]:
    return {"asked": asked, "told": told, "outcome": outcome, "code": code, "command": command}


ENDED = [_result(1, "c", "cancel")]
GOOD = [_result(1, "p", "pause"), _result(2, "r", "resume")]


@pytest.mark.parametrize(
    ("records", "operations", "notes", "what"),
    [
        (GOOD, {"p": _asked(1, 2), "r": _asked(3, 4)}, ["tick 0 0.1", "shut 2", "open 3", "tick 3.1 3.2"], None),
        (GOOD, {"p": _asked(1, 9), "r": _asked(1, 9)}, [], None),
        (ENDED, {"c": _asked(1, 4, command="cancel"), "x": _asked(2, 3, "failure", "not_found")}, [], None),
        (ENDED, {"c": _asked(5, 6, command="cancel"), "x": _asked(2, 3, "failure", "not_found")}, [], "untrue"),
        ([*ENDED, _result(2, "q", "pause", "failure")], {}, [], "illegal"),
        ([*GOOD, _result(3, "p", "pause")], {}, [], "doubled"),
        ([_result(1, "r", "resume")], {}, [], "illegal"),
        ([_result(1, "p", "pause"), _result(2, "q", "pause", "failure")], {}, [], None),
        ([_record(1, "ack", request_id="a"), _result(2, "c", "pause")], {}, [], "lost"),
        (GOOD, {"x": _asked(1, 2)}, [], "untrue"),
        (GOOD, {"p": _asked(1, 2, "failure", "not_found")}, [], "untrue"),
        (GOOD, {"p": _asked(5, 6), "r": _asked(1, 2)}, [], "reordered"),
        (GOOD, {}, ["shut 2", "tick 2.1 2.2", "open 3"], "a step"),
        (GOOD, {}, ["shut 2", "open 3", "shut 4", "tick 4.1 4.2"], "a step"),
    ],
)  # fmt: skip
def test_the_judge_is_not_blind(records: list[Record], operations: dict, notes: list[str], what: str | None) -> None:
    found = judge(records, operations, notes)
    assert (found == []) if what is None else any(words.startswith(what) for words in found), found
