"""Purposes: whether what a call deletes belongs to tests on this machine, by the words that name it."""

from __future__ import annotations

from ..calls import CallReading, Effect, word_set
from ..core import late_pattern

TESTS = late_pattern(
    r"(?i)(?:\b|_)(?:test|tests|testing|dev|development|ci|tmp|scratch|minikube|kind-\w+|regtest|devnet|testnet)(?:\b|_|\d)"
    r"|awslocal|localstack|emulator|:memory:|:4566|:8545"
)
REAL = late_pattern(r"(?i)(?:\b|_)(?:prod|production|live|staging|real|master|primary)(?:\b|_|\d)")
REMOTE = late_pattern(
    r"(?i)(?:--host|-H|-h|@|//|host=)[= ]?(?!localhost|127\.|\[::1\]|/|\.)[\w-]+\.[\w.-]+|(?:--host|-h)[= ](?!localhost|127\.)[a-z]|\b(?:s3(?!://)|b2|gs|azure|sftp|rest|swift):"
)
LOCAL = late_pattern(r"(?i)localhost|127\.0\.0\.1|host\.docker|minikube|kind-|\blocal/|awslocal|localstack")
AT_HOME = word_set(
    """psql mysql mariadb sqlite3 duckdb dropdb dropuser redis-cli valkey-cli mongosh mongo rails rake prisma manage.py
    django-admin mix python python3 artisan sequelize alembic knex pg_restore mysqladmin typeorm flyway liquibase dbmate
    restic borg rabbitmqctl bitcoin-cli solana docker podman nerdctl docker-compose tool"""
)
"""Clients that work on this machine unless they are told otherwise."""
ELSEWHERE = word_set("ssh kubectl mosh oc")


def is_for_tests(reading: CallReading, effect: Effect) -> bool:
    """Whether an effect is on something for tests: a name says so, none says otherwise, and no host is named."""
    text = effect.target
    for program in reading.programs:
        if program.name == effect.by:
            if not ELSEWHERE.isdisjoint(program.via):
                return False
            text += " " + " ".join((*program.words, *(f"{name}={value}" for name, value in program.environment)))
    if effect.target[:9] == "database " and effect.target != "database tables" and not TESTS.search(effect.target):
        return False
    if REMOTE.search(text) or REAL.search(text):
        return False
    return bool(TESTS.search(text)) and (effect.by in AT_HOME or bool(LOCAL.search(text)))
