"""What the doctor looks at: each look is a function of the machine that says what is there and what that means."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum

from hyperkube_command.doctor.machine import Machine

from hyperkube.machinery.dataclass import dataclass

SECURE_PORT, KUBELET_PORT = 6443, 10250
CONTAINERD = "/run/containerd/containerd.sock"
DOCKER = ("/var/run/docker.sock", "/run/docker.sock")
LEAST_DISK, LEAST_MEMORY = 1 << 30, 512 << 20
LEAST_WATCHES = 8192


class Verdict(StrEnum):
    """How much of a thing there is."""

    FINE = "ok"
    LIMITED = "limited"
    BROKEN = "BROKEN"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of one thing, what that means, and what to do about it if one wants more."""

    about: str
    verdict: Verdict
    text: str
    remedy: str = ""


Look = Callable[[Machine], Finding]


def user(machine: Machine) -> Finding:
    """Look at who we are."""
    if machine.user() == 0:
        return Finding("user", Verdict.FINE, "root: cgroups, namespaces, packet filters and low ports may be used")
    text = f"user {machine.user()}: process pods run as this user; packet filters and device mounts need root"
    return Finding("user", Verdict.LIMITED, text)


def user_namespaces(machine: Machine) -> Finding:
    """Look whether a process may be root in a namespace of its own."""
    failed = machine.works("unshare", "--user", "--map-root-user", "true")
    if not failed:
        return Finding("user namespaces", Verdict.FINE, "pods can have users of their own")
    limited = machine.read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1"
    remedy = (
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
        if limited
        else "sysctl -w user.max_user_namespaces=10000"
    )
    return Finding("user namespaces", Verdict.LIMITED, f"not allowed ({failed}): pods share this user's rights", remedy)


def network_namespaces(machine: Machine) -> Finding:
    """Look whether pods can have a network of their own."""
    words = ("--net",) if machine.user() == 0 else ("--user", "--map-root-user", "--net")
    failed = machine.works("unshare", *words, "true")
    if not failed:
        return Finding("network namespaces", Verdict.FINE, "pods can have interfaces of their own")
    return Finding(
        "network namespaces", Verdict.LIMITED, f"not allowed ({failed}): pods get loopback addresses of the node"
    )


def cgroups(machine: Machine) -> Finding:
    """Look whether limits of CPU and memory can be enforced."""
    controllers = machine.read("/sys/fs/cgroup/cgroup.controllers").split()
    if not controllers:
        text = "no cgroup v2 at /sys/fs/cgroup: limits of pods are not enforced by cgroups"
        return Finding("cgroups", Verdict.LIMITED, text, "boot with systemd.unified_cgroup_hierarchy=1")
    own = machine.read("/proc/self/cgroup").rpartition("::")[2].strip("/")
    place = "/sys/fs/cgroup" if machine.user() == 0 else f"/sys/fs/cgroup/{own}".rstrip("/")
    missing = [name for name in ("cpu", "memory", "pids") if name not in controllers]
    if missing:
        return Finding("cgroups", Verdict.LIMITED, f"v2 without {', '.join(missing)}: those limits are not enforced")
    if not machine.is_writable(place):
        text = "v2, but this user may not make cgroups: limits of pods are not enforced by cgroups"
        return Finding("cgroups", Verdict.LIMITED, text, "systemd-run --user --scope -p Delegate=yes hyperkube up")
    return Finding("cgroups", Verdict.FINE, "v2 with cpu, memory, pids: limits of pods can be enforced")


def secure_port(machine: Machine) -> Finding:
    """Look whether the API server can have its usual port."""
    return _port(machine, "port of the API server", SECURE_PORT, "secure-port")


def kubelet_port(machine: Machine) -> Finding:
    """Look whether the kubelet can have its usual port."""
    return _port(machine, "port of the kubelet", KUBELET_PORT, "kubelet-port")


def _port(machine: Machine, about: str, port: int, flag: str) -> Finding:
    failed = machine.binds("127.0.0.1", port)
    if not failed:
        return Finding(about, Verdict.FINE, f"127.0.0.1:{port} is free")
    text = f"127.0.0.1:{port}: {failed} (a cluster that runs has it)"
    return Finding(about, Verdict.LIMITED, text, f"hyperkube up --{flag}={port + 1}")


def loopback(machine: Machine) -> Finding:
    """Look whether all of 127.0.0.0/8 is this machine's: process pods and cluster IPs are addresses of it."""
    failed = machine.binds("127.77.0.2", 0)
    if not failed:
        return Finding(
            "loopback addresses", Verdict.FINE, "127.0.0.0/8 is at hand: pods and Services get addresses of it"
        )
    return Finding(
        "loopback addresses", Verdict.BROKEN, f"127.77.0.2: {failed}: pods and Services get none", "ip link set lo up"
    )


