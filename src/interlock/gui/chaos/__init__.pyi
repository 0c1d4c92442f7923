from .report import ChaosReport as ChaosReport
from .report import FaultReport as FaultReport
from .runner import run_chaos as run_chaos
