"""The words of effects: verbs, options, protections, and sources of packages."""

from __future__ import annotations

from ..core import late_pattern
from .wordlist import name_set

OUTPUT = name_set(
    """-o -O --output --out --outfile --out-file --output-file --output-dir --outdir --out-dir --output-directory
    --output-document --dest --destination --dest-dir --destdir --target --target-dir --target-directory --directory
    --log-file --logfile --save --save-to --save-as --write --write-to --to --to-file --export --dump --install-dir
    --extract-to --result --results --report --dst -out -outfile -fprint -fprintf -fls --joblog --record --trace-file
    --dump-file --backup-dir"""
)
"""Options whose value is an output path in many programs."""

COPIES = name_set("cp mv install ln rsync ditto robocopy xcopy gcp gmv ginstall link copy move symlink")
"""Programs whose last operand is the path that they write."""

WRITERS = name_set("tee sponge truncate fallocate touch patch crudini augtool ed ex visudo")
"""Programs that write every file that they name."""

UNPACKERS = name_set(
    "tar gtar bsdtar unzip 7z 7za 7zz unar unrar rar cpio pax jar xar ar unsquashfs dpkg-deb ouch atool"
)
INTO = name_set("-C -d -o -D --directory --one-top-level --extract-to -output-directory --dir --output --target-dir")
PACKS = late_pattern(r"-?(?:[A-Zb-z]*c[A-Za-z]*|-create|-list|[a-z]*t[a-z]*|a|l)\Z")
"""Programs that unpack archives, their options for the destination, and words that pack or list instead."""

RULED = name_set(
    """git docker docker-compose podman nerdctl npm yarn pnpm bun pip systemctl ip pytest make cmake ninja cargo go
    gradle mvn black isort ruff mypy pylint flake8 prettier eslint autopep8 apt apt-get yum dnf brew conda mamba poetry
    uv pipx gem composer crontab kill pkill killall mount umount find awslocal samlocal"""
)
"""Programs that rules cover well enough."""

WINDOWS = name_set("reg schtasks sc sc.exe net bcdedit vssadmin wmic netsh icacls takeown cipher reg.exe schtasks.exe")
"""Programs whose options begin with a slash."""

SYNCING = name_set("mirror sync sync-delete clone replicate")
MIRRORING = name_set("--delete --remove --delete-excluded --delete-after --delete-before --purge --delete-destination")
"""Words for making a mirror, and options that delete everything else at the destination."""

SHOWS_ABOUT = name_set(
    """ls stat test [ chmod chown chgrp rm mv file touch mkdir du df rmdir ln cd ssh ssh-add ssh-keygen ssh-copy-id
    docker podman kubectl
    helm source . dotenv find diff cmp openssl aws terraform tofu ansible ansible-playbook gcloud az npm
    yarn pnpm pip uv poetry make which type command echo printf k9s kubectx stern skaffold flux argocd istioctl velero
    kustomize gh mosh autossh sshfs age sops gpg certbot nginx sshd ssh-keyscan mkcert step openvpn wg nix trash"""
)
"""Programs that use a file with a secret, or report something about it, without showing it."""

_B, _E = r"(?:^|[\s_.:/+-])", r"(?:$|[\s_.:=-])"


def _any(words: str) -> str:
    return f"{_B}(?:{'|'.join(words.split())}){_E}"


_PROTECTION = (
    r"(?:firewall\w*|selinux|apparmor|audit\w*|defender|antivirus|edr|gatekeeper|fail2ban|logging|secure-?boot|sip"
    r"|protection|guard\w*|mfa|2fa|totp|backups?|monitoring|alerts?|alarms?|watchdog|sandbox\w*|seccomp|cloudtrail|trail"
    r"|guardduty|waf|falco|crowdstrike|falcon\w*|sentinel\w*|osquery\w*|tamper\w*|real-?time\w*|quarantine|versioning"
    r"|object-lock|deletion-protection|snapshots?|restorepoint\w*|shadows?|recovery\w*|uac|amsi|integrity\w*)"
)
_ADMIN = (
    r"(?:\w*admin|\w*adminaccess|administrator\w*|root|owner|sudo|wheel|superuser|superadmin|cluster-?admin|\w*fullaccess"
    r"|roles/(?:owner|editor)|poweruser\w*|sysadmin)"
)

