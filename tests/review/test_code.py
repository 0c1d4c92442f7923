"""Calls in other languages that act on the world."""

from __future__ import annotations

import pytest

from interlock.review.code import CodeCall, read_calls


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import shutil; shutil.rmtree('/x')", ("rm", "-r", "/x")),
        ("from shutil import rmtree\nrmtree('/x')", ("rm", "-r", "/x")),
        ("import os\nos.remove('/x')", ("rm", "/x")),
        ("os.unlink(b'/x')", ("rm", "/x")),
        ("path = '/x'\nos.remove(path)", ("rm", "/x")),
        ("Path('/x').unlink()", ("rm", "/x")),
        ("pathlib.Path('/x').unlink(missing_ok=True)", ("rm", "/x")),
        ("require('fs').unlinkSync('/x')", ("rm", "/x")),
        ("const fs = require('fs'); fs.rmSync('/x', {recursive: true})", ("rm", "-r", "/x")),
        ("FileUtils.rm_rf('/x')", ("rm", "-rf", "/x")),
        ("FileUtils.rm_rf '/x'", ("rm", "-rf", "/x")),
        ("File.delete('/x')", ("rm", "/x")),
        ('unlink "/x";', ("rm", "/x")),
        ("subprocess.run(['rm', '-rf', '/x'], check=True, cwd='/y')", ("rm", "-rf", "/x")),
        ("requests.delete('https://a.example/1')", ("curl", "-X", "DELETE", "https://a.example/1")),
        ("fetch('https://a.example/1', {method: 'DELETE'})", ("curl", "-X", "DELETE", "https://a.example/1")),
        ("open('/x', 'w').write('y')", ("tee", "/x")),
        ("open('/x')", ("cat", "/x")),
        ("client.deleteIndex('prod')", ("call", "deleteIndex", "prod")),
        ("es.indices.delete(index='x')", ("call", "delete_indices")),
        ("cursor.execute('DROP TABLE x')", ("sql",)),
        ("import shutil; f=shutil.rmtree; f('/x')", ("rm", "-r", "/x")),
        ("from os import path, remove\nfrom shutil import copy, rmtree as f\nf('/x')", ("rm", "-r", "/x")),
        ("const d = require('fs').rmSync; d('/x', {recursive: true})", ("rm", "-r", "/x")),
        ("const {rmSync: d} = require('fs'); d('/x')", ("rm", "-r", "/x")),
        ("fs['rmSync']('/x')", ("rm", "-r", "/x")),
        ("getattr(shutil, 'rmtree')('/x')", ("rm", "-r", "/x")),
        ("list(map(shutil.rmtree, ['/x']))", ("rm", "-r", "/x")),
        ("require('rimraf').sync('/x')", ("rm", "-rf", "/x")),
        ("shutil.rmtree(Path.home())", ("rm", "-r", "~")),
        ("p = Path.home()\nshutil.rmtree(str(p))", ("rm", "-r", "~")),
        ("shutil.rmtree(os.environ['HOME'])", ("rm", "-r", "~")),
        ("fs.rmSync(require('os').homedir())", ("rm", "-r", "~")),
        ("rmtree($ENV{HOME})", ("rm", "-r", "~")),
        ("FileUtils.rm_rf(Dir.home)", ("rm", "-rf", "~")),
        ("shutil.rmtree(Path.home() / 'x' / name)", ("rm", "-r", "~/x/$name")),
        ("shutil.rmtree(os.path.join('/x', 'y'))", ("rm", "-r", "/x/y")),
        ("shutil.rmtree('/x' + '/y')", ("rm", "-r", "/x/y")),
    ],
)
def test_a_call_becomes_a_command(code: str, words: tuple[str, ...]) -> None:
    assert words in [call.words for call in read_calls(code)]


@pytest.mark.parametrize(
    "code",
    [
        "os.system('rm -rf /')",
        "subprocess.run('rm -rf /', shell=True)",
        'subprocess.check_output("rm -rf /", shell=True)',
        "require('child_process').execSync('rm -rf /')",
        "system('rm -rf /')",
        'system("rm -rf /")',
        "`rm -rf /`",
        "shell_exec('rm -rf /');",
        "IO.popen('rm -rf /')",
        "exec(\"os.system('rm -rf /')\")",
        "s = os.system; s('rm -rf /')",
        "os.system('rm -rf ' + '/')",
        "os.system('rm -rf %s' % '/')",
        "os.system('rm -rf {}'.format('/'))",
    ],
)
def test_a_call_that_runs_a_shell_becomes_a_script(code: str) -> None:
    assert CodeCall(script="rm -rf /") in read_calls(code)


@pytest.mark.parametrize(
    "code",
    [
        "print('os.remove(1)')",
        "# os.remove('/x')",
        "x = 1  # shutil.rmtree('/x')",
        '"""\nos.remove("/x")\n"""',
        "items.remove('x')",
        "cache.delete('x')",
        "df.drop_duplicates()",
        "// fs.rmSync('/x')",
        "def remove(x): pass",
    ],
)
def test_a_mention_or_a_namesake_is_no_call(code: str) -> None:
    assert not [call for call in read_calls(code) if call.words[:1] == ("rm",) or call.script]


@pytest.mark.parametrize(
    "code",
    [
        "t = Tree()\nt.delete_node(5)",
        "class Trie:\n    def delete_key(self, key): ...\nTrie().delete_key('a')",
        "class Cache {\n  deleteKey(key) { this.map.delete(key) }\n}\nnew Cache().deleteKey('a')",
        "with connection.schema_editor() as editor:\n    editor.create_model(A)\n    editor.delete_model(A)",
        "users = ['a']\nusers.remove('a')",
        "const keys = new Set([1]); keys.delete(1)",
        "class Team:\n    def leave(self, user):\n        self.users.remove(user)",
        "with Session() as session:\n    session.delete(obj)",
        "def test_delete(client):\n    client.delete_user('bob')",
        "def test_tables(engine):\n    Base.metadata.create_all(engine)\n    Base.metadata.drop_all(engine)",
        "service.create_user('bob')\nservice.delete_user('bob')",
        "app.delete('/users/:id', (req, res) => { users.delete(req.params.id) })",
        "import fakeredis\nr = fakeredis.FakeRedis()\nr.flushall()",
    ],
)
def test_what_a_program_has_made_itself_it_may_delete(code: str) -> None:
    assert read_calls(code) == []


@pytest.mark.parametrize(
    "code",
    [
        "import boto3\ndef test_x(client):\n    client.delete_bucket(Bucket='prod')",
        "def test_x(client):\n    connect('https://es.example.com').delete_index('logs')",
        "db.drop_all()\ndb.create_all()",
        "client.create_index('new')\nclient.delete_index('old')",
        "stripe.customers.del('c1')",
        "s.delete('https://api.example.com/v1/projects/7')",
    ],
)
def test_what_others_have_made_it_may_not(code: str) -> None:
    assert [call.words[:1] for call in read_calls(code)] in ([("call",)], [("curl",)])