def low_ports(machine: Machine) -> Finding:
    """Look whether Services may have ports below 1024."""
    first = int(machine.read("/proc/sys/net/ipv4/ip_unprivileged_port_start") or 1024)
    if machine.user() == 0 or first <= 80:
        return Finding("low ports", Verdict.FINE, "Services may have any port")
    text = f"ports below {first} need root: such a Service port is served 10000 higher"
    return Finding("low ports", Verdict.LIMITED, text, "sysctl -w net.ipv4.ip_unprivileged_port_start=80")


def containerd(machine: Machine) -> Finding:
    """Look for a container runtime that speaks CRI."""
    failed = machine.connects(CONTAINERD)
    if not failed:
        text = "containerd answers: hyperkube up --container-runtime=remote runs images"
        return Finding("containerd", Verdict.FINE, text)
    text = f"{CONTAINERD}: {failed}: pods run as processes of this machine, without images"
    return Finding("containerd", Verdict.LIMITED, text, "install containerd, and run as a user who may use its socket")


def docker(machine: Machine) -> Finding:
    """Look for Docker."""
    failed = [machine.connects(path) for path in DOCKER]
    if not all(failed):
        text = "its socket answers: hyperkube up --container-runtime=docker runs images"
        return Finding("Docker", Verdict.FINE, text)
    return Finding("Docker", Verdict.LIMITED, f"{DOCKER[0]}: {failed[0]}: not needed by hyperkube")


def packet_filters(machine: Machine) -> Finding:
    """Look which proxiers the node can run."""
    found = [name for name in ("nft", "iptables") if machine.program(name)]
    if found and machine.user() == 0:
        failed = machine.works(*{"nft": ("nft", "list", "tables"), "iptables": ("iptables", "-S")}[found[0]])
        if not failed:
            return Finding("packet filters", Verdict.FINE, f"{' and '.join(found)}: kube-proxy can use the kernel")
        return Finding("packet filters", Verdict.LIMITED, f"{found[0]}: {failed}: Services are relayed by a process")
    why = "need root" if found else "neither nft nor iptables is installed"
    return Finding(
        "packet filters", Verdict.LIMITED, f"{why}: Services are relayed by a process (--proxy-mode=userspace)"
    )


def kubectl(machine: Machine) -> Finding:
    """Look for the client."""
    if machine.program("kubectl"):
        return Finding("kubectl", Verdict.FINE, machine.program("kubectl"))
    text = "not on the PATH: nothing here needs it, but you will"
    return Finding("kubectl", Verdict.LIMITED, text, "https://kubernetes.io/docs/tasks/tools/")


def disk(machine: Machine) -> Finding:
    """Look at the space for the store and for logs."""
    free = machine.free_bytes("/var/tmp")  # noqa: S108  nothing is written there
    text = f"{free >> 20} MiB are free"
    if free >= LEAST_DISK:
        return Finding("disk", Verdict.FINE, text)
    return Finding("disk", Verdict.LIMITED, f"{text}: nodes with less than 15 % report pressure and evict pods")


def memory(machine: Machine) -> Finding:
    """Look at the memory that is left."""
    rows = dict(line.split(":", 1) for line in machine.read("/proc/meminfo").splitlines() if ":" in line)
    free = int(rows.get("MemAvailable", "0 kB").split()[0]) << 10
    if free >= LEAST_MEMORY:
        return Finding("memory", Verdict.FINE, f"{free >> 20} MiB are available; a cluster at rest takes less than 200")
    return Finding("memory", Verdict.LIMITED, f"{free >> 20} MiB are available, a cluster at rest takes nearly 200")


def file_watches(machine: Machine) -> Finding:
    """Look how many files may be watched: pod manifests, credentials, volumes."""
    limit = int(machine.read("/proc/sys/fs/inotify/max_user_watches") or 0)
    if limit >= LEAST_WATCHES:
        return Finding("file watches", Verdict.FINE, f"{limit} for each user")
    remedy = f"sysctl -w fs.inotify.max_user_watches={LEAST_WATCHES * 8}"
    return Finding("file watches", Verdict.LIMITED, f"{limit} for each user: changed files may go unnoticed", remedy)


LOOKS: tuple[Look, ...] = (
    user, user_namespaces, network_namespaces, cgroups, secure_port, kubelet_port, loopback, low_ports, containerd,
    docker, packet_filters, kubectl, disk, memory, file_watches,
)  # fmt: skip


def examine(machine: Machine) -> Iterator[Finding]:
    """Look at everything, in order."""
    for look in LOOKS:
        yield look(machine)