SPOKEN: dict[str, str] = {
    "deletes": _any(
        r"""delete[sd]? del remove rm purge wipe erase destroy drop unlink shred nuke trash truncate zap expunge scrub
        clean clear prune discard obliterate rmdir rmtree eradicate flush \w*reaper tmpwatch bleachbit rmlint"""
    ),
    "writes": _any(
        """write overwrite save set replace append edit in-?place i import restore apply install put inject insert flash
        deploy copy cp mv move link symlink update add create generate register enable patch"""
    ),
    "unpacks": _any("x extract unpack decompress inflate unzip untar restore expand"),
    "destroys": r"(?:^|\s)(?:[a-z]+[-_:])?(?:"
    r"delete|destroy|purge|drop|terminate|wipe|erase|nuke|deprovision|teardown|uninstall|decommission|obliterate|remove|rm"
    r"|undefine|deactivate|flash|unregister\w*|deletall|deleteall|rmr)(?:$|[\s_:-])",
    "forced": _any(
        """force forced yes y f all auto-approve no-confirm noconfirm assume-yes quiet q approve no-prompt confirm
        non-interactive no-interactive recursive r rf everything skip-final-snapshot cascade prod production
        permanently permanent hard now purge recurse"""
    ),
    "disables": rf"{_B}(?:disabl\w+|stop|off|unload|mask|suspend|deactivate|turn-?off|remove|delete|uninstall|kill"
    rf"|permissive|resize)[\s_.:=/-]+(?:\S+\s+)?(?:[\w.-]*[-_.])?{_PROTECTION}{_E}"
    rf"|{_B}{_PROTECTION}(?:\s+\S+)?[\s_.:=/-]+(?:disabl\w+|stop|off|unload|mask|deactivate|down|0|false|none|permissive"
    rf"|remove|delete|uninstall){_E}",
    "bypasses": r"(?:^|\s)--?"
    r"(?:admin|bypass\S*|override-\S+|skip-(?:approvals?|reviews?|verification|policy|permissions)"
    r"|no-approval|ignore-(?:protection|policy|approvals?)|dangerously-\S+|yolo|insecure-skip\S*"
    r"|safety[= ]none|allow-unrelated-\S+)(?:$|[\s=])",
    "grants": rf"\s(?:[\w.-]*[_.:/-])?"
    rf"(?:add|grant|attach|create|assign|set|put|make|bind|promote|elevate|update|invite)"
    rf"(?:[\s_.:=/-]\S+){{0,12}}?[\s_.:=/,-]{_ADMIN}{_E}"
    rf"|^(?:usermod|gpasswd|adduser|addgroup|net\s+localgroup)\s.*{_ADMIN}"
    r"|create-access-key|create-login-profile|keys\s+create\s.*iam-account|create-service-specific-credential",
    "trusts": rf"{_B}(?:add|import\w*|install|trust|anchor|enrol\w*|update|-A)[\s_.:-]+(?:\S+\s+){{0,6}}?\S*"
    r"(?:trusted-cert|trust-?root|ca-cert\w*|cacerts|root-ca|rootca|ca-trust|trust-anchor)"
    r"|^update-ca-\w+|^trust\s+anchor|^mkcert\s+-install|certutil\s.*-t\s+\S*C",
    "persists": r"^(?:reg|schtasks|sc|launchctl|defaults|wmic|new-\w+|register-\w+)(?:\.exe)?\s.*?"
    r"(?:add|create|write|load|bootstrap|submit|register)"
    r".*?(?:\\run\b|runonce|winlogon|login-?items?|loginhook|/tr\b|binpath|\.plist|startup|autorun)"
    r"|--on-(?:calendar|boot|startup|unit)|^(?:fcrontab|incrontab|anacron)\s+(?:-[^l]|-$|[^-])",
    "escapes": r""
    r"privileged[\"']?\s{0,4}[:=]\s{0,4}true|hostpid[\"']?\s{0,4}[:=]\s{0,4}true|hostnetwork[\"']?\s{0,4}[:=]\s{0,4}true"
    r"|hostpath[\"']?\s{0,4}:|docker\.sock",
    "fills": r"^(?:fallocate|truncate|mkfile|dd|head|openssl)\s(?:.*[\s=-])?(?:\d{3,}Gi?B?|\d+[TP]i?B?)(?:\s|$)"
    r"|^stress(?:-ng)?\s.*(?:100%|--timeout[ =]0\b)",
    "spies": r"^(?:xinput\s+test|logkeys|showkey|evtest|arecord|parecord|fswebcam|imagesnap|screencapture|keylogger)"
    r"|^ffmpeg\s.*-f\s+(?:pulse|alsa|avfoundation|dshow|v4l2)",
    "spends": r"^"
    r"(?:\w*coin-cli|zcash-cli|elements-cli|electrum|monero-wallet-\w+|lncli|lightning-cli|solana|spl-token|cast|near"
    r"|aptos|sui|xrpl\S*|stellar|starkli|tezos-client|octez-client|cleos|goal|coinbase\S*|kraken\S*|binance\S*)\s(?:.*\s)?"
    r"(?:send|sendtoaddress|sendmany|sendall|sendcoins|sendpayment|sendrawtransaction|transfer|transfer-sui|pay|payto|payinvoice|xpay"
    r"|paytomany|withdraw|sweep|sweep_all|pay-sui|keysend)(?:\s|$)"
    r"|^stripe\s(?:.*\s)?(?:payouts|refunds|transfers|charges|topups|payment_intents)\s(?:create|capture|confirm|reverse)(?:\s|$)",
    "halts": r"[\s.:](?:power-?off|reboot|shutdown|halt|hibernate|factory-?reset)(?:$|[\s:])",
    "exposes": _any(
        """tunnel funnel expose reverse-tunnel ngrok bore localtunnel serveo frpc chisel pagekite sshuttle rathole
        telebit"""
    ),
    "attacks": r"^"
    r"(?:hydra|medusa|ncrack|masscan|zmap|sqlmap|msfconsole|msfvenom|responder|aircrack-ng|ettercap|bettercap"
    r"|arpspoof|hashcat|john|crackmapexec|netexec|evil-winrm|impacket-\w+|ligolo\S*|linpeas\S*|pspy\S*"
    r"|slowloris|hping3|loic|goldeneye|ab\s+-n\s+\d{6,})(?:\s|$)",
}
"""Effects that a command's words can state, each as a pattern over all words."""

