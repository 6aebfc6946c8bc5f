"""Which kernel settings of their own pods may have: the safe ones, and those that the node's admin allows.

Sources: kubernetes ``pkg/kubelet/sysctl/allowlist.go``, ``safe_sysctls.go``, ``pkg/apis/core/validation`` (sysctls).
"""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_host.kubelet.types.pod_status import Failure

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.field import quote
from hyperkube.machinery.objects import Object

SAFE_SYSCTLS = (
    "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start", "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",
)  # fmt: skip
"""Isolated between pods, and without harm to the node or to others."""
FORBIDDEN = "SysctlForbidden"
_IPC = ("kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue.")
_NET = ("net.",)


def sysctl_name(name: str) -> str:
    """Return a sysctl's name with dots between its parts: ``net/core/somaxconn`` is ``net.core.somaxconn``.

    The separator that comes first divides the parts; the other one is then a character of a name.
    """
    first = next((character for character in name if character in "./"), ".")
    return name.translate(str.maketrans("./", "/.")) if first == "/" else name


class SysctlAllowlist:
    """Admits pods by their sysctls; see `AdmitHandler`."""

    def __init__(self, unsafe: Iterable[str]) -> None:
        """Allow the safe ones and `unsafe`: names, or prefixes that end in ``*``.

        Raises:
            UsageError: one of these is of no namespace of the kernel: it would change the node.
        """
        allowed = [*SAFE_SYSCTLS, *map(sysctl_name, unsafe)]
        for name in allowed:
            if not name.startswith((*_IPC, *_NET)):
                raise UsageError(f"--allowed-unsafe-sysctls: the sysctls {quote(name)} are not known to be namespaced")
        self._names = {name for name in allowed if not name.endswith("*")}
        self._prefixes = tuple(name.removesuffix("*") for name in allowed if name.endswith("*"))

    def admit(self, pod: Object) -> Failure | None:
        """Return why the pod's sysctls are not allowed, or None."""
        spec = pod["spec"]
        for entry in (spec.get("securityContext") or {}).get("sysctls") or ():
            name = sysctl_name(entry["name"])
            why = self._refusal(name, host_ipc=bool(spec.get("hostIPC")), host_net=bool(spec.get("hostNetwork")))
            if why:
                return Failure(FORBIDDEN, f"forbidden sysctl: {quote(name)} {why}")
        return None

    def _refusal(self, name: str, *, host_ipc: bool, host_net: bool) -> str:
        if name not in self._names and not (self._prefixes and name.startswith(self._prefixes)):
            return "not allowlisted"
        if name.startswith(_IPC) and host_ipc:
            return "not allowed with host ipc enabled"
        if name.startswith(_NET) and host_net:
            return "not allowed with host net enabled"
        return ""
