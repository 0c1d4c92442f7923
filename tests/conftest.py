"""What surrounds a test run must not change its result.

Whoever starts the tests may ignore signals (a job in the background does); what we start must not inherit that.
A busy machine makes examples slow; that is not a failure of what is tested.
"""

import signal

from hypothesis import HealthCheck, settings

for _number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL)

settings.register_profile("any load", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any load")