PLAY_MONEY = late_pattern(
    r"(?:^|\s)--?(?:regtest|testnet\d*|signet|devnet|localnet|sandbox)(?:$|\s)"
    r"|(?:^|\s)--?(?:url|u|network|chain|n|c|rpc-url|env|config)[\s=]"
    r"(?:regtest|testnet\d*|signet|devnet|localnet|sepolia|holesky|goerli|localhost|sandbox|local|test|[dtl])(?:$|\s)"
    r"|[sr]k_test_"
)
"""Options that name a network whose money is worthless."""

PACKAGERS = name_set(
    """npm pnpm yarn bun npx pnpx bunx pip pipx pipenv poetry uv pdm conda mamba micromamba gem bundle cargo go composer
    apt apt-get apt-add-repository add-apt-repository yum dnf zypper pacman apk brew snap flatpak dpkg rpm luarocks opam
    cpan cpanm nuget dotnet helm code deno mix rebar3 swift pod nix nix-env nix-channel easy_install
    claude codex gemini ansible-galaxy"""
)
TAKING = name_set(
    """install i add get -i -U -Uvh -ivh config set remote source sources channel registry --channel --registry
    --index-url --extra-index-url --repo run exec dlx x repo --add-repo config-manager --install-extension env -w --from
    sync tool -a --add tap require global mcp -y --yes"""
)
"""Programs that fetch packages, and the words that make them use code from somewhere, now or later."""

STRANGE = late_pattern(r"(?:^|[=+@\s.\"])(?:https?|git|ssh|ftp)://(?:[^/@\s]*@)?([\w.-]+)")
FAMILIAR = late_pattern(
    r"(?:.*\.)?(?:github\.com|githubusercontent\.com|gitlab\.com|bitbucket\.org|codeberg\.org|sr\.ht|pypi\.org|pythonhosted\.org"
    r"|npmjs\.(?:org|com)|yarnpkg\.com|jsr\.io|crates\.io|rubygems\.org|packagist\.org|golang\.org|go\.dev|pytorch\.org"
    r"|huggingface\.co|anaconda\.(?:org|com)|conda-forge\.org|googleapis\.com|google\.com|microsoft\.com|debian\.org|ubuntu\.com"
    r"|launchpad\.net|fedoraproject\.org|redhat\.com|centos\.org|docker\.com|nodesource\.com|postgresql\.org|nvidia\.com|apache\.org"
    r"|maven\.org|gradle\.org|jetbrains\.com|hashicorp\.com|kubernetes\.io|k8s\.io|helm\.sh|bitnami\.com|grafana\.com|elastic\.co"
    r"|mozilla\.org|python\.org|npmmirror\.com|aliyun\.com|tsinghua\.edu\.cn|ustc\.edu\.cn|tencent\.com|nuget\.org|nixos\.org"
    r"|flathub\.org|sourceforge\.net|gnu\.org|kernel\.org|localhost|pydantic\.dev|jupyter\.org|mongodb\.org|mysql\.com)\Z"
    r"|127\.\d+\.\d+\.\d+\Z|10\.\S+\Z|192\.168\.\S+\Z|[\w-]+\Z|.*\.(?:local|internal|lan|corp|svc)\Z"
)
"""Addresses, the usual sources of packages, and private hosts."""

SETTING_KEYS = late_pattern(
    r"(?i)hookspath|script-?shell|sshcommand|proxy|insteadof|verify|strict-?ssl|cafile|registry|index-?url|credential|askpass"
    r"|editor|pager|fsmonitor|templatedir|include\.path|ignore-scripts|node-options|globalconfig|goproxy|gosumdb|gonosumdb"
    r"|gonosumcheck|goflags|toolexec|trusted-host|rustc-wrapper|runner|linker|program|textconv|external|helper|allow-scripts|require-hashes"
)
"""Settings that make a tool run, trust or contact something else."""
