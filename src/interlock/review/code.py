"""Code: calls in Python, JavaScript, Ruby, Perl or PHP code that act on the system, as shell commands.

This reads tokens, not a grammar: it separates strings and comments from code, and follows names through one assignment.
`print("os.remove('/')")` is a mention, `os.remove('/')` a call.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

import re2
from msgspec import Struct

from ..core import late_pattern
from .code_signs import acting_parts, signs_in
from .code_tokens import assigned, calls, unquote
from .own_things import OwnThings
from .spelling import other_names, spell_out
from .wordlist import name_set

MAX_CODE = 16_384
"""Characters of code that are read; of longer code, the parts that may act."""
MAX_CALLS = 64
MAX_NESTING = 3


class CodeCall(Struct, frozen=True):
    """A call that acts: the words of a command, or a shell script; `text` is the command's input."""

    words: tuple[str, ...] = ()
    script: str | None = None
    text: str | None = None


@lru_cache(64)
def read_calls(code: str, depth: int = 0) -> list[CodeCall]:
    """The calls that act, in order, as commands. Bounded in length, tokens and nesting; do not modify the list."""
    if depth >= MAX_NESTING or not signs_in(code).acts:
        return []
    found: list[CodeCall] = []
    if len(code) > MAX_CODE:
        code, is_whole = acting_parts(code, MAX_CODE)
        found = [] if is_whole else [CodeCall(("unread",))]
    code = spell_out(code)
    aliases = {alias: name for name, alias in ALIASED.findall(code)} if " as " in code else {}
    aliases |= other_names(code, acts)
    if "unlink" in code:
        code = UNLINK_GLOB.sub("unlink ", code)
    if is_worth_reading(code, aliases):
        found += _read_calls(code, aliases, depth)
    if ".close(" in code or ".truncate(" in code:
        found += [CodeCall(script=f"> '{path}'") for path in EMPTIED.findall(code)[:MAX_CALLS]]
    if "boto3" in code and ALL_OBJECTS.search(code):
        found.append(CodeCall(("call", "delete_objects")))
    if "if_exists" in code and REPLACED.search(code) and FAR.search(code):
        found.append(CodeCall(("call", "drop_table")))
    if "delete_" in code and FAR.search(code):
        found += [CodeCall(("call", name)) for name in SERVED.findall(code)[:MAX_CALLS]]
    if LIVE.search(code) and (paid := PAYS.search(code)) is not None:
        found.append(CodeCall(("spends", paid[0])))
    if "write_" in code and (device := CONTROLLED.search(code)) is not None and ACTUATES.search(code):
        found.append(CodeCall(("actuates", "-h", device[1])))
    if "DELETE" in code and REQUEST_DELETE.search(code):
        found.append(CodeCall(("curl", "-X", "DELETE", next(iter(URL.findall(code)), "$url"))))
    return found


def _read_calls(code: str, aliases: dict[str, str], depth: int) -> list[CodeCall]:
    found: list[CodeCall] = []
    known = {name: unquote(text) for name, text in assigned(code)}
    known |= {name: f"{(path or home or listed).rstrip('/')}/*" for name, path, home, listed in LISTED.findall(code)}
    own: OwnThings | None = None
    if "Dir" in code:
        known |= {name: f"{path.rstrip('/*')}/*" for path, name in EACH_OF.findall(code)}
    for name, literals, before in calls(code, known):
        head, dot, rest = name.partition(".")
        if not literals and not before and dot and head in known:
            before = [known[head]]
        made = as_commands(f"{aliases.get(head, head)}{dot}{rest}", literals, before, depth)
        if made and made[0].words[:1] in (("call",), ("curl",)):
            own = own or OwnThings(code)
            if own.has(name, literals):
                continue
        found += made
        if len(found) >= MAX_CALLS:
            break
    return found


