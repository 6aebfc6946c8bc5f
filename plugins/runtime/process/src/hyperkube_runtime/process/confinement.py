"""What a container's security context and limits ask of its process: capabilities, privileges, memory, CPU.

The numbers are those of linux ``include/uapi/linux/capability.h``.
"""

from __future__ import annotations

from hyperkube.hookspecs.runtime import Config
from hyperkube.machinery.dataclass import dataclass

CAPABILITIES = (
    "CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP",
    "LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER",
    "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE",
    "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD", "LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP",
    "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG", "WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF",
    "CHECKPOINT_RESTORE",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """How a container's process is confined.

    Attributes:
        no_new_privileges: it can gain no privileges by executing another program.
        capabilities: the numbers of all that it may ever have; None to leave them as they are.
        read_only_root: whether everything but its volumes is read-only.
        memory: its limit in bytes, 0 for none.
        cpu: its limit in thousandths of a CPU, 0 for none.
    """

    no_new_privileges: bool = False
    capabilities: tuple[int, ...] | None = None
    read_only_root: bool = False
    memory: int = 0
    cpu: int = 0


def confinement(config: Config) -> Confinement:
    """Return how a container asks to be confined."""
    linux = config.get("linux", {})
    security, resources = linux.get("security_context", {}), linux.get("resources", {})
    is_privileged = bool(security.get("privileged"))
    return Confinement(
        no_new_privileges=not is_privileged and bool(security.get("no_new_privs")),
        capabilities=None if is_privileged else _capabilities(security.get("capabilities", {})),
        read_only_root=bool(security.get("readonly_rootfs")),
        memory=max(resources.get("memory_limit_in_bytes", 0), 0),
        cpu=_milli_cpu(resources),
    )


def _milli_cpu(resources: Config) -> int:
    """Return the limit in thousandths of a CPU, 0 for none: the share of each period that may be used."""
    quota, period = resources.get("cpu_quota", 0), resources.get("cpu_period", 0)
    return quota * 1000 // period if quota > 0 and period > 0 else 0


def _capabilities(wanted: Config) -> tuple[int, ...] | None:
    dropped = {_name(name) for name in wanted.get("drop_capabilities", ())}
    if not dropped:
        return None
    added = {_name(name) for name in wanted.get("add_capabilities", ())}
    return tuple(
        number
        for number, name in enumerate(CAPABILITIES)
        if name in added or "ALL" in added or not (name in dropped or "ALL" in dropped)
    )


def _name(name: str) -> str:
    return name.upper().removeprefix("CAP_")
