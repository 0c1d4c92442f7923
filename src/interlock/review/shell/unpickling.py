"""Unpickling: objects that a program loads from an unusual address, which runs their code."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from ...core import late_pattern
from .model import Command
from .scope import ShellScope
from .transfers import strange_host

if TYPE_CHECKING:
    from .reader import ScriptReader

MAX_FOUND = 256
"""Literals, names and calls checked per piece of code."""


def find_unpickled(reader: ScriptReader, code: str, scope: ShellScope) -> None:
    """Record that Python code loads an object from an address that is not a usual source of code."""
    host = _hub(code)
    if UNPICKLES.search(code) is not None and not ("weights_only=True" in code and "pickle" not in code):
        files = [found[1] for found in islice(STORED.finditer(code), MAX_FOUND)]
        far = next((far for address in ADDRESS.findall(code) if (far := strange_host(address))), "")
        if far and FETCHES.search(code) and (_loads_reply(code) or len(files) > len(set(files))):
            host = far
        elif scope.files.known or scope.files.made:
            host = next((source for name in files if (source := scope.file(name).source)), host)
    if host:
        reader.add(Command(program="unpickles", args=("python", host), via=scope.via, cwd=scope.cwd))


def _hub(code: str) -> str:
    """The owner of a model repository whose code is trusted without asking, unless the owner is well known."""
    found = HUB.search(code)
    if found is None or TRUSTED.search(code) is None or KNOWN_OWNERS.match(found[1]):
        return ""
    return f"github.com/{found[1]}"


def _loads_reply(code: str) -> bool:
    """Whether the response of a request is loaded: directly, or through a variable."""
    names = {one or other for one, other in islice(REPLY.findall(code), MAX_FOUND)}
    names |= {name for name, of in islice(CONTENT.findall(code), MAX_FOUND) if of in names}
    for given in islice(LOADED.findall(code), MAX_FOUND):
        word = WORD.match(given)
        if AT_ONCE.match(given) is not None or (word is not None and word[0] in names):
            return True
    return False


UNPICKLES = late_pattern(
    r"\b(?:c?[pP]ickle|_pickle|dill|cloudpickle|marshal|joblib|torch|jsonpickle)\.(?:loads?|Unpickler|decode)\s{0,4}\(|\bread_pickle\("
    r"|allow_pickle\s{0,4}=\s{0,4}True|\bfrom\s{1,4}(?:c?[pP]ickle|dill|joblib|cloudpickle|marshal)\s{1,4}import\b"
)
FETCHES = late_pattern(
    r"urlopen|urlretrieve|\b(?:requests|httpx|session|aiohttp|http)\.(?:get|request|stream)\(|wget\.|read_pickle\(|urllib3"
)
"""Calls that load objects, and calls that send requests."""

_REQUEST = r"(?:urlopen|\b(?:requests|httpx|session|client|http)\.(?:get|request|stream))\("
REPLY = late_pattern(
    rf"\b(\w{{1,40}})\s{{0,4}}=[^\n=]{{0,40}}?{_REQUEST}|{_REQUEST}[^\n]{{0,200}}?\)\s{{1,4}}as\s{{1,4}}(\w{{1,40}})\s{{0,4}}:"
)
CONTENT = late_pattern(r"\b(\w{1,40})\s{0,4}=\s{0,4}(\w{1,40})\.(?:content|read|data|raw)\b")
LOADED = late_pattern(
    r"(?:\bloads?|Unpickler|\.decode|read_pickle)\s{0,4}\(\s{0,4}(?:(?:io\.)?BytesIO\(\s{0,4})?([^\n]{0,120})"
)
WORD = late_pattern(r"\w{1,40}")
AT_ONCE = late_pattern(rf"['\"]https?://|[^\n]{{0,80}}?{_REQUEST}")
"""Names of a response and of its content; the loaded expression, and whether it is a request itself."""

ADDRESS = late_pattern(r"https?://[^\s'\"`)]{1,200}")
STORED = late_pattern(
    r"['\"]((?!https?:)[\w./~-]{1,200}\."
    r"(?!csv|tsv|jsonl?|txt|md|parquet|png|jpe?g|html?|xml|ya?ml|gz|zip|safetensors|onnx)\w{1,10})['\"]"
)
"""Names of files that may contain objects."""

HUB = late_pattern(r"\bhub\.load\(\s{0,4}(?:repo_or_dir\s{0,4}=\s{0,4})?['\"]([\w.-]{1,60})/")
TRUSTED = late_pattern(r"trust_repo\s{0,4}=\s{0,4}True")
KNOWN_OWNERS = late_pattern(
    r"(?i)(?:pytorch|facebookresearch|ultralytics|huggingface|nvidia|snakers4|intel-isl|isl-org|rwightman)\Z"
)
