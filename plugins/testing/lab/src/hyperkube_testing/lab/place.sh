#!/bin/sh
# The first process of a place: makes the namespaces look like a machine of its own, says "ready", and stays until its
# standard input ends.
#
# usage: place.sh NAME CGROUPS DISK        (CGROUPS: "" for none; DISK: size of the place's disk)
set -eu
name=$1 cgroups=$2 disk=$3

# Nothing that is mounted from here on is seen outside (unshare made the tree private); containers need shared mounts.
mount --make-rshared /
hostname "$name"

controllers=""
for file in /sys/fs/cgroup/*/cgroup.procs; do
    folder=$(dirname "$file")
    [ -L "$folder" ] || [ "$(basename "$folder")" = unified ] || controllers="$controllers $(basename "$folder")"
done
mount -t sysfs sysfs /sys # the devices of this network namespace; it hides the cgroups of the machine
if [ -n "$cgroups" ]; then
    mount -t tmpfs -o mode=755 cgroups /sys/fs/cgroup
    for controller in $controllers; do
        mkdir "/sys/fs/cgroup/$controller"
        case $controller in
            systemd) options=none,name=systemd ;;
            *) options=$controller ;;
        esac
        mount -t cgroup -o "$options" "$controller" "/sys/fs/cgroup/$controller"
        for alias in $(echo "$controller" | tr , ' '); do
            [ -e "/sys/fs/cgroup/$alias" ] || ln -s "$controller" "/sys/fs/cgroup/$alias"
        done
    done
fi

mount -t tmpfs -o mode=755 run /run
mkdir /run/disk /run/lock
mount -t tmpfs -o "mode=755,size=$disk" disk /run/disk
mkdir -p /run/disk/var/lib /run/disk/var/log /run/disk/etc /run/disk/work
mount --bind /run/disk/var/lib /var/lib
mount --bind /run/disk/var/log /var/log
mount -t overlay -o lowerdir=/etc,upperdir=/run/disk/etc,workdir=/run/disk/work overlay /etc
rm -rf /etc/cni /etc/containerd /etc/kubernetes
echo "$name" > /etc/hostname
printf '127.0.0.1\tlocalhost\n::1\tlocalhost\n127.0.1.1\t%s\n' "$name" > /etc/hosts
rm -f /etc/resolv.conf
: > /etc/resolv.conf

ip link set lo up
for setting in net/ipv4/ip_forward=1 net/ipv6/conf/all/forwarding=1 net/ipv6/conf/default/accept_dad=0 \
    net/ipv4/conf/all/rp_filter=0 net/ipv4/conf/default/rp_filter=0 \
    net/bridge/bridge-nf-call-iptables=1 net/bridge/bridge-nf-call-ip6tables=1; do
    file=/proc/sys/${setting%=*}
    [ ! -e "$file" ] || echo "${setting#*=}" > "$file"
done

trap '' TERM INT HUP
echo ready
# As the first process it is parent to every orphan; while it waits for `cat` it collects their exit states.
cat > /dev/null
