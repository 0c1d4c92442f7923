"""Which names denote secrets, and which values under such a name are secrets."""

from __future__ import annotations

import functools
import re
from typing import Literal

from ..core import late_pattern

ValuePlace = Literal["quoted", "assigned", "setting", "code", "field"]
"""How a value is written: quoted; quoted in a shell (NAME='...'); name=value in a file, a shell or a URL; in code;
after a colon on its own line."""

LONGEST_NAME = 100
"""The most characters of a name that says what a value is for."""

SURE = frozenset(("password", "secret", "key"))
"""Kinds whose names almost always denote a secret; a token may also be a word."""

KEY_OWNERS = (
    "api|access|secret|private|encryption|encrypt|decryption|signing|sign|auth|account|master|service|app|application"
    "|client|deploy|license|licence|ssh|gpg|jwt|storage|shared|consumer|admin|webhook|subscription|session|root|hmac"
)

_PASS = r"[_-]pass|\bpass|(?-i:[a-z]Pass)|[_-]pw|\bpw"

NAMES = (
    rf"passw(?:or)?d|passphrase|passcode|pwd|{_PASS}|secret|token|(?-i:_PAT)|credentials?|(?-i:_CREDS?)|[_-]auth"
    rf"|(?:{KEY_OWNERS})[_-]?key(?:[_-](?:value|data))?|(?-i:_KEY)"
)
"""Endings of a secret's name (in either case)."""

TAIL = "(?:[_-][A-Za-z0-9_-]*)?"
"""May follow in a name: whose secret it is, or where it applies (API_KEY_PROD)."""

LIKE_NAMES = NAMES.replace(_PASS, "[_-]?(?:pass|pw)")
"""Matches wherever NAMES does: for a quick check, which starts faster because it ignores word boundaries."""

_ENDING = late_pattern(
    r"(?:(?P<password>passw(?:or)?d|passphrase|passcode|pwd|(?:^|[_-])pw|[_-]pass|^pass|(?-i:(?<=[a-z])Pass))"
    r"|(?P<secret>secret)"
    rf"|(?P<key>(?:{KEY_OWNERS})[_-]?key(?:[_-](?:value|data))?)"
    r"|(?P<token>token|(?-i:_PAT))|(?P<credential>credentials?|(?-i:_CREDS?)|(?:^|[_-])auth)|(?P<other_key>_key))$",
    re.IGNORECASE,
)

_NO_SECRET = late_pattern(
    r"(?:^|[_.-])(?:pad|bos|eos|unk|sep|cls|mask|next|page|stop|special|first|last|cur|current|prev|previous|start|end|sub"
    r"|word|cancellation|continuation|sync|per|num|max|min|new|target|image|text|input|output|prompt|public|cache|primary"
    r"|foreign|sort|partition)[_-]?$",
    re.IGNORECASE,
)

ABOUT = frozenset((
    "id", "ids", "name", "names", "type", "types", "kind", "kinds", "count", "counts", "len", "length", "min", "max",
    "size", "limit", "limits", "budget", "usage", "used", "total", "cost", "price", "rate", "per", "url", "uri",
    "host", "hosts", "endpoint", "path", "file", "files", "filename", "dir", "folder", "arn", "ref", "refs",
    "reference", "ttl", "expire", "expires", "expired", "expiry", "expiration", "timeout", "lifetime", "age", "days",
    "hours", "minutes", "seconds", "secs", "ms", "date", "time", "at", "rotation", "regex", "regexp", "pattern", "re",
    "format", "fmt", "field", "fields", "attr", "column", "header", "headers", "param", "params", "prefix", "suffix",
    "hash", "hashed", "hashes", "hasher", "hashers", "digest", "checksum", "sha", "sha1", "sha256", "sha512", "md5",
    "fingerprint", "salt", "policy", "reset", "change", "changed", "required", "enabled", "disabled", "valid",
    "validate", "validation", "validator", "validators", "version", "versions", "env", "var", "variable", "class",
    "cls", "index", "idx", "pos", "offset", "start", "end", "first", "last", "next", "prev", "alg", "algorithm",
    "method", "scheme", "provider", "manager", "store", "storage", "source", "issuer", "audience", "scope", "scopes",
    "status", "state", "label", "title", "text", "str", "string", "hint", "help", "prompt", "message", "msg", "error",
    "errors", "placeholder", "input", "inputs", "output", "outputs", "list", "lists", "set", "sets", "map", "dict",
    "table", "key", "keys", "values", "strength", "score", "complexity", "category", "categories", "group", "rule",
    "rules", "test", "case", "func", "fn", "function", "handler", "callback", "service", "client", "cache", "ring",
    "s",
))  # fmt: skip
"""Words after a secret's name that make it the name of something about the secret."""

