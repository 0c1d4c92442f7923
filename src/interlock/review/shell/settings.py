"""Settings: environment variables that tell a program which database or server to use."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...core import late_pattern
from ..wordlist import name_set
from .scope import CONTEXT, ShellScope

CLIENTS = name_set(
    """psql pgcli mysql mariadb mycli mongosh mongo usql dropdb dropuser mysqladmin pg_restore mongorestore sqlite3
    sqlite duckdb litecli redis-cli valkey-cli keydb-cli nats rabbitmqctl rabbitmqadmin clickhouse clickhouse-client
    cqlsh cypher-shell influx sqlcmd restic borg aws"""
)
"""Programs that contact a server, or open a file, selected by their own variables."""

FRAMEWORKS = name_set(
    """prisma rails rake bin/rails php artisan sail python manage.py ./manage.py django-admin alembic flyway liquibase
    sequelize sequelize-cli knex typeorm mix drizzle-kit dbmate diesel sqlx migrate goose sea-orm-cli mikro-orm dotnet
    console bin/console"""
)
"""Programs that work on an application's database, which the environment or a file of variables names."""

SOURCED = "."
"""Stands for the variables that a script takes over from a file whose text is unknown; its value is the file."""

OF_CLIENTS = name_set(
    """. PGHOST PGPORT PGHOSTADDR PGDATABASE PGSERVICE MYSQL_HOST MYSQL_TCP_PORT MYSQL_DATABASE AWS_ENDPOINT_URL
    AWS_IGNORE_CONFIGURED_ENDPOINT_URLS RESTIC_REPOSITORY BORG_REPO NATS_URL"""
)
ENGINES = name_set("docker docker-compose podman podman-compose git")
OF_ENGINES = name_set(
    "DOCKER_HOST DOCKER_CONTEXT COMPOSE_FILE COMPOSE_PROJECT_NAME GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR"
)
"""Programs that may work on another machine or tree, and the variables that say so."""

OF_FRAMEWORKS = name_set(
    """. RAILS_ENV RACK_ENV NODE_ENV APP_ENV MIX_ENV DJANGO_ENV FLASK_ENV DJANGO_SETTINGS_MODULE SPRING_PROFILES_ACTIVE
    ASPNETCORE_ENVIRONMENT DOTNET_ENVIRONMENT"""
).union(
    f"{kind}_{part}"
    for kind in name_set("DATABASE DB POSTGRES POSTGRESQL PG MYSQL MONGO MONGODB SQLALCHEMY FLYWAY LIQUIBASE")
    for part in name_set("URL URI DSN HOST PORT NAME DATABASE DATABASE_URI")
)
"""The names of such variables."""

ENV_LINE = late_pattern(r"^(?:export\s{1,4})?([A-Z]\w{1,60})=[\"']?([^\"'\n#]{0,400})", re.MULTILINE)
"""A line of a file of variables."""


LOCAL_ENGINE = late_pattern(
    r"/?(?:default|desktop-|docker-desktop|colima|orbstack|rootless|rancher|lima|podman-machine)"
)
"""Names of the engines of this machine."""

GIVEN_FIRST = frozenset(("manage.py", "./manage.py", "artisan", "ef"))
NEEDING = frozenset(("python", "php", "dotnet"))
"""First arguments with which multi-purpose programs work on a database."""


ADDRESSES = ("_URL", "_URI", "_DSN")
"""How names of variables with an address end."""


def is_setting(name: str) -> bool:
    """Whether some program finds its database through a variable of this name."""
    return name in OF_FRAMEWORKS or name in OF_CLIENTS or name in OF_ENGINES or name.endswith(ADDRESSES)


def settings_in(assignments: Iterable[tuple[str, str]], scope: ShellScope) -> dict[str, str]:
    """The variables of one command that select a database, unless they already have that value."""
    return {name: value for name, value in assignments if is_setting(name) and scope.variables.get(name) != value}


def is_configured(words: list[str], program: str) -> bool:
    """Whether a command finds its database through variables."""
    return program not in NEEDING or not GIVEN_FIRST.isdisjoint(words[1:2])


def settings_for(program: str, scope: ShellScope) -> tuple[tuple[str, str], ...]:
    """The variables that tell a program which database to use, if a script or a written `.env` sets them."""
    names = OF_CLIENTS if program in CLIENTS else OF_ENGINES if program in ENGINES else OF_FRAMEWORKS
    variables = scope.variables
    found: dict[str, str] = {}
    if program in FRAMEWORKS and (scope.files.known or scope.files.made) and (text := scope.recall(".env")) is not None:
        found = {
            name: value.strip() for name, value in ENV_LINE.findall(text) if name in names or name.endswith(ADDRESSES)
        }
    if program in ENGINES and (text := scope.recall(CONTEXT)) is not None and not LOCAL_ENGINE.match(text):
        found["DOCKER_CONTEXT"] = text[1:]
    found |= {name: variables[name] for name in names if name in variables}
    if program in FRAMEWORKS:
        found |= {name: value for name, value in variables.items() if name.endswith(ADDRESSES)}
    return tuple(found.items())
