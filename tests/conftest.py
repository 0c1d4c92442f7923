"""What surrounds a test run must not change its result.

Whoever starts the tests may ignore signals (a job in the background does); what we start must not inherit that.
A busy machine makes examples slow; that is not a failure of what is tested.
"""

import signal

import pytest
from hypothesis import HealthCheck, settings

for _number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL)

settings.register_profile("any load", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any load")

LONG_FOLDERS = ("e2e", "link", "checkpoint", "docs", "web", "gui", "tui", "adapters", "runtime", "cli", "report")
"""Those whose files take long, the longest first."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Among several workers, what takes long comes first: at the end none waits for the others."""
    if hasattr(config, "workerinput"):
        ranks = {name: number for number, name in enumerate(LONG_FOLDERS)}
        tests = config.rootpath / "tests"
        items.sort(key=lambda item: ranks.get(item.path.relative_to(tests).parts[0], len(ranks)))
