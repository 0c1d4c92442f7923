"""All runs in rows: what changed is read again, what did not is remembered."""

import os
import shutil

from interlock.core import InterlockError, RunSpec
from interlock.journal import Journal, RunSummary, Store
from interlock.link.outbox import RemoteRun
from interlock.report import Fleet, fleet
from tests.report.runs import folder_of, scripted_run


def test_rows_show_live_ended_lost_and_unreadable_runs(tmp_path):
    live = scripted_run(tmp_path, 30, close=False)
    ended = scripted_run(tmp_path, 10)
    lost = Store(tmp_path).create(RunSpec(run_id="lost-one"))
    broken = Store(tmp_path).create(RunSpec(run_id="broken"))
    broken.journal.write_bytes(b"this is no database" * 100)
    rows = {row.run_id: row for row in Fleet(Store(tmp_path)).rows()}
    assert rows[live.run.spec.run_id].status == "running"
    assert rows[ended.run.spec.run_id].status == "done"
    assert rows[lost.run_id].status == "lost"
    assert rows["broken"].status == "unreadable"
    assert rows["broken"].problem
    assert not rows["broken"].live
    live.close()


def test_a_row_follows_its_run(tmp_path):
    supervisor = scripted_run(tmp_path, 10, close=False)
    fleet = Fleet(Store(tmp_path))
    assert fleet.rows()[0].steps == 10
    supervisor.after(supervisor.message("more"))
    supervisor.run.journal.flush()
    assert fleet.rows()[0].steps == 11
    supervisor.close()
    assert fleet.rows()[0].status == "done"


def test_a_run_whose_owner_dies_without_a_word_is_lost(tmp_path):
    supervisor = scripted_run(tmp_path, 10, close=False)
    fleet = Fleet(Store(tmp_path))
    assert fleet.rows()[0].status == "running"
    supervisor.run.close()
    assert fleet.rows()[0].status == "lost"


def test_a_removed_run_is_gone_from_the_rows(tmp_path):
    folder = folder_of(scripted_run(tmp_path, 4))
    fleet = Fleet(Store(tmp_path))
    assert len(fleet.rows()) == 1
    shutil.rmtree(folder.path)
    assert fleet.rows() == []


def test_the_sparkline_falls_where_the_run_goes_in_circles(tmp_path):
    scripted_run(tmp_path, 200)
    (row,) = Fleet(Store(tmp_path)).rows()
    assert 1 < len(row.spark) <= 24
    assert max(row.spark) == 1.0
    assert min(row.spark) < 0.5


def test_an_empty_store_has_no_rows(tmp_path):
    assert Fleet(Store(tmp_path / "none")).rows() == []


class Hub:
    """What a hub's client gives, without a hub."""

    def __init__(self, *found, error=None):
        self.found, self.error = found, error

    def runs(self):
        if self.error is not None:
            raise self.error
        return list(self.found)


def remote(run_id, silent=0.0, **more):
    return RemoteRun(summary=RunSummary(run_id=run_id, owner_pid=7, **more), host="far", pid=7, silent=silent)


def test_runs_of_other_machines_stand_beside_our_own_and_a_silent_host_is_unknown(tmp_path):
    own = scripted_run(tmp_path, 4).run.spec.run_id
    fleet = Fleet(Store(tmp_path), Hub(remote("there"), remote("quiet", 9999.0), remote(own)))
    rows = {row.run_id: row for row in fleet.rows()}
    assert (rows["there"].status, rows["there"].host) == ("running", "far")
    assert rows["quiet"].status == "unknown"
    assert rows[own].host != "far", "what is here is read here"


def test_a_hub_that_does_not_answer_is_a_problem_and_our_own_runs_stay(tmp_path):
    scripted_run(tmp_path, 4)
    fleet = Fleet(Store(tmp_path), Hub(error=InterlockError("the hub does not answer")))
    assert len(fleet.rows()) == 1
    assert fleet.problem == "the hub does not answer"


def test_a_look_takes_no_more_reads_however_many_runs_have_ended(tmp_path, monkeypatch):
    looked = []
    really = fleet.read_signature

    def note(folder):
        looked.append(folder.run_id)
        return really(folder)

    monkeypatch.setattr(fleet, "read_signature", note)
    store = Store(tmp_path / "runs")
    folders = []
    for number in range(12):
        folder = store.create(RunSpec(run_id=f"run-{number:02}"))
        with Journal.open(folder) as journal:
            journal.append((), summary=RunSummary(run_id=folder.run_id, status="done", started=1.0, ended=2.0))
        os.utime(folder.journal, ns=(10**18, 10**18))
        folders.append(folder)
    monkeypatch.setattr(fleet, "TURNS", 2)
    monkeypatch.setattr(fleet, "MOST", 3)
    every = Fleet(store)
    # The first look writes the index, which moves the time of the folder of all runs.
    every.rows(sparks=False)
    os.utime(store.root, ns=(10**18, 10**18))
    first = every.rows(sparks=False)
    seen = set()
    for _ in range(4):
        looked.clear()
        assert every.rows(sparks=False) is first
        assert len(looked) == 3
        seen.update(looked)
    assert seen == {folder.run_id for folder in folders}, "each has its turn"
