#!/bin/sh
# Keeps one place of the laboratory: a machine made of namespaces. It lives until its standard input ends, which happens
# however the process that holds the other end dies; nothing of it stays, neither processes nor mounts nor cgroups.
#
# usage: keeper.sh NAME CGROUP DISK LOGS   (CGROUP: a name below each hierarchy's root, or "" for no cgroups;
#                                           LOGS: the folder of its programs' output)
set -eu
name=$1 cgroup=$2 disk=$3 logs=$4
here=$(dirname "$0")

hierarchies() {
    for file in /sys/fs/cgroup/*/cgroup.procs; do
        [ ! -L "$(dirname "$file")" ] && [ "$(basename "$(dirname "$file")")" != unified ] && dirname "$file"
    done
}

remove_cgroups() {
    [ -n "$cgroup" ] || return 0
    for hierarchy in $(hierarchies); do
        [ ! -d "$hierarchy/$cgroup" ] || find "$hierarchy/$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null || true
    done
}

trap 'remove_cgroups; rm -rf "$logs"' EXIT
trap '' TERM INT HUP

flags=""
if [ -n "$cgroup" ]; then
    for hierarchy in $(hierarchies); do
        mkdir -p "$hierarchy/$cgroup"
        # A new cpuset has no CPUs, and nothing may enter it before it has some.
        for file in cpuset.cpus cpuset.mems; do
            [ ! -e "$hierarchy/$file" ] || cat "$hierarchy/$file" > "$hierarchy/$cgroup/$file"
        done
    done
    flags=--cgroup
fi

# The process that makes the cgroup namespace has to be in the cgroups that become its roots.
sh -eu -c '
    cgroup=$1 flags=$2
    shift 2
    if [ -n "$cgroup" ]; then
        for hierarchy in /sys/fs/cgroup/*/; do
            [ ! -d "$hierarchy$cgroup" ] || echo $$ > "$hierarchy$cgroup/cgroup.procs"
        done
    fi
    exec unshare $flags --mount --uts --net --ipc --pid --fork --mount-proc --kill-child "$@"
' sh "$cgroup" "$flags" sh -eu "$here/place.sh" "$name" "${cgroup:+cgroups}" "$disk"