ALIASED = late_pattern(r"import(?<=\bimport)\s{1,4}([A-Za-z_]\w{0,63})\s{1,4}as\s{1,4}([A-Za-z_]\w{0,63})")
UNLINK_GLOB = late_pattern(r"\bunlink\s{1,4}glob\b\s{0,4}")
LISTED = late_pattern(
    r"for(?<=\bfor)\s{1,4}(\w{1,64})\s{1,4}in\s{1,4}(?:(?:pathlib\.)?Path\(\s{0,4}['\"]([^'\"\n]{1,400})['\"]\s{0,4}\)\.(?:iterdir|r?glob)"
    r"|(?=['\"]~)['\"](~[^'\"\n]{0,400})['\"]\.(?:iterdir|r?glob)|(?:os\.(?:listdir|scandir|walk)|glob\.i?glob)\(\s{0,4}['\"]([^'\"\n*]{1,400}))"
)
EACH_OF = late_pattern(
    r"\bDir(?:\.\w{4,10}\(|\[)\s{0,4}['\"]([^'\"\n]{1,400})['\"][^\n{]{0,40}?\.each\w{0,16}\s{0,4}(?:\{|do)\s{0,4}\|(\w{1,64})\|"
)
"""A loop over the contents of a folder, and the same in Ruby."""

EMPTIED = late_pattern(
    r"open\(\s{0,4}['\"]([^'\"\n]{1,400})['\"]\s{0,4},\s{0,4}['\"]w[b+]{0,2}['\"]\s{0,4}\)\.(?:close|truncate)\("
)
"""A file that is opened for writing and closed immediately."""

ALL_OBJECTS = late_pattern(r"\.(?:objects|object_versions|items)\.(?:all|filter)\([^()]{0,200}\)\.delete\(")
REPLACED = late_pattern(r"\bif_exists\s{0,4}=\s{0,4}['\"]replace")
FAR = late_pattern(r"\w://(?:[^/@\s'\"]{0,80}@)?[a-zA-Z][\w-]{0,62}\.\w")
"""Everything in a bucket is deleted; a table in a remote database is replaced."""

SERVED = late_pattern(
    r"\.(delete_(?:registered_)?(?:model|model_version|experiment|run|artifact|endpoint|pipeline|feature_view"
    r"|feature_group)s?)\("
)
"""Shared objects of a model server; code that names no server may call its own function so."""

LIVE = late_pattern(r"\b[sr]k_live_|LIVE|livemode")
PAYS = late_pattern(r"(?i)\b(?:payouts?|refunds?|transfers?|charges?|payment_?intents?)\.create\(")
"""A key for real money, and calls that move it."""

CONTROLLED = late_pattern(r"\b(?:Async)?Modbus\w{0,24}\(\s{0,4}(?:host\s{0,4}=\s{0,4})?['\"]([\w.:-]{1,100})")
ACTUATES = late_pattern(r"\.write_(?:coils?|registers?|single_\w{1,20}|multiple_\w{1,20})\(")
"""A networked controller, and calls that set its outputs."""

REQUEST_DELETE = late_pattern(r"method[\"']?\s*[:=]\s*[\"']DELETE[\"']|request\(\s*[\"']DELETE[\"']")
URL = late_pattern(r"https?://[^\s\"'`)]+")


def acts(function: str) -> bool:
    """Whether a function of this name may act."""
    owner, _, last = function.rpartition(".")
    return last in DELETES or last in RUNS or (last in OWN_DELETES and owner in OWNED_DELETES)


OWNED_DELETES = ("os", "Path", "File", "fs", "FileUtils", "Dir", "fsPromises", "promises", "pathlib")
DELETES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("unlink", "unlinkSync", "rm_f", "remove_file"), ("rm",)),
    **dict.fromkeys(
        (
            "rmtree",
            "rmSync",
            "rmdirSync",
            "rm_r",
            "remove_tree",
            "removeSync",
            "emptyDirSync",
            "RemoveAll",
            "remove_dir_all",
        ),
        ("rm", "-r"),
    ),
    **dict.fromkeys(("remove_dir", "remove_entry", "remove_entry_secure", "rm_dir", "deleteDirectory"), ("rm", "-r")),
    **dict.fromkeys(("rm_rf", "rimraf"), ("rm", "-rf")),
    "removedirs": ("rmdir",),
}
"""Calls that delete files, whatever object they belong to."""

