"""Settings: variables of the environment that tell a program which database or server to use."""

from __future__ import annotations

import re

from ...core import late_pattern
from ..wordlist import name_set
from .scope import ShellScope

CLIENTS = name_set(
    """psql pgcli mysql mariadb mycli mongosh mongo usql dropdb dropuser mysqladmin pg_restore mongorestore sqlite3
    sqlite duckdb litecli redis-cli valkey-cli keydb-cli nats rabbitmqctl rabbitmqadmin clickhouse clickhouse-client
    cqlsh cypher-shell influx sqlcmd restic borg aws"""
)
"""Programs that talk to a server, or open a file, and are told which by variables of their own."""

FRAMEWORKS = name_set(
    """prisma rails rake bin/rails php artisan sail python manage.py ./manage.py django-admin alembic flyway liquibase
    sequelize sequelize-cli knex typeorm mix drizzle-kit dbmate diesel sqlx migrate goose sea-orm-cli mikro-orm dotnet
    console bin/console"""
)
"""Programs that work on an application's database, which its environment or a file with one names."""

OF_CLIENTS = late_pattern(
    r"PG(?:HOST|HOSTADDR|DATABASE|SERVICE)\Z|MYSQL_(?:HOST|DATABASE)\Z|AWS_ENDPOINT_URL\w*\Z|RESTIC_REPOSITORY\Z|BORG_REPO\Z"
    r"|NATS_URL\Z|REDISCLI_\w*URL\Z"
)
OF_FRAMEWORKS = late_pattern(
    r"\w*(?:DATABASE|DB|POSTGRES|POSTGRESQL|PG|MYSQL|MONGO|MONGODB|SQLALCHEMY|FLYWAY|LIQUIBASE)_?"
    r"(?:UR[IL]|DSN|HOST|NAME|DATABASE|DATABASE_URI)\Z"
    r"|(?:RAILS|RACK|NODE|APP|MIX|DJANGO|FLASK|SYMFONY|ASPNETCORE|DOTNET)_ENV(?:IRONMENT)?\Z|DJANGO_SETTINGS_MODULE\Z"
    r"|SPRING_PROFILES_ACTIVE\Z"
)
"""The names of such variables."""

ENV_LINE = late_pattern(r"^(?:export\s{1,4})?([A-Z]\w{1,60})=[\"']?([^\"'\n#]{0,400})", re.MULTILINE)
"""A line of a file of variables."""


def is_setting(name: str) -> bool:
    """Whether some program finds its database by a variable of this name."""
    return OF_FRAMEWORKS.match(name) is not None or OF_CLIENTS.match(name) is not None


def settings_for(program: str, scope: ShellScope) -> tuple[tuple[str, str], ...]:
    """The variables that tell a program which database to use, as far as a script or a written `.env` sets them."""
    names = OF_CLIENTS if program in CLIENTS else OF_FRAMEWORKS
    found: dict[str, str] = {}
    if program in FRAMEWORKS and (scope.files.known or scope.files.made) and (text := scope.recall(".env")) is not None:
        found = {name: value.strip() for name, value in ENV_LINE.findall(text) if names.match(name)}
    found |= {name: value for name, value in scope.variables.items() if names.match(name)}
    return tuple(found.items())
