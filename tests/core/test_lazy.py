"""Names of a package's interface, imported on first use."""

import subprocess
import sys

import pytest

THREADS = """
import sys, threading
from importlib import import_module
sys.setswitchinterval(1e-6)
failed, start = [], threading.Barrier(8)
def use():
    start.wait()
    for package, name in (("interlock.core", "Stuck"), ("interlock.link", "ThreadedLineServer"), ("interlock.config", "trust")):
        try:
            getattr(import_module(package), name)
        except AttributeError as error:
            failed.append(error)
threads = [threading.Thread(target=use) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
sys.exit(str(failed) if failed else 0)
"""


def test_threads_that_ask_at_once_all_find_the_name():
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_a_name_that_is_not_exported_is_an_attribute_error():
    import interlock.core

    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        interlock.core.Nothing  # noqa: B018
    assert "Step" in interlock.core.__all__
