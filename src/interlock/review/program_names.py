"""Names of programs by what they do, and of subcommands where the program alone does not determine that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from .wordlist import name_set

if TYPE_CHECKING:
    from .programs import Action


def _table(**names: str) -> dict[str, Action]:
    made: dict[str, Action] = {}
    for action, words in names.items():
        made.update(dict.fromkeys(words.split(), action))  # type: ignore[arg-type]
    return made


PROGRAMS: dict[str, Action] = _table(
    read="""
        ls cat head tail less more grep egrep fgrep rg ag ack find fd locate which whereis whatis type file stat du df
        wc sort uniq cut tr paste join comm diff cmp sdiff colordiff column nl tac rev fold fmt pr expand unexpand od
        xxd hexdump strings md5sum sha1sum sha256sum sha512sum md5 shasum cksum b2sum sum echo printf true false : test
        [ [[ pwd cd pushd popd dirs env printenv set export unset declare local readonly typeset alias unalias read
        shift getopts let eval exec return exit break continue trap wait jobs fg bg disown umask ulimit hash help man
        info apropos tldr whoami id groups who w users last lastlog uptime uname hostname date cal time sleep ps top
        htop pgrep pstree lsof vmstat iostat free lscpu lsblk lspci lsusb lsmod dmesg journalctl sysctl basename dirname
        realpath readlink seq yes jq yq xmllint sed bc dc expr tput clear reset stty tty tree exa eza bat view strace
        ltrace ldd nm objdump readelf size getent getconf locale nproc arch watch history command builtin xargs parallel
        nohup nice timeout stdbuf setsid sudo doas su ionice chrt taskset script flock shopt bind compgen complete
        zcat bzcat xzcat zgrep zless cloc tokei scc shellcheck hadolint yamllint jsonlint markdownlint
        base64 base32 openssl gpg factor shuf split csplit tsort mountpoint findmnt blkid lvs vgs pvs zdump ss netstat
        arp iw hostnamectl localectl loginctl systemd-analyze getfacl lsattr = call awk gawk mawk < sqlformat pygmentize
    """,
    create="""
        mkdir touch mktemp mkfifo mknod tar zip gzip bzip2 xz zstd 7z cpio ar pax ssh-keygen virtualenv dd fallocate
        truncate shar compress
    """,
    modify="""
        cp mv ln install chmod chown chgrp chattr setfacl patch tee unzip gunzip bunzip2 unxz rename vi vim nvim nano
        emacs ed ex pico code make cmake ninja meson bazel gradle mvn ant sbt scons gcc g++ cc c++ clang clang++ ld as
        go rustc cargo javac java kotlinc scalac ghc dotnet tsc webpack vite rollup esbuild babel pytest tox nox
        unittest jest vitest mocha phpunit rspec ctest black isort ruff mypy pylint flake8 prettier eslint autopep8
        sphinx-build mkdocs pdflatex latex xelatex pandoc convert ffmpeg mogrify sox dos2unix unix2dos iconv indent
        crontab at service kill pkill killall renice mount umount swapon swapoff modprobe useradd usermod groupadd
        passwd visudo update-alternatives ldconfig mkfs fsck losetup > >> dpkg rpm dpkg-reconfigure pre-commit
        django-admin flask uvicorn gunicorn celery alembic sphinx-quickstart jupyter coverage cython f2py nosetests
        sql route ifconfig nmcli timedatectl fdisk parted iptables ufw nft
    """,
    delete="""
        rm rmdir unlink shred srm wipe trash dropdb dropuser userdel groupdel lvremove vgremove pvremove wipefs mkswap
        del erase rd Remove-Item fork-bomb
    """,
    network="""
        curl wget http https xh fetch aria2c axel ssh scp sftp rsync ftp lftp telnet nc ncat netcat socat ping ping6
        traceroute tracepath mtr dig nslookup host whois nmap apt apt-get aptitude yum dnf zypper pacman apk brew snap
        flatpak port gem composer cpan luarocks opam conda mamba micromamba pipx poetry pipenv pdm uv gh glab hub aws
        gcloud gsutil az doctl heroku fly flyctl vercel netlify firebase terraform tofu pulumi ansible ansible-playbook
        helm kubectl oc vagrant mail sendmail swaks rclone restic borg s3cmd mc azcopy youtube-dl yt-dlp nsupdate
        ssh-copy-id mosh autossh svn hg cvs bzr
    """,
)

EDITS_IN_PLACE: dict[str, tuple[str, ...]] = {
    "sed": ("-i", "--in-place", "-ni", "-Ei", "-ri"),
    "awk": ("-i",),
    "gawk": ("-i",),
    "sort": ("-o", "--output"),
    "yq": ("-i",),
    "find": ("-delete", "-fprint", "-fls"),
    "date": ("-s", "--set"),
    "sysctl": ("-w", "--write"),
    "iw": ("set",),
}
"""Programs that only read unless one of these options is given."""

SUBCOMMANDS: dict[str, dict[str, Action]] = {
    "git": _table(
        read="""
            status log diff show branch remote blame grep ls-files ls-tree rev-parse rev-list describe reflog shortlog
            cat-file config tag help version bisect name-rev merge-base for-each-ref whatchanged check-ignore var
            count-objects fsck show-ref diff-tree diff-index diff-files cherry show-branch range-diff annotate
            verify-commit verify-tag check-attr check-ref-format check-mailmap hash-object merge-tree patch-id
        """,
        create="init worktree archive bundle format-patch",
        modify="""
            add commit checkout switch restore reset merge rebase cherry-pick revert stash mv apply am gc submodule
            notes update-index update-ref filter-branch filter-repo replace sparse-checkout lfs prune symbolic-ref
        """,
        network="push pull fetch clone ls-remote send-email request-pull",
        delete="rm clean",
    ),
    "docker": _table(
        read="ps images inspect logs version info top stats port history search events context",
        modify="""
            run exec build start stop restart create commit tag compose cp update kill pause unpause rename load save
            import export network volume container image
        """,
        network="pull push login",
        delete="rm rmi prune",
    ),
    "docker-compose": _table(
        read="ps logs config top images",
        modify="up down start stop restart build run exec create",
        network="pull push",
        delete="rm",
    ),
    "npm": _table(
        read="ls list view info outdated audit help root prefix bin config explain why whoami ping fund doctor search",
        modify="run test start pack t",
        network="install i ci add update publish login exec create init upgrade",
        delete="uninstall remove rm unpublish",
    ),
    "pip": _table(
        read="list show freeze check help config debug inspect index",
        network="install download wheel",
        delete="uninstall",
    ),
    "systemctl": {
        **_table(read="status show list-units list-timers list-unit-files is-active is-enabled cat list-dependencies"),
        "": "modify",
    },
    "ip": {**_table(modify="add del delete set flush change replace append"), "": "read"},
}


class ListingOption(Struct, frozen=True):
    """Options and operands that make a subcommand list rather than change.

    `asking` options always list, `changing` ones never. Otherwise it lists if the first operand is one of `words`, or
    if there are at most `operands` of them. `otherwise` is its action when it does not list.
    """

    asking: frozenset[str] = frozenset()
    changing: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    operands: int = 0
    otherwise: Action = "modify"


LISTING = "-l --list --contains --no-contains --merged --no-merged --points-at"

GIT_QUESTIONS: dict[str, ListingOption] = {
    "branch": ListingOption(
        name_set(f"{LISTING} --show-current -r -a --all --remotes -v -vv --format"),
        name_set(
            """-d -D --delete -m -M --move -c -C --copy -f --force -u --set-upstream-to --unset-upstream
            --edit-description -t --track"""
        ),
    ),
    "tag": ListingOption(name_set(f"{LISTING} -n -v --verify --format"), name_set("-d --delete -f --force")),
    "remote": ListingOption(words=name_set("show get-url")),
    "config": ListingOption(
        name_set("--get --get-all --get-regexp --get-urlmatch get -l --list list --get-color --get-colorbool"),
        name_set(
            """--add --unset --unset-all --replace-all --rename-section --remove-section -e --edit set unset
            rename-section remove-section edit"""
        ),
        operands=1,
    ),
    "bisect": ListingOption(words=name_set("log view visualize terms help")),
    "reflog": ListingOption(changing=name_set("expire delete drop write"), operands=9),
    "stash": ListingOption(words=name_set("list show"), operands=-1),
    "notes": ListingOption(words=name_set("list show")),
    "worktree": ListingOption(words=name_set("list"), otherwise="create"),
    "submodule": ListingOption(words=name_set("status summary")),
    "symbolic-ref": ListingOption(changing=name_set("-d --delete"), operands=1),
}
"""Subcommands of git that list or change, depending on their arguments."""

SUBCOMMANDS["podman"] = SUBCOMMANDS["nerdctl"] = SUBCOMMANDS["docker"]
SUBCOMMANDS["yarn"] = SUBCOMMANDS["pnpm"] = SUBCOMMANDS["bun"] = SUBCOMMANDS["npm"]
