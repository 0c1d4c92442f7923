"""Web: the HTTP request that a command line would send."""

from __future__ import annotations

import re

from msgspec import Struct

from .shell.model import Command
from .wordlist import name_set


class WebRequest(Struct, frozen=True):
    """Method, URL and body, as far as the command line gives them."""

    method: str
    url: str
    body: str = ""


CLUSTER = re.compile(r"-[a-zA-WYZ]*?([Xd])(.*)\Z", re.DOTALL)
"""Short options in one word, the last with its value: `-sXDELETE`, `-kd @file`."""

METHODS = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "PURGE"))

CURL_VALUED = name_set(
    """-X -H -d -o -u -A -e -b -c -F -T -m -w -x -K -E -Y -y -z -C -D -P -Q -r -t -U --request --header --data
    --data-raw --data-binary --data-urlencode --json --output --user --user-agent --referer --cookie --cookie-jar
    --form --upload-file --max-time --write-out --proxy --config --cert --key --cacert --connect-timeout --retry
    --retry-delay --resolve --interface --limit-rate --range --url --aws-sigv4 --oauth2-bearer --method --body-data
    --post-data --post-file --form-string --ciphers --capath -f --field -F --raw-field --input -q --jq --hostname
    --cache -Method -Uri -Body -Headers -ContentType -OutFile"""
)
BODIES = (
    "-d",
    "--data",
    "--data-raw",
    "--data-binary",
    "--data-urlencode",
    "--json",
    "--post-data",
    "--body-data",
    "-F",
    "--form",
    "-f",
    "--field",
    "--raw-field",
    "-Body",
)
VERBS = ("-X", "--request", "--method", "-Method")


def request_of(command: Command) -> WebRequest | None:
    """The request, for programs that send one; otherwise None."""
    program = command.program
    args = command.args
    if program in ("gh", "glab"):
        if args[:1] != ("api",):
            return None
        args = args[1:]
    method, url, body = "", "", ""
    at = 0
    while at < len(args):
        word = args[at]
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if word.startswith("-") and len(word) > 1:
            if not equals and name in CURL_VALUED and not (program in ("http", "https", "xh") and name == "-f"):
                at += 1
                value = args[at] if at < len(args) else ""
            elif not equals and (cluster := CLUSTER.match(word)):
                name, value = f"-{cluster[1]}", cluster[2].lstrip("=")
                if not value:
                    at += 1
                    value = args[at] if at < len(args) else ""
            if name in VERBS:
                method = value.upper()
            elif name in BODIES:
                body += value
            elif name in ("--url", "-Uri"):
                url = value
        elif program in ("http", "https", "xh") and not method and not url and word in METHODS:
            method = word
        elif not url:
            url = word
        else:
            body += f" {word}"
        at += 1
    if not method:
        method = "POST" if body and program != "wget" else "GET"
    return WebRequest(method, url, body or command.stdin or "")


CLIENTS = frozenset(
    (
        "curl",
        "wget",
        "http",
        "https",
        "xh",
        "curlie",
        "gh",
        "glab",
        "Invoke-RestMethod",
        "Invoke-WebRequest",
        "irm",
        "iwr",
    )
)