PLAIN_WORDS = frozenset((
    "none", "null", "nil", "undefined", "true", "false", "yes", "no", "on", "off", "str", "string", "int", "integer",
    "number", "bool", "boolean", "bytes", "text", "any", "object", "optional", "required", "hidden", "varchar", "char",
    "self", "unset", "empty", "default", "invalid", "incorrect", "missing", "prompt", "todo", "fixme", "tbd", "n/a",
    "password", "passwd", "pass", "pwd", "secret", "secrets", "token", "tokens", "key", "keys", "api_key", "api-key",
    "apikey", "api_keys", "credential", "credentials", "changeme", "change_me", "change-me",
))  # fmt: skip
"""Types, states and the names themselves: not secrets, or not worth redacting."""

_MARKED = late_pattern(
    r"\$[({].*|\$[A-Z_][A-Z0-9_]*|\$[a-z_]+|\$[0-9]|<.*>|\[.*\]|\{.*\}|%[sdr]|%\(.*|%[A-Z_]+%|:[a-z_]+|@[\w./-]*\.[a-z]+"
    r"|@/.*|[^A-Za-z0-9]*(?:%[sdr][^A-Za-z0-9]*)+|!(?:Ref|Sub|GetAtt|vault|secret|env|ENV|reference).*|[*.xX…_?-]+",
    re.DOTALL,
)
"""Variables, templates, files and asterisks."""

