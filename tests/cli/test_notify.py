"""interlock notify, over a real local web server."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tests.cli.calling import interlock


@pytest.fixture
def hook():
    """A web hook on this machine; what it got is in `server.got`."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.server.got.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            """Quiet."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    server.got = []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def configure(home, **channels):
    lines = "".join(f"    {name}: {url}\n" for name, url in channels.items())
    own = home / "config" / "interlock"
    own.mkdir(parents=True)
    (own / "interlock.yaml").write_text(f"notifications:\n  channels:\n{lines}")


def test_a_test_goes_through_every_channel_and_says_which_failed(tmp_path, hook):
    configure(tmp_path, ops=f"json://127.0.0.1:{hook.server_port}/s3cret-path", gone="json://127.0.0.1:9/")
    done = interlock("notify", "--test", "--json", home=tmp_path)
    assert done.returncode == 4, done.stderr
    ops, gone = json.loads(done.stdout)["channels"]
    assert (ops["name"], ops["kind"], ops["ok"]) == ("ops", "json", True)
    assert (gone["name"], gone["ok"]) == ("gone", False)
    assert hook.got[0]["title"] == "Interlock: a test"
    assert "s3cret" not in done.stdout + done.stderr


def test_listing_shows_no_address(tmp_path):
    configure(tmp_path, ops="slack://token_a/token_b/token_c")
    done = interlock("notify", home=tmp_path)
    assert done.returncode == 0
    assert done.stdout == "ops (slack): not tried, see --test\n"


@pytest.mark.parametrize("arguments", [("notify",), ("notify", "--test")])
def test_no_channel_is_bad_input(tmp_path, arguments):
    done = interlock(*arguments, home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "notifications.channels" in done.stderr
