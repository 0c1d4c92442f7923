"""An owner process for crash tests: feeds scripted steps and says how far it got, until it is killed."""

import sys
from pathlib import Path

from interlock.core import ManualClock
from tests.runtime.scripted import START, feed, open_run, steps

root, seed, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
clock = ManualClock(START)
supervisor = open_run(root, clock)
print("ready", flush=True)
goes_on = True
for step in steps(seed, count):
    goes_on = goes_on and feed(supervisor, clock, [step])
    print(step.index, flush=True)
print("end", flush=True)
sys.stdin.read()
