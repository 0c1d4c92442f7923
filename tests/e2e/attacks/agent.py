"""The agent: runs every attack, writes down what came of each, then works on until it is ended."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

attacks = json.loads(Path(sys.argv[1]).read_text())
while not Path("go").exists():
    time.sleep(0.02)
os.environ.update(json.loads(Path("go").read_text()))
results = {}
for name, script in attacks:
    begun = time.time()
    Path("begun").write_text(str(begun))
    try:
        with Path("out").open("w") as out:
            # Not through a pipe: what an attack leaves running would keep it open.
            done = subprocess.run(["sh", "-c", script], stdin=subprocess.DEVNULL, stdout=out, stderr=out, timeout=8)
        results[name] = [done.returncode, Path("out").read_text(errors="replace")[-500:], begun]
    except subprocess.TimeoutExpired:
        results[name] = [124, "it took too long", begun]
    Path("results.tmp").write_text(json.dumps(results))
Path("results.tmp").replace("results.json")
while True:
    Path("tick").write_text(str(time.time()))
    time.sleep(0.05)
