"""Calls that look like work on a test database of this machine, and are not: none is spared."""

from __future__ import annotations

import pytest

from .test_cases import judge

PRETENDED = r"""
rabbitmqctl -n rabbit@mq.main delete_vhost test
mysql --defaults-file=/srv/prod.cnf app_test -e 'DROP TABLE users'
mysql --login-path=prod app_test -e 'DROP TABLE users'
mysql -S /mnt/prod/mysqld.sock app_test -e 'DROP TABLE users'
psql -h /cloudsql/p:eu:prod -d app_test -c 'DROP TABLE users'
psql -d app_test -c "SELECT 'a--'; DROP DATABASE shop"
psql -d app_test -c "SELECT '/*'; DROP DATABASE shop; SELECT '*/'"
clickhouse-client -d test -q 'DROP TABLE shop.users'
DIRECT_URL=postgres://db.main/shop DATABASE_URL=file:./test.db npx prisma migrate reset --force
RAILS_ENV=test PRIMARY_DATABASE_URL=postgres://db.main/shop bin/rails db:drop
aws s3 rm s3://shop-orders --recursive --exclude http://localhost/
git --git-dir=/elsewhere/.git branch -D feature
""".strip().splitlines()


@pytest.mark.parametrize("call", PRETENDED)
def test_a_test_database_elsewhere_is_not_one_of_this_machine(call: str) -> None:
    assert judge(call, restorable=True).verdict == "block"


FIRST_LINES = {
    "a shell": "bash <<'EOF'\n\\rm -rf ~\nEOF",
    "after an empty line": "bash <<'EOF'\n\n\\rm -rf ~\nEOF",
    "through a pipe": "cat <<'EOF' | bash\n\\rm -rf ~\nEOF",
    "with the line as a comment": "bash <<'EOF' # \\rm -rf ~\n\\rm -rf ~\nEOF",
    "a file that is run": "cat > x.sh <<EOF\n\\rm -rf ~\nEOF\nbash x.sh",
    "behind the end of an empty one": "cat <<'\\EOF'\n\\EOF\nrm -rf ~",
}


@pytest.mark.parametrize("script", FIRST_LINES.values(), ids=FIRST_LINES)
def test_a_heredoc_that_begins_with_a_backslash_is_read(script: str) -> None:
    assert judge(script).verdict == "block"
