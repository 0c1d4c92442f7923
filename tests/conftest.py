"""What surrounds a test run must not change its result.

Whoever starts the tests may ignore signals (a job in the background does); what we start must not inherit that.
A busy machine makes examples slow; that is not a failure of what is tested. Nor is supervision late for it, unless a
test sets a time-out of its own.
"""

import signal
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings

from interlock.config import Config
from interlock.journal_records import Fault
from interlock.runtime.fail_open import Guard

for _number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL)

settings.register_profile("any load", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any load")

_DEFAULT_TIMEOUT = Config().runtime.step_timeout_ms / 1000
_make_guard = Guard.__init__


def _make_patient_guard(
    self: Guard, timeout: float | None, on_fault: Callable[[Fault], None], *, closed: bool = False
) -> None:
    _make_guard(self, 60.0 if timeout == _DEFAULT_TIMEOUT else timeout, on_fault, closed=closed)


Guard.__init__ = _make_patient_guard  # type: ignore[method-assign]

LONG_FOLDERS = ("e2e", "link", "checkpoint", "docs", "web", "gui", "tui", "adapters", "runtime", "cli", "report")
"""Those whose files take long, the longest first."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Among several workers, what takes long comes first: at the end none waits for the others."""
    if hasattr(config, "workerinput"):
        ranks = {name: number for number, name in enumerate(LONG_FOLDERS)}
        tests = config.rootpath / "tests"
        items.sort(key=lambda item: ranks.get(item.path.relative_to(tests).parts[0], len(ranks)))
