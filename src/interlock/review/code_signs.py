"""A quick regex pre-check: whether code may act, do harm, send data or evaluate a file."""

from __future__ import annotations

from functools import cache, lru_cache

import re2
from msgspec import Struct


class CodeSigns(Struct, frozen=True):
    """Whether code may contain a recognizable call that acts (opening a project file is not one), a call that may do
    harm, a call that sends over a network, and a call that evaluates a data file."""

    acts: bool
    harms: bool
    sends: bool
    evaluates: bool


@lru_cache(64)
def signs_in(code: str) -> CodeSigns:
    """The signs of a piece of code; most code has none."""
    hits = _signs().Match(code.encode("utf-8", "replace")) or ()
    return CodeSigns(0 in hits, 1 in hits, 2 in hits, 3 in hits)


ACTS = (
    r"\brm\b|rm_|rmSync|rmtree|rmdir|[rR]emove|unlink|delete|system|\bexec|spawn|[pP]open|subprocess|[dD]rop|DROP|destroy|purge"
    r"|terminate|[fF]lush_?[aAdD]|truncate|TRUNCATE|DELETE|shell_exec|passthru|rename|move|`|qx|rimraf|execute|\bkill|erase"
    r"|wipe|cancel|revoke|deregister|getattr|rot_?13|partial|import_module|__import__|b64|fromhex|unhexlify|atob|\bchr\b|bytes\("
    r"|extractall|unpack_archive|extractAllTo|symlink|os\.replace|shutil\.copy|copyFileSync|cpSync|cp_r"
    r"|\.del\(|\\x|if_exists|write_(?:coil|register|single|multiple)"
    r"|(?i:payout|refund|transfer|charge|intent)s?\.create\(|clear[_A-Z]|\.query\(|\.raw\(|\bsh\b|execa|doShellScript|empty"
    r"|(?:open|[wW]riteFile\w*|file_put_contents|appendFile\w*|File\.write)\(\s*[rbfu]?[\"'](?:/|~|\.)|HOME|home\(|expanduser"
)
HARMS = (
    "rm|[rR]emove|unlink|delete|system|exec|spawn|popen|Popen|subprocess|drop|destroy|purge|terminate|flush|truncate"
    "|DELETE|open|write|shell_exec|passthru|rename|move|`|qx|rimraf|empty|query|raw|kill|erase|reset|wipe|clear|cancel"
    "|revoke|deregister|extract|unpack|symlink|replace|shutil"
)
SENDS = (
    r"\b(?:requests|httpx|session|aiohttp|axios|got|superagent|http|https)\.(?:post|put|patch|request|get)\b|urlopen\(|urllib"
    r"|http\.client|HTTPS?Connection|\bsocket\b|create_connection|smtplib|ftplib|paramiko|\bfetch\(|\baxios\(|Net::HTTP|LWP::|fsockopen"
    r"|curl_init|curl_exec|IO::Socket|TCPSocket|net\.connect|dns\.(?:lookup|resolve)|gethostbyname|getaddrinfo|sendBeacon|WebClient"
    r"|file_get_contents\(\s{0,4}['\"]http|URI\.open|open-uri"
    r"|require\(['\"](?:node:)?(?:https?|net|dgram|dns|tls)['\"]\)"
)
EVALUATES = (
    r"unsafe_load|yaml\.load\(|full_load|pickle|dill|joblib|torch\.load|hub\.load|marshal|jinja2|Template\(|XSLT|\beval\("
    r"|\bexec\(|runpy|from_string"
)

NAMES = r"\b(?:import|require|use)\b|=\s*[rbfu]?[\"'](?:/|~|\.\.)"
"""What calls that act refer to: modules, and paths that are given a name."""

COMMANDS = (
    r"\b(?:rm|dd|mkfs|shred|curl|wget|nc|ncat|socat|ssh|scp|rsync|sudo|chmod|chown|eval|exec|kill|git|docker|kubectl"
    r"|aws|psql|mysql|unlink|truncate|rmtree|mv|crontab|base64)\b|/dev/|(?i:drop\s+(?:table|database|schema)|delete\s+from)"
)
"""Programs and statements that act, in a script that is too long to parse."""

BEFORE, AFTER = 160, 320
"""Bytes around a sign that are kept, if its line is longer."""

MEMORY = 32 * 1024 * 1024


def acting_parts(code: str, most: int) -> tuple[str, bool]:
    """The lines of a long text that may act, up to `most` characters, and whether that is all of them."""
    text, parts, end, size = code.encode("utf-8", "replace"), [], 0, 0
    for sign in _long_signs().finditer(text):
        if sign.end() <= end:
            continue
        line = text.rfind(b"\n", max(end, sign.start() - BEFORE), sign.start()) + 1
        start = max(line or sign.start() - BEFORE, end)
        end = text.find(b"\n", sign.end(), sign.end() + AFTER)
        end = end if end >= 0 else min(sign.end() + AFTER, len(text))
        parts.append(text[start:end])
        size += end - start + 1
        if size > most:
            break
    joined = b"\n".join(parts).decode("utf-8", "replace")
    return joined[:most], size <= most


@cache
def _signs() -> re2.Set:
    options = re2.Options()
    options.max_mem = MEMORY
    found = re2.Set.SearchSet(options)
    for expression in (ACTS, HARMS, SENDS, EVALUATES):
        found.Add(expression)
    found.Compile()
    return found


@cache
def _long_signs() -> re2._Regexp[bytes]:
    return re2.compile("|".join((ACTS, SENDS, EVALUATES, NAMES, COMMANDS)).encode())
