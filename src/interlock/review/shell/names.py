"""Names: the program that a word refers to; shells, interpreters and clients that run text, and their options."""

from __future__ import annotations

import re
from functools import lru_cache

from ..wordlist import name_set

VERSIONED = re.compile(r"(python|pip|ruby|perl|php|lua|node|pypy|gpg|psql|clang|gcc)[\d.]+\Z")
SCRIPT = re.compile(r"(kafka-[\w-]+|zk\w+|pulsar-admin|gradlew|mvnw)(?:\.sh|\.bat|\.cmd)\Z")
VARIABLE = re.compile(r"\$\{?(?:which_|path_to_)?(\w+?)(?:_cmd|_bin|_path|_exe)?\}?\Z")
TOOLS_IN_VARIABLES = name_set(
    """rm dd git gpg kubectl docker psql mysql aws gcloud az terraform shred mkfs openssl curl wget bash sh python
    perl"""
)
"""Programs that scripts keep in a variable of the same name (`$RM`, `$which_gpg`)."""

WRAPPED_BUILDS = {"gradlew": "gradle", "mvnw": "mvn"}


MAX_NAME = 256
"""Characters; a longer word is not a program name."""


def program_name(word: str) -> str:
    """The name that rules use: `/usr/bin/git`, `git.exe` and `\\git` are git; `./rm` is a script of the project."""
    return known_name(word) if len(word) <= MAX_NAME else word


@lru_cache(4096)
def known_name(word: str) -> str:
    """As `program_name`, cached."""
    if "/" in word:
        folder, _, base = word.rpartition("/")
        if folder.endswith("bin") or base in WRAPPED_BUILDS or not base:
            word = base or word
        elif folder and not base.endswith((".sh", ".jar")):
            return WRAPPED_BUILDS.get(base, word)
    if word.endswith((".exe", ".EXE")):
        word = word[:-4].lower()
    found = VERSIONED.match(word) or SCRIPT.match(word)
    if found:
        word = found[1]
    if word.startswith("$"):
        named = VARIABLE.match(word)
        if named and named[1].lower() in TOOLS_IN_VARIABLES:
            return named[1].lower()
    return WRAPPED_BUILDS.get(word, word)


SHELLS = name_set("sh bash zsh dash ksh ksh93 mksh ash fish rbash csh tcsh pwsh powershell")

AWKS = ("awk", "gawk", "mawk", "nawk", "original-awk", "goawk")

INTERPRETERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("python", "pypy", "ipython"), ("-c",)),
    **dict.fromkeys(("node", "nodejs", "bun", "tsx", "ts-node"), ("-e", "--eval", "-p", "--print")),
    **dict.fromkeys(
        ("ruby", "lua", "luajit", "Rscript", "osascript", "groovy", "elixir", "julia", "scala", "kotlin", "swift"),
        ("-e",),
    ),
    **dict.fromkeys((*AWKS, "tclsh", "jshell", "irb"), ()),
    "perl": ("-e", "-E"),
    "php": ("-r",),
    "deno": ("eval",),
    "rails": ("runner",),
}
"""Interpreters, and their options that take code."""

CODE_OPTIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("psql", "pgcli", "usql", "vsql", "duckdb"), ("-c", "--command")),
    **dict.fromkeys(("mysql", "mariadb", "mycli", "litecli", "cockroach", "cqlsh", "spanner-cli"), ("-e", "--execute")),
    **dict.fromkeys(("hive", "beeline", "spark-sql"), ("-e",)),
    **dict.fromkeys(("clickhouse", "clickhouse-client", "snow", "snowsql", "impala-shell"), ("-q", "--query")),
    **dict.fromkeys(("trino", "presto"), ("--execute",)),
    **dict.fromkeys(("mongo", "mongosh", "redis-cli"), ("--eval",)),
    **dict.fromkeys(("isql", "sqlplus", "db2", "cypher-shell", "turso", "pscale", "bq", "rqlite", "nsupdate"), ()),
    **dict.fromkeys(("sqlite", "sqlite3"), ()),
    "sqlcmd": ("-Q", "-q"),
    "influx": ("-execute", "--execute"),
    "wrangler": ("--command",),
}
"""Database clients and similar, and their options that take statements; all of them also read a pipe."""
