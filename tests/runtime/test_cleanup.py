"""What goes by itself when a run starts."""

import os

from msgspec.structs import replace

from interlock.config import Config
from interlock.config.schema import Store as StoreSettings
from interlock.journal import Store
from interlock.runtime import Supervisor
from interlock.runtime.cleanup import AGAIN_S, MEASURED, clean_up_at_start, clean_up_store

LARGE = 8_000_000


def test_runs_beyond_the_disk_budget_go_and_the_live_one_stays(tmp_path):
    store = Store(tmp_path)
    for number in range(3):
        with Supervisor.open(name=f"old{number}", store=store, config=Config()) as old:
            (old.run.folder.path / "large").write_bytes(b"x" * LARGE)
    with Supervisor.open(name="live", store=store, config=Config()):
        # The live one grows at any moment: its journal makes room for itself.
        config = replace(Config(), store=StoreSettings(max_bytes=LARGE + LARGE * 3 // 4))
        clean_up_store(store, config, 0.0).join()
        assert [run.name for run in store.runs()] == ["live", "old2"]
        clean_up_store(store, replace(config, store=StoreSettings(max_bytes=1)), 0.0).join()
        assert [run.name for run in store.runs()] == ["live"]


def test_a_store_that_is_gone_harms_nothing(tmp_path):
    clean_up_store(Store(tmp_path / "none"), Config(), 0.0).join()


def test_a_run_that_starts_just_after_another_does_not_measure_the_store_again(tmp_path):
    store, config = Store(tmp_path), replace(Config(), store=StoreSettings(max_bytes=1))
    with Supervisor.open(name="old", store=store, config=Config()):
        pass
    (tmp_path / MEASURED).touch()
    clean_up_at_start(store, config, 0.0).join()
    assert [run.name for run in store.runs()] == ["old"]
    earlier = (tmp_path / MEASURED).stat().st_mtime - AGAIN_S
    os.utime(tmp_path / MEASURED, (earlier, earlier))
    clean_up_at_start(store, config, 0.0).join()
    assert not store.runs()
    assert (tmp_path / MEASURED).stat().st_mtime > earlier
