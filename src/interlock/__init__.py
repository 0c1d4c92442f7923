"""Interlock keeps autonomous agents and unattended sessions on track.

from interlock import Supervisor

with Supervisor.open(task="fix the tests", workspace=".") as supervisor:
    decision = supervisor.ask(supervisor.call("bash", {"command": "pytest -q"}))
"""

from ._lazy import lazy
from ._version import __version__ as __version__

__getattr__ = lazy(__name__, __file__)
