"""Programs: what kind of action a command is, by its name and subcommand."""

from __future__ import annotations

from typing import Literal

from .shell.model import Command

Action = Literal["delete", "network", "modify", "create", "read", "unknown", "unparsable"]


def action_of(command: Command) -> Action:
    """The kind of action; `unknown` for a program that is not in the tables."""
    program = command.program
    action = PROGRAMS.get(program)
    if action is None:
        table = SUBCOMMANDS.get(program)
        if table is None:
            return "unknown"
        return next((table[arg] for arg in command.args[:6] if arg in table), table.get("", "read"))
    if (
        action == "read"
        and program in EDITS_IN_PLACE
        and any(arg.startswith(EDITS_IN_PLACE[program]) for arg in command.args)
    ):
        return "modify"
    return action


def _table(**words: str) -> dict[str, Action]:
    made: dict[str, Action] = {}
    for action, names in words.items():
        made.update(dict.fromkeys(names.split(), action))  # type: ignore[arg-type]
    return made


PROGRAMS: dict[str, Action] = _table(
    read=(
        "ls cat head tail less more grep egrep fgrep rg ag ack find fd locate which whereis whatis type file stat du df wc sort uniq cut tr paste"
        " join comm diff cmp sdiff colordiff column nl tac rev fold fmt pr expand unexpand od xxd hexdump strings md5sum sha1sum sha256sum sha512sum"
        " md5 shasum cksum b2sum echo printf true false : test [ [[ pwd cd pushd popd dirs env printenv set export unset declare local readonly typeset"
        " alias unalias read shift getopts let eval exec return exit break continue trap wait jobs fg bg disown umask ulimit hash help man info apropos"
        " tldr whoami id groups who w users last lastlog uptime uname hostname date cal time sleep ps top htop pgrep pstree lsof vmstat iostat free"
        " lscpu lsblk lspci lsusb lsmod dmesg journalctl sysctl basename dirname realpath readlink seq yes tee-none jq yq xmllint awk gawk mawk sed bc"
        " dc expr tput clear reset stty tty tree exa eza bat view strace ltrace ldd nm objdump readelf size getent getconf locale nproc arch watch"
        " history command builtin source . xargs parallel nohup nice timeout stdbuf setsid sudo doas su env ionice chrt taskset script flock"
        " zcat bzcat xzcat zgrep zless tldr cloc tokei scc git-log ruff-check shellcheck hadolint yamllint jsonlint markdownlint cargo-tree"
        " sqlite3 psql mysql mongosh redis-cli duckdb base64 base32 openssl gpg cksum sum factor shuf split csplit tsort ping-local mountpoint findmnt"
        " blkid lvs vgs pvs zdump ss netstat ip ifconfig route arp iw nmcli hostnamectl timedatectl localectl loginctl systemd-analyze getfacl lsattr"
        " python perl ruby node php lua bash sh zsh dash fish = sql call"
    ),
    create="mkdir touch mktemp mkfifo mknod tar zip gzip bzip2 xz zstd 7z cpio ar pax split ssh-keygen virtualenv dd fallocate truncate shar git-init gzip compress",
    modify=(
        "cp mv ln install chmod chown chgrp chattr setfacl patch tee unzip gunzip bunzip2 unxz untar rename rsync-local vi vim nvim nano emacs ed ex pico code"
        " make cmake ninja meson bazel gradle mvn ant sbt scons gcc g++ cc c++ clang clang++ ld as go rustc cargo javac java kotlinc scalac ghc dotnet tsc webpack"
        " vite rollup esbuild babel pytest tox nox unittest jest vitest mocha phpunit rspec ctest black isort ruff mypy pylint flake8 prettier eslint autopep8"
        " sphinx-build mkdocs pdflatex latex xelatex pandoc convert ffmpeg mogrify sox dos2unix unix2dos iconv indent crontab at systemctl service kill pkill"
        " killall renice mount umount swapon swapoff modprobe useradd usermod groupadd passwd visudo update-alternatives ldconfig mkfs fsck losetup > >> export-env"
        " dpkg rpm dpkg-reconfigure pre-commit django-admin flask uvicorn gunicorn celery alembic sphinx-quickstart jupyter ipython coverage cython f2py nosetests"
    ),
    delete="rm rmdir unlink shred srm wipe trash dropdb dropuser userdel groupdel lvremove vgremove pvremove wipefs mkswap del erase rd Remove-Item fork-bomb",
    network=(
        "curl wget http https xh fetch aria2c axel ssh scp sftp rsync ftp lftp telnet nc ncat netcat socat ping ping6 traceroute tracepath mtr dig nslookup host"
        " whois nmap apt apt-get aptitude yum dnf zypper pacman apk brew snap flatpak port gem composer cpan luarocks opam conda mamba micromamba pipx poetry pipenv"
        " pdm uv gh glab hub aws gcloud gsutil az doctl heroku fly flyctl vercel netlify firebase terraform tofu pulumi ansible ansible-playbook helm kubectl oc"
        " vagrant mail sendmail swaks rclone restic borg s3cmd mc azcopy youtube-dl yt-dlp nsupdate ssh-copy-id mosh autossh svn hg cvs bzr"
    ),
)  # fmt: skip

