"""Secrets recognised by their shape: issued tokens, keys, headers, URLs, command lines."""

from __future__ import annotations

from typing import NamedTuple


class Shape(NamedTuple):
    """The shape of a secret. `hint` is cheap and must match wherever `pattern` does.

    The secret is the pattern's group (of several, the one that matched), or the whole match. With `mixed`, it must
    have letters and digits, and this many characters.
    """

    kind: str
    hint: str
    pattern: str
    mixed: int = 0


def _token(kind: str, prefix: str, rest: str) -> Shape:
    """A token with a prefix that was issued for recognition."""
    return Shape(kind, prefix, rf"\b{prefix}{rest}")


W = "[A-Za-z0-9_-]"
"""A character of most tokens. A token is matched to its very end, so that nothing of it is left."""

ISSUED = (
    _token("anthropic_key", "sk-ant-", f"{W}{{16,}}"),
    _token("openai_key", "sk-(?:proj|svcacct|admin|None|or-v1)-", f"{W}{{20,}}"),
    _token("openai_key", "sk-[A-Za-z0-9]{20}", f"{W}*"),
    _token("aws_key", "(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]", "[A-Z0-9]{15,}"),
    _token("github_token", "gh[pousr]_", f"[A-Za-z0-9]{{20,}}{W}*"),
    _token("github_token", "github_pat_", f"{W}{{20,}}"),
    _token("gitlab_token", "gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|oas|ffct)-", f"{W}{{16,}}(?:\\.{W}+)*"),
    _token("slack_token", "xox[abceoprs][.-]", "[A-Za-z0-9.-]{10,}"),
    _token("slack_token", "xapp-[0-9]", "[A-Za-z0-9-]{10,}"),
    _token("stripe_key", "[sr]k_(?:live|test)_", "[A-Za-z0-9]{10,}"),
    _token("webhook_secret", "whsec_", "[A-Za-z0-9+/=]{16,}"),
    _token("google_key", "AIza", f"{W}{{30,}}"),
    _token("google_token", "ya29\\.", "[A-Za-z0-9._-]{20,}"),
    _token("google_token", "GOCSPX-", f"{W}{{20,}}"),
    _token("google_token", "1//0", f"{W}{{30,}}"),
    _token("npm_token", "npm_", "[A-Za-z0-9]{30,}"),
    _token("pypi_token", "pypi-", f"{W}{{40,}}"),
    _token("huggingface_token", "hf_", "[A-Za-z0-9]{20,}"),
    _token("huggingface_token", "api_org_", "[A-Za-z0-9]{30,}"),
    _token("twilio_key", "SK[0-9a-f]{4}", "[0-9a-f]{28,}"),
    _token("sendgrid_key", "SG\\.", f"{W}{{16,}}\\.{W}{{16,}}"),
    Shape("telegram_token", "[0-9]:AA", rf"(?:\b|bot)([0-9]{{8,10}}:AA{W}{{30,}})"),
    Shape("discord_token", rf"\.[C-GX-Z]{W}{W}{W}{W}{W}\.{W}", rf"\b[MNO]{W}{{22,}}\.{W}{{6}}\.{W}{{25,}}"),
    _token("digitalocean_token", "do[oprt]_v1_", "[a-f0-9]{40,}"),
    _token("shopify_token", "shp(?:at|ca|pa|ss)_", "[a-fA-F0-9]{32,}"),
    _token("square_token", "sq0(?:atp|csp)-", f"{W}{{22,}}"),
    _token("mailgun_key", "key-[0-9a-f]{4}", "[0-9a-f]{28,}"),
    Shape("mailchimp_key", "[0-9a-f]-us[0-9]", r"\b[0-9a-f]{32}-us[0-9]{1,2}\b"),
    _token("databricks_token", "dapi[a-f0-9]", "[a-f0-9]{31,}(?:-[0-9])?"),
    _token("doppler_token", "dp\\.(?:pt|st|ct|sa|scim|audit)\\.", "[A-Za-z0-9._-]{40,}"),
    _token("linear_key", "lin_api_", "[A-Za-z0-9]{32,}"),
    _token("notion_token", "(?:secret|ntn)_[A-Za-z0-9]", "[A-Za-z0-9]{39,}"),
    _token("postman_key", "PMAK-", "[a-f0-9]{20,}-[a-f0-9]{30,}"),
    Shape("airtable_token", r"pat[A-Za-z0-9]{14}\.[a-f0-9]", r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{60,}"),
    _token("atlassian_token", "ATATT3", "[A-Za-z0-9_=-]{60,}"),
    _token("grafana_token", "gl(?:sa|c)_", "[A-Za-z0-9+/=_-]{30,}"),
    _token("vault_token", "hv[sbr]\\.", f"{W}{{20,}}"),
    Shape("terraform_token", "atlasv1", rf"\b[A-Za-z0-9]{{10,}}\.atlasv1\.{W}{{40,}}"),
    _token("rubygems_key", "rubygems_", "[a-f0-9]{40,}"),
    _token("docker_token", "dckr_(?:pat|oat)_", f"{W}{{20,}}"),
    _token("groq_key", "gsk_", "[A-Za-z0-9]{30,}"),
    _token("replicate_token", "r8_", "[A-Za-z0-9]{30,}"),
    _token("perplexity_key", "pplx-", "[A-Za-z0-9]{30,}"),
    _token("xai_key", "xai-", "[A-Za-z0-9]{40,}"),
    _token("langsmith_key", "lsv2_(?:pt|sk)_", "[A-Za-z0-9_]{30,}"),
    _token("pinecone_key", "pcsk_", "[A-Za-z0-9_]{30,}"),
    _token("tavily_key", "tvly-", f"{W}{{20,}}"),
    _token("newrelic_key", "NRAK-", "[A-Z0-9]{20,}"),
    _token("sentry_token", "sntry[su]_", "[A-Za-z0-9+/=_-]{30,}"),
    _token("supabase_key", "sb(?:p|_secret)_", f"{W}{{20,}}"),
    _token("planetscale_token", "pscale_(?:tkn|pw|oauth)_", f"{W}{{20,}}"),
    _token("onepassword_token", "ops_eyJ", "[A-Za-z0-9_=.-]{40,}"),
    Shape("azure_secret", "[0-9]Q~", r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{30,}"),
    _token("age_key", "AGE-SECRET-KEY-1", "[A-Z0-9]{40,}"),
    _token("jwt", "eyJ", f"{W}{{8,}}(?:\\.{W}{{3,}}){{1,4}}"),
    Shape(
        "password_hash",
        r"\$(?:apr1|[1567y]|2[abxy]|argon2(?:id|i|d))\$",
        r"\$(?:apr1|[1567y]|2[abxy]|argon2(?:id|i|d))\$[^\s:\"'$][^\s:\"']{15,}",
    ),
)

_PEM_BODY = r"(?:\\[nr]|[A-Za-z0-9+/=\s])"

KEYS = (
    Shape(
        "private_key",
        "PRIVATE KEY",
        # To its end, if there is one; otherwise as long as lines look like those of a key.
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----("
        r"[^-]*(?:-[^-]+)*-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
        rf"|{_PEM_BODY}{{20,}}(?:-----END[A-Z0-9 -]*)?)",
    ),
    Shape(
        "private_key",
        "PRIVATE KEY",
        # The end of a key whose beginning was cut off.
        r"((?:[A-Za-z0-9+/=]{20,}(?:\\[nr]|\s)+)+(?:[A-Za-z0-9+/=]{1,19}(?:\\[nr]|\s)+){0,2})"
        r"-----END [A-Z0-9 ]*PRIVATE KEY",
    ),
    Shape("private_key", "Private-Lines", r"(?i)Private-Lines: [0-9]+((?:\s+[A-Za-z0-9+/=]{16,})+)"),
    Shape(
        "private_key",
        "LS0tLS1CRUdJTi",
        r"\bLS0tLS1CRUdJTi(?:BSU0EgUFJJVkFURS|BQUklWQVRF|BFQyBQUklWQVRF|BPUEVOU1NI)[A-Za-z0-9+/=]{20,}",
    ),
)

ARGUMENT = r"""(?:'([^'\n]*)'|"([^"\n]*)"|([^\s"'`<>|;&$][^\s"'`|;]*))"""
"""An argument on a command line; one that starts with $ is a variable."""

SCHEMES = "basic|bearer|token|digest|apikey|negotiate|bot|key|oauth|hmac"

CARRIED = (
    Shape(
        "url_password",
        r"://[^\s/:@]*:[^\s/]*@",
        r"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@\"'`]*:([^\s/\"'`<>{}$\[\]?#*]+)@",
    ),
    Shape(
        "url_token",
        r"://[A-Za-z0-9_-]{15,}@",
        r"\bhttps?://([A-Za-z0-9_-]*[0-9][A-Za-z0-9_-]{14,}|[A-Za-z0-9_-]{14,}[0-9][A-Za-z0-9_-]*)@",
    ),
    Shape(
        "webhook",
        r"hooks\.slack\.com/",
        r"https://hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{20,})",
    ),
    Shape(
        "webhook",
        "api/webhooks/[0-9]",
        r"https://(?:[a-z]+\.)?discord(?:app)?\.com/api/webhooks/[0-9]+/([A-Za-z0-9_-]{30,})",
    ),
    Shape(
        "signature",
        "(?i:signature=|sig=)[A-Za-z0-9%+/=_-]{20}",
        r"(?i)\b(?:X-Amz-Signature|X-Goog-Signature|Signature|sig)=([A-Za-z0-9%+/=_-]{20,})",
    ),
    Shape(
        "key",
        "(?:Key|Value)=[A-Za-z0-9+/=]",
        r"\b(?:AccountKey|SharedAccessKey|SharedSecretValue)=([A-Za-z0-9+/=]{16,})",
    ),
    Shape(
        "authorization",
        r"(?i:authorization)[\"'\\]*\s*[:=]",
        rf"(?i)\b(?:proxy-)?authorization[\"'\\]*\s*[:=]\s*[\"'\\]*(?:(?:{SCHEMES})\s+)?([^\s\"'\\$<>{{}}\[\]*,;]{{6,}})",
    ),
    Shape("authorization", "(?i:bearer)\\s+[A-Za-z0-9._~+/=-]", r"(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{8,})"),
    Shape("basic", "[Bb]asic\\s+[A-Za-z0-9+/]+[A-Z0-9=]", r"\b[Bb]asic\s+([A-Za-z0-9+/]{7,}[A-Za-z0-9+/=]*)"),
    Shape(
        "cookie",
        r"(?i:cookie)[\"'\\]*\s*[:=]",
        r"(?i)\b(?:set-)?cookie[\"'\\]*:\s*[\"'\\]*([^\s=;\"'\\]+=[^\"'\\\n]{4,})",
    ),
    Shape(
        "password",
        r"(?i:login)\s+\S+\s+(?i:password)",
        r"(?i)\b(?:machine\s+\S+|default)\s+login\s+\S+\s+password\s+(\S+)",
    ),
    Shape(
        "password",
        r"(?i:identified\s+by|password)\s+(?i:password\s+)?'",
        r"(?i)\b(?:identified\s+by(?:\s+password)?|password)\s+'([^'\n\\]+)'",
    ),
    Shape(
        "password",
        r"(?i:fill|type|send_keys|set_?value|input_text)\(\s*[\"'][^\"'\n]*(?i:passw)",
        r"""(?i)\b(?:fill|type|send_keys|set_?value|input_text)\(\s*["'][^"'\n]*passw[^"'\n]*["']\s*,"""
        r"""\s*["']([^"'\n]+)["']""",
    ),
    Shape("password", r"auth=\(", r"""\bauth=\(\s*["'][^"'\n]*["']\s*,\s*["']([^"'\n{}$]+)["']\s*\)"""),
    Shape(
        "password",
        "(?i:password|passwd|pwd|secret|token|api[_-]?key)>",
        r"(?i)<[a-z0-9:_.-]*(?:password|passwd|pwd|secret|token|api[_-]?key)>\s*([^<>\s{$][^<>\n]*)</",
    ),
)

_NAMED = r"(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key)"
_ABROAD = "passwort|kennwort|contrase[nñ]a|mot de passe|senha|wachtwoord|has[lł]o|пароль|密码|密碼|パスワード"
_OWNERS = "encryption|signing|api|secret|private|master|access|jwt|hmac|shared|client|license"
_TAILS = (
    "Prod|Production|Dev|Development|Staging|Test|Live|Db|Database|Admin|User|Root|Main|Master|Backup|Old|New|Local"
    "|Remote|Api"
)

SPELLED = (
    Shape(
        "aws_secret",
        "(?i:aws_secret_access_key)",
        r"(?i)\baws_secret_access_key[\"']?\s*[:=]?\s*[\"']?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+]|$)",
    ),
    Shape("key", rf"(?i:(?:{_OWNERS})[. ]key)", rf"(?i)\b(?:{_OWNERS})[. ]key[\"']?\s*[:=]\s*[\"']?([^\s\"',;]+)", 12),
    Shape(
        "password",
        r":(?:[0-9]{4}|\*):",
        r"(?m)^[ \t]*[\w.*-]+:(?:[0-9]{4,5}|\*):(?:[A-Za-z_*][\w.*-]*):[A-Za-z_*][\w.*-]*:([^\s:]{4,})[ \t]*$",
    ),
    Shape(
        "token",
        "(?i:bot|token)[^\n]{0,20}[0-9]{8}",
        rf"(?i)\b(?:bot|token)\b[^\n]{{0,20}}?\b([0-9]{{8,10}}:{W}{{30,}})",
    ),
    Shape("password", f"(?i:{_ABROAD})", rf"(?i)(?:{_ABROAD})[\"']?\s*[:=]\s*[\"']?([^\s\"',;]{{4,}})", 6),
    Shape(
        "password",
        r"[:=]\s*\x1b\[",
        rf"(?i){_NAMED}[\"']?\s*[:=]\s*(?:\x1b\[[0-9;]*m)+([^\s\x1b\"']{{3,}})",
    ),
    Shape("password", r"=\s*\\\r?\n", rf"(?i){_NAMED}\s*=\s*\\\r?\n\s*([^\s\"']{{3,}})", 6),
    Shape(
        "credential",
        rf"(?:assword|ecret|[Kk]ey|oken)(?:{_TAILS})",
        rf"(?:[Pp]assword|[Ss]ecret|[Aa]pi_?[Kk]ey|[Tt]oken)(?:{_TAILS})[\"']?\s*[:=]\s*[\"'`]([^\"'`\n]{{4,}})[\"'`]",
        6,
    ),
    Shape(
        "password",
        rf"(?i:{_NAMED})[\"']?:[ \t]*\r?\n",
        rf"(?mi)^[ \t-]*[\"']?[\w.-]*{_NAMED}[\"']?:[ \t]*\r?\n"
        r"[ \t]+[\"']?([^\s\"'#:{}\[\]-][^\s\"'#:]*)[\"']?[ \t]*$",
        6,
    ),
    Shape(
        "password",
        r"(?i:pass(?:word|phrase|code)\s+(?:is|was)|with\s+(?:the\s+)?password)\s",
        r"(?i)\b(?:pass(?:word|phrase|code)\s+(?:is|was)|with\s+(?:the\s+)?password)\s*:?\s+[\"'`]?([^\s\"'`]+)",
        8,
    ),
    Shape(
        "key",
        rf"(?i:(?:{_OWNERS}) (?:secret|key|token))\s",
        rf"(?i)\b(?:{_OWNERS}) (?:secret|key|token)\s+(?:is\s+)?([A-Za-z0-9+/=_-]{{20,}})",
        20,
    ),
    Shape(
        "password",
        r"(?i:psk|community(?: string)?)[\"']?\s*[:=]",
        r"(?i)\b(?:psk|community(?: string)?)[\"']?\s*[:=]\s*[\"']?([^\s\"',;]+)",
        6,
    ),
)
"""Secrets recognised by a name, a sentence or a position in a line, where names and values alone are not enough."""

COMMANDS = (
    Shape(
        "password",
        r"(?:mysql|mariadb|mycli)[^\n]*\s-p",
        rf"\b(?:mysql[a-z]*|mariadb[a-z-]*|mycli)\b[^\n|;&]*?\s-p{ARGUMENT}",
    ),
    Shape(
        "password",
        r"(?:sshpass|mongo|login|sqlcmd|7z)[^\n]*\s-[pP]",
        r"\b(?:sshpass|mongo[a-z]*|az login|oc login|sqlcmd|7z[a-z]? [a-z]"
        r"|(?:docker|podman|buildah|skopeo|helm|nerdctl)\b[^\n|;&]*\blogin)\b"
        rf"[^\n|;&]*?\s-[pP]\s*{ARGUMENT}",
    ),
    Shape(
        "password",
        r"(?:zip[^\n]*\s-P|redis-cli[^\n]*\s-a|ldap[a-z]+[^\n]*\s-w)",
        r"\b(?:(?:un)?zip\b[^\n|;&]*?\s-P|redis-cli\b[^\n|;&]*?\s-a|ldap[a-z]+\b[^\n|;&]*?\s-w)"
        rf"\s*{ARGUMENT}",
    ),
    Shape(
        "password",
        r"\s(?:-[uUa]|--user|--proxy-user|--auth)[ =]?\s*[\"']?[^\s:\"'/-][^\s:\"'/]*:",
        r"\b(?:curl|https?|wget)\b[^\n|;]*?\s(?:-[uUa]|--user|--proxy-user|--auth)[ =]?\s*"
        r"[\"']?[^\s:\"'/-][^\s:\"'/]*:([^\s\"'`<>|;&$][^\s\"'`|;]*)",
    ),
    Shape(
        "password", r"smb[a-z]+[^\n]*\s-U", r"\bsmb[a-z]+\b[^\n|;&]*?\s-U\s*[\"']?[^\s%\"']+%([^\s\"'`|;$][^\s\"'`|;]*)"
    ),
    Shape("password", r"-pass(?:in|out)?\s+[\"']?pass:", r"\s-pass(?:in|out)?\s+[\"']?pass:([^\s\"'`|;$][^\s\"'`|;]*)"),
    Shape(
        "password",
        r"htpasswd\s+-",
        rf"\bhtpasswd\s+-[a-zA-Z]*b[a-zA-Z]*\s+(?:-[a-zA-Z]+\s+)*\S+\s+\S+\s+{ARGUMENT}",
    ),
    Shape(
        "password",
        r"\|\s*(?:sudo\s+)?chpasswd",
        r"""\becho\s+(?:-[ne]+\s+)?["']?[^\s:"'|]+:([^\s"'|]+)["']?\s*\|\s*(?:sudo\s+)?chpasswd""",
    ),
    Shape(
        "password", r"\|\s*sudo\s", rf"\becho\s+(?:-[ne]+\s+)?{ARGUMENT}\s*\|\s*sudo\s+(?:-[a-zA-Z]+\s+)*-[a-zA-Z]*S"
    ),
    Shape("secret", r"secret\s+set\s", rf"\bsecret\s+set\b[^\n|;&]*?\s(?:-b|--body)[ =]?{ARGUMENT}"),
    Shape("password", "sqlplus", r"\bsqlplus\b[^\n|;&]*?\s[A-Za-z0-9_]+/([^\s\"'@$]+)@"),
)

AWS_PAIR = Shape(
    "aws_secret", "A(?:KIA|SIA)[A-Z0-9]{16}", r"\bA(?:KIA|SIA)[A-Z0-9]{16}[\s,:;\"'|]{1,8}([A-Za-z0-9/+]{40}=*)"
)
"""A secret key has no shape of its own, but often follows its id: searched before the id is redacted."""

FAMILIES = ((*KEYS, AWS_PAIR), ISSUED, CARRIED, SPELLED, COMMANDS)
"""In search order: the first match determines the kind."""
