"""The reason of a review is that of the rule which knows most about the command."""

from __future__ import annotations

import pytest

from .test_cases import judge

REASONS = {
    "kubectl -n falco delete daemonset falco": "kubernetes.delete",
    "aws cloudtrail stop-logging --name org-trail": "clouds.delete",
    "velero backup delete --all --confirm": "storage.backups",
    "ipmitool -I lanplus -H 10.20.0.14 -U ADMIN -P ADMIN chassis power off": "remote.power",
    "openssl req -x509 -newkey rsa:2048 -nodes -out /usr/local/share/ca-certificates/x.crt -days 3650": "effects.trust",
    "amtool silence add alertname=~'.+' --duration=720h": "services.silence",
    "ssh web1 'sudo rm -rf /var/lib/mysql'": "remote.delete",
    "adb shell rm -rf /sdcard/DCIM": "remote.delete",
    "rm -rf /etc": "fs.delete-system",
    "echo '{}' > .claude/settings.json": "supervision.tamper",
    "git submodule deinit -f vendor/lib && git rm -f vendor/lib && rm -rf .git/modules/vendor/lib": "git.submodule-deinit",
}


@pytest.mark.parametrize(("command", "rule"), REASONS.items())
def test_the_most_specific_rule_gives_the_reason(command: str, rule: str) -> None:
    assert judge(command).rules[0] == rule