EDITS_IN_PLACE: dict[str, tuple[str, ...]] = {
    "sed": ("-i", "--in-place", "-ni", "-Ei", "-ri"), "perl": ("-pi", "-i", "-ni"), "ruby": ("-pi", "-i"), "awk": ("-i",), "gawk": ("-i",),
    "sort": ("-o", "--output"), "yq": ("-i",), "find": ("-delete",),
}  # fmt: skip

SUBCOMMANDS: dict[str, dict[str, Action]] = {
    "git": {
        **_table(
            read="status log diff show branch remote blame grep ls-files ls-tree rev-parse rev-list describe reflog shortlog cat-file config tag help version bisect name-rev merge-base for-each-ref whatchanged check-ignore var count-objects fsck",
            create="init worktree archive bundle format-patch",
            modify="add commit checkout switch restore reset merge rebase cherry-pick revert stash mv apply am gc submodule notes update-index update-ref filter-branch filter-repo replace sparse-checkout lfs prune",
            network="push pull fetch clone ls-remote send-email request-pull",
            delete="rm clean",
        )
    },
    "docker": _table(read="ps images inspect logs version info top stats port history search events context", modify="run exec build start stop restart create commit tag compose cp update kill pause unpause rename load save import export network volume container image", network="pull push login", delete="rm rmi prune"),
    "npm": _table(read="ls list view info outdated audit run test start help root prefix bin config explain pack why", network="install i ci add update publish login exec create init upgrade", delete="uninstall remove rm unpublish"),
    "pip": _table(read="list show freeze check help config debug inspect index", network="install download wheel", delete="uninstall"),
    "cargo-sub": {},
}  # fmt: skip
SUBCOMMANDS["podman"] = SUBCOMMANDS["nerdctl"] = SUBCOMMANDS["docker"]
SUBCOMMANDS["docker-compose"] = _table(
    read="ps logs config top images",
    modify="up down start stop restart build run exec create",
    network="pull push",
    delete="rm",
)
SUBCOMMANDS["yarn"] = SUBCOMMANDS["pnpm"] = SUBCOMMANDS["bun"] = SUBCOMMANDS["npm"]
del SUBCOMMANDS["cargo-sub"]

RISKS: dict[Action, float] = {
    "delete": 0.8, "network": 0.6, "modify": 0.4, "create": 0.3, "read": 0.1, "unknown": 0.4, "unparsable": 0.7,
}  # fmt: skip
"""Base risk by action; a program that is not known is .4, what cannot be parsed .7."""