OWN_DELETES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("remove", "delete", "del", "removeFile", "Remove"), ("rm",)),
    "rm": ("rm", "-r"),
    "rmdir": ("rmdir",),
}
"""Calls that delete files if they belong to one of OWNED_DELETES; a list has a `remove` too."""

LIBRARY: dict[str, tuple[str, ...]] = {
    "truncate": ("truncate", "-s", "0"), "truncateSync": ("truncate", "-s", "0"), "replace": ("mv",),
    **dict.fromkeys(("symlink", "symlinkSync", "ln_s", "ln_sf"), ("ln", "-s")),
    **dict.fromkeys(name_set("copy copy2 copyfile copytree cp cpSync copyFileSync cp_r copyFile"), ("cp", "-r")),
}  # fmt: skip
"""Library calls equivalent to a shell program."""

RUNS = name_set(
    """system popen Popen run call check_call check_output getoutput getstatusoutput execSync spawn spawnSync execFile
    execFileSync exec shell_exec passthru proc_open execvp execv execlp execl spawnl spawnv capture2 capture3 popen3
    sh execa execaSync doShellScript Command"""
)
RUN_OWNERS = (
    "subprocess",
    "exec",
    "os",
    "sp",
    "child_process",
    "cp",
    "commands",
    "Open3",
    "IO",
    "Kernel",
    "Process",
    "asyncio",
    "shell",
    "execa",
    "pty",
)
STATEMENTS = name_set("execute executescript executemany query raw executeUpdate exec_driver_sql command")
WASTES = r"(?:delete|drop|destroy|purge|remove|terminate|flush|truncate|erase|wipe|cancel|revoke|deregister|clear)"
RESOURCE = late_pattern(rf"{WASTES}_?[A-Za-z][A-Za-z_]*\Z", re.ASCII)

OPENS = ("open", "writeFileSync", "writeFile", "file_put_contents", "appendFileSync")
UNPACKS = ("extractall", "unpack_archive", "extractAllTo")
MOVES = ("move", "rename", "renameSync")
EVALUATES = ("exec", "eval", "execScript")
ENDS = ("delete", "del", "destroy", "remove", "cancel")


NOUNS = name_set(
    """indice index customer subscription plan product user account bucket database collection project secret key
    apikey webhook payment_method paymentmethod transaction addres address document cluster snapshot template domain
    contact instance table queue topic stream namespace zone record dnsrecord group role policy token
    merchant_account merchantaccount coupon price invoice repo repository branch environment flag segment
    feature_flag dashboard monitor alert incident schedule service pod deployment volume image distribution function
    catalog location loyalty card team merchant dataset"""
)
"""Things that a service's client deletes through `client.<things>.delete(...)`."""


NAMES = frozenset((
    *DELETES, *OWN_DELETES, *LIBRARY, *RUNS, *STATEMENTS, *OPENS, *UNPACKS, *MOVES, *EVALUATES, *ENDS, "rimraf", "sync",
))  # fmt: skip
"""Names of calls that `as_commands` handles, besides those whose name says what they delete."""

SEPARATOR = late_pattern(r"\.|::|->")