_STAND_IN = late_pattern(
    r"your|example|placeholder|replace|insert|redacted|dummy|xxxx"
    r"|[-_ ](?:(?<=key.)|(?<=token.)|(?<=word.)|(?<=secret.)|(?<=value.)|(?<=goes.)|(?<=it.)|(?<=one.))here$"
    r"|\*\*\*|\.\.\.|…",
    re.IGNORECASE,
)
_VARIABLE = late_pattern(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_DIGIT = late_pattern("[0-9]")

_REFERENCE = late_pattern(
    r"(?:https?|file|op|vault|arn|ref|env)[:+].*|(?:~|\.{1,2})?/[\w@.-]+(?:/[\w@. -]*)*|[A-Za-z]:\\.*"
)
"""A location where the secret is stored."""

_FILLED_IN = late_pattern(r"\{(?:[A-Za-z_][\w.!:\[\]'\"()]*|[0-9]?)\}|\$[({]|#\{|<%|%\(\w+\)s")
"""A text that is filled in elsewhere."""

_SENTENCE = late_pattern(
    r"\b(?:enter|your|please|must|invalid|incorrect|required|the|is|are|an?|for|to|forgot|reset|wrong|missing|and|or|of"
    r"|not|should|new|old|confirm|current|with|in|password|passphrase|token|secret|key|user|from|if|this|that|be|cannot"
    r"|failed)\b",
    re.IGNORECASE,
)

_PROMPT = late_pattern(
    r"\b(?:enter|your|please|must|invalid|incorrect|required|forgot|wrong|missing|confirm|cannot|failed|password|passphrase)\b",
    re.IGNORECASE,
)
"""Fewer words than `_SENTENCE`, for a secret assigned in a shell: a passphrase may be a sentence as well."""

_PATTERN = late_pattern(r"\[\^?\S-\S|\\[\w.-]|\(\?")
"""A regular expression: a description of a token, not a token."""

_CODE = late_pattern(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+")
_IDENTIFIER = late_pattern(r"[A-Za-z_]\w*")
_WORDS = late_pattern(r"[A-Z]*[a-z]+(?:[-_/.:][A-Za-z]+)+|(?:[A-Z]?[a-z]+){2,}")
_KEYWORD = late_pattern(r"pass|pwd|secret|token|key|cred|auth", re.IGNORECASE)


_CAMEL_TAIL = late_pattern(
    r"(?<=[a-z])(?:Prod|Production|Dev|Development|Staging|Test|Live|Db|Database|Admin|User|Root|Main|Master|Backup|Old|New"
    r"|Local|Remote|Api)\Z"
)
"""Whose secret it is, or where it applies (dbPasswordProd)."""


def is_likely(value: str, length: int) -> bool:
    """Whether a value is likely to be a secret anywhere: letters and digits, and neither a placeholder nor code."""
    value = value.rstrip(".,;:")
    return _is_mixed(value, length) and not (
        _is_placeholder(value) or _REFERENCE.fullmatch(value) or _FILLED_IN.search(value) or _is_code(value)
        or value.endswith(")") or _REDACTED in value
    )  # fmt: skip


_REDACTED = "[redacted:"


def kind_of_name(name: str) -> str | None:
    """What a name denotes: password, secret, key, token, credential, or None if it is not secret."""
    if name[-1:].islower() and not name.islower():
        name = _CAMEL_TAIL.sub("", name)
    bare = name.rstrip("0123456789")
    found = _ENDING.search(bare)
    if found is None:
        # Whatever its kind, the value has to look like a secret: most such names denote something else.
        tailed = _with_tail().search(name) if len(name) <= LONGEST_NAME else None
        if tailed is None or _is_about(tailed["tail"]):
            return None
        return "password" if name.isupper() and "PASSW" in name else "credential"
    if name in ("PWD", "OLDPWD"):
        return None
    kind = found.lastgroup
    if kind in ("token", "other_key") and _NO_SECRET.search(bare, 0, found.start()):
        return None
    if kind == "other_key":
        return "key" if name.isupper() else None
    return kind


def kind_of_container(name: str) -> str | None:
    """The kind of the values grouped under a name: `secrets`, `credentials`, `api_keys`."""
    if name.lower() == "tokens":
        return None  # pieces of text
    kind = kind_of_name(name.removesuffix("s"))
    return kind if kind == "credential" or name.endswith("s") else None


def is_secret_in_container(kind: str, name: str, value: str) -> bool:
    """Whether a value in a group of secrets is itself a secret, and not something about them."""
    judged = "password" if kind == "password" else "credential"
    return not _is_about(name) and is_secret(judged, value, "quoted")


def is_secret(kind: str, value: str, place: ValuePlace) -> bool:
    """Whether a value under a secret's name is the secret itself, and not a type, a placeholder or code."""
    if not value or _is_placeholder(value) or _REFERENCE.fullmatch(value) or _FILLED_IN.search(value):
        return False
    if kind in ("authorization", "cookie"):
        return len(value) >= 8 and not _is_placeholder(value.split()[-1])
    if " " in value or "\t" in value:
        spoken = _PROMPT if place == "assigned" else _SENTENCE
        return (
            place in ("quoted", "assigned")
            and kind == "password"
            and value[0] not in "),]+%.:;"
            and not spoken.search(value)
        )
    if place in ("quoted", "assigned"):
        return value[0] not in "),]+" and _is_quoted_secret(kind, value)
    if place == "setting":
        return _is_setting(kind, value)
    if _is_code(value) or (_IDENTIFIER.fullmatch(value) and _KEYWORD.search(value)):
        return False
    if place == "field" and kind == "password":
        return len(value) >= 5 and not value.istitle() and not value.endswith((".", ",", ":"))
    if place == "field":
        return _is_mixed(value, 8 if kind in SURE else 12)
    return _is_mixed(value, 6 if kind in SURE else 16)


@functools.cache
def _with_tail() -> re.Pattern[str]:
    """A name that continues after a secret's name. Compiled on first use, which takes longer than most texts do."""
    return re.compile(
        rf"(?:^|[_.-])(?:(?:{KEY_OWNERS})[_-]?key|passw(?:or)?d|passphrase|secret|token)(?P<tail>(?:[_-][a-z0-9]+)+)$",
        re.IGNORECASE,
    )


def _is_about(words: str) -> bool:
    return not ABOUT.isdisjoint(words.lower().replace("-", "_").split("_"))


def _is_placeholder(value: str) -> bool:
    """Whether a value is only a placeholder, or names the variable that has the secret."""
    if value.lower() in PLAIN_WORDS or _MARKED.fullmatch(value) or _VARIABLE.fullmatch(value):
        return True
    return value[:5].lower() in ("your-", "your_", "<your") or bool(
        not _DIGIT.search(value) and _STAND_IN.search(value)
    )


def _is_quoted_secret(kind: str, value: str) -> bool:
    if kind == "password":
        return len(value) >= 3
    if _WORDS.fullmatch(value) and _KEYWORD.search(value):
        return False  # the name of one
    if kind == "secret":
        return len(value) >= 4
    if kind in SURE:
        return _is_mixed(value, 6) or len(value) >= 16
    return _is_mixed(value, 8) and not _PATTERN.search(value)


def _is_setting(kind: str, value: str) -> bool:
    if _is_code(value):
        return False
    return len(value) >= 3 if kind in SURE else _is_mixed(value, 8)


def _is_code(value: str) -> bool:
    """Whether it consists of names joined by dots or arrows, none of which looks random."""
    if _CODE.fullmatch(value) is None:
        return False
    return not any(
        (_is_mixed(part, 16) and not _KEYWORD.search(part)) or (_COUNTED.search(part) and not _KNOWN_NUMBER.match(part))
        for part in re.split(r"[.:>_-]+", value)
    )


_COUNTED = late_pattern(r"[a-z][0-9]{3,}\Z")
_KNOWN_NUMBER = late_pattern(
    r"(?:sha|int|uint|float|base|utf|ascii|iso|cp|rfc|http|x|v|port|page)[0-9]+\Z", re.IGNORECASE
)
"""Names that conventionally end in a number; other names in code rarely do."""


def _is_mixed(value: str, length: int) -> bool:
    """Whether it mixes letters and digits, as random values and careful people do."""
    return len(value) >= length and any(map(str.isalpha, value)) and any(map(str.isdigit, value))
