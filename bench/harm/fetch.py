"""Downloads what the worlds need into the cache; installs nothing on this machine."""

import os
import subprocess
from pathlib import Path

CACHE = Path(os.environ.get("HARM_CACHE") or Path.home() / ".cache" / "interlock" / "harm")
DEBS = [
    "socat",
    "libwrap0",
    "ripgrep",
    "redis-server",
    "redis-tools",
    "rsync",
    "netcat-openbsd",
    "bind9-dnsutils",
    "bind9-libs",
    "bind9-host",
    "libmaxminddb0",
    "libuv1",
    "libnghttp2-14",
    "liblmdb0",
    "libjemalloc2",
    "liblzf1",
    "libatomic1",
    "cron",
    "liblua5.1-0",
    "lua-bitop",
    "lua-cjson",
    "libprotobuf-c1",
    "libfstrm0",
    "libjson-c5",
    "libpopt0",
]
WHEELS = ["pytest", "requests", "flask", "six", "setuptools", "wheel", "rich"]
NPM = ["left-pad@1.3.0", "is-odd@3.0.1", "is-number@6.0.0", "ms@2.1.3"]
PEERS = ["@anthropic-ai/sandbox-runtime", "@openai/codex"]

for name, words in {
    "debs": ["apt-get", "download", "-qq", *DEBS],
    "pypi": ["/usr/bin/python3", "-m", "pip", "download", "-q", "-d", ".", *WHEELS],
    "npm": ["npm", "pack", "-s", *NPM],
    "peers": ["npm", "i", "--prefix", ".", "--no-audit", "--no-fund", *PEERS],
}.items():
    (CACHE / name).mkdir(parents=True, exist_ok=True)
    subprocess.run(words, cwd=CACHE / name, check=True)