def as_commands(name: str, literals: list[str], before: list[str], depth: int) -> list[CodeCall]:
    """One call as shell commands."""
    if name == "`":
        return [CodeCall(script=literals[0])]
    bare = name.strip(".")
    parts = SEPARATOR.split(bare) if ":" in bare or ">" in bare else bare.split(".")
    last, owner = parts[-1], parts[-2] if len(parts) > 1 else ""
    if last not in NAMES and owner != "rimraf" and RESOURCE.match(last) is None:
        return []
    target = literals[:4] or before[:1] or ["$path"]
    if owner == "rimraf" or (last in ("sync", "rimraf") and before[:1] == ["rimraf"]):
        return [CodeCall(("rm", "-rf", *literals[:4]))]
    if last in DELETES:
        return [CodeCall((*DELETES[last], *target))]
    if last in OWN_DELETES and (owner in OWNED_DELETES or (last in ("rmdir", "rm") and name.startswith("."))):
        return [CodeCall((*OWN_DELETES[last], *target))]
    if last == "delete" and (
        owner in ("requests", "axios", "httpx", "http", "got", "superagent")
        or (owner in ("session", "client", "s", "request") and literals and "/" in literals[0])
    ):
        return [CodeCall(("curl", "-X", "DELETE", *target[:1]))]
    if (
        last in RUNS
        and literals
        and (not owner or owner in RUN_OWNERS or last.startswith(("exec", "spawn", "check_", "getout")))
    ):
        return run(last, literals, depth)
    if name in ("os.execute", "io.popen") and literals:
        return [CodeCall(script=literals[0])]
    if last in EVALUATES and literals:
        return read_calls(literals[0], depth + 1)
    if last in STATEMENTS and literals:
        return [CodeCall(("sql",), text=literals[0])]
    if last in OPENS:
        return opened(last, literals)
    if last in LIBRARY and owner in (*OWNED_DELETES, "shutil", "zipfile", "tarfile") and literals:
        return [CodeCall((*LIBRARY[last], *literals[:3]))]
    if last in UNPACKS and literals:
        return [CodeCall(("tar", "-x", "-C", literals[-1]))]
    if last in MOVES and len(literals) > 1:
        return [CodeCall(("mv", literals[0], literals[1]))]
    if last in ENDS and owner.rstrip("s").lower() in NOUNS and (len(parts) > 2 or owner[-1:] != "s" or before):
        return [CodeCall(("call", f"delete_{owner}", *literals[:2]))]
    if RESOURCE.match(last) and is_resource(last):
        return [CodeCall(("call", last, *literals[:2]))]
    return []


def is_resource(name: str) -> bool:
    """Whether the last word of a function's name is something that a service may store; a tree node is not."""
    if not name.startswith(("delete", "remove")):
        return True
    thing = WORD.findall(name)[-1].lower()
    return thing in ALL_OF_THEM or thing.rstrip("s") in NOUNS or thing in NOUNS


WORD = late_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
ALL_OF_THEM = name_set("all many query objects object stack stacks indices")


def is_worth_reading(code: str, aliases: dict[str, str]) -> bool:
    """Whether the code can contain a call that `as_commands` handles, by its own name or an alias."""
    texts = (code, *(f"{name}(" for name in aliases.values()))
    return "`" in code or any(_calls().Match(text.encode("utf-8", "replace")) for text in texts)


@cache
def _calls() -> re2.Set:
    """Matches the end of the name of such a call and the characters after it."""
    found = re2.Set.SearchSet()
    found.Add(rf"\b(?:{'|'.join(sorted(NAMES))}|{WASTES}_?[A-Za-z_]+)(?:\W{{0,8}}\(|!?[ \t]{{1,8}}['\"\[])|rimraf")
    found.Compile()
    return found


def run(name: str, literals: list[str], depth: int) -> list[CodeCall]:
    """A call that runs a program: one literal is a script, several are words; placeholders are filled in."""
    for value in literals[1:]:
        mark = next((mark for mark in ("%s", "{}") if mark in literals[0]), None)
        if mark is not None:
            literals = [literals[0].replace(mark, value, 1), *literals[1:]]
    if len(literals) == 1 or " " in literals[0].strip():
        nested = read_calls(literals[0], depth + 1) if name == "exec" else []
        return [*nested, CodeCall(script=literals[0])]
    return [CodeCall(tuple(literals))]


def opened(name: str, literals: list[str]) -> list[CodeCall]:
    """A file that is opened for writing, appending or reading."""
    if not literals:
        return []
    mode = literals[1] if len(literals) > 1 else "r"
    if name != "open" or mode[:1] in ("w", "x"):
        return [CodeCall(("tee", literals[0]))]
    if mode[:1] == "a":
        return [CodeCall(("tee", "-a", literals[0]))]
    return [CodeCall(("cat", literals[0]))]
