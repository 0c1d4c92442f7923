#!/bin/sh
# confine.sh ROOT TOPS UID CGROUP COMMAND...: in a mount namespace that ends with the command, with a copy of the machine's
# folders (TOPS, separated by commas) that nothing outside sees, and with stand-ins for services that run programs.
# CGROUP is where an ordinary user may make cgroups, or "none": then none can be made.
set -e
root=$1 tops=$2 uid=$3 cgroup=$4
shift 4
if [ "$cgroup" = none ]; then
    for place in $(sed -n 's/^[0-9]* [0-9]* [0-9:]* [^ ]* \([^ ]*\) .* - cgroup2* .*/\1/p' /proc/self/mountinfo); do
        mount -o remount,bind,ro "$place"
    done
elif [ -n "$cgroup" ]; then
    mkdir -p "$cgroup"
    chown "$uid" "$cgroup" "$cgroup/cgroup.procs" "$cgroup/cgroup.subtree_control"
    echo $$ > "$cgroup/cgroup.procs"
fi
mount -t tmpfs none "$root/over"
for top in $(echo "$tops" | tr , ' '); do
    mkdir -p "$root/over/$top/upper" "$root/over/$top/work"
    mount -t overlay overlay -o "lowerdir=/$top,upperdir=$root/over/$top/upper,workdir=$root/over/$top/work" "/$top"
done
mkdir -p /etc/cron.d /etc/systemd/system /var/spool/cron/crontabs /var/spool/cron/atjobs /run/dbus /run/systemd
# The worse case for guard: nothing can be mounted on a file that is not there.
rm -f /etc/ld.so.preload
for pair in docker:/run/docker.sock dbus:/run/dbus/system_bus_socket systemd:/run/systemd/private; do
    place=${pair#*:}
    rm -f "$place"
    touch "$place"
    mount --bind "$root/services/${pair%%:*}" "$place"
done
if [ "$uid" = 0 ]; then exec "$@"; fi
exec setpriv --reuid "$uid" --regid "$uid" --clear-groups "$@"
