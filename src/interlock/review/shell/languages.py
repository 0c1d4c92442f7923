"""Languages: shells, interpreters and clients that run text, and the options that give it to them."""

from __future__ import annotations

from ..wordlist import name_set

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
"""Interpreters, and the options that take code."""

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
"""Database clients and the like, and the options that take statements; all of them read statements from a pipe too."""
