"""What the laboratory needs of the machine: each missing piece is a sentence, the reason for which a test skips."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_PLACE_PROGRAMS = {"unshare": "util-linux", "nsenter": "util-linux", "ip": "iproute2"}
_NODE_PROGRAMS = {
    "containerd": "containerd",
    "ctr": "containerd",
    "runc": "runc",
    "busybox": "busybox-static",
    "iptables": "iptables",
}
CNI_PROGRAMS = Path("/usr/lib/cni")
"""Where Debian's containernetworking-plugins stand."""


def missing_for_places() -> str:
    """Return why there can be no namespaces here, empty when there can."""
    if os.geteuid() != 0:
        return "the laboratory makes namespaces, which needs root"
    return _missing(_PLACE_PROGRAMS)


def missing_for_nodes() -> str:
    """Return why there can be no node with containers here, empty when there can."""
    if reason := missing_for_places() or _missing(_NODE_PROGRAMS):
        return reason
    if not (CNI_PROGRAMS / "bridge").exists():
        return f"the laboratory needs {CNI_PROGRAMS}/bridge (Debian: containernetworking-plugins)"
    if not Path("/sys/fs/cgroup/memory/cgroup.procs").exists():
        return "the laboratory's nodes need cgroup v1 in /sys/fs/cgroup"
    return ""


def missing_for_docker() -> str:
    """Return why there can be no node with Docker here, empty when there can."""
    return missing_for_nodes() or _missing({"dockerd": "docker.io", "docker": "docker.io"})


def missing_for_registry() -> str:
    """Return why there can be no registry here, empty when there can."""
    return missing_for_places() or _missing({"docker-registry": "docker-registry", "perl": "perl-base"})


def _missing(programs: dict[str, str]) -> str:
    for program, package in programs.items():
        if shutil.which(program) is None:
            return f"the laboratory needs {program!r} (Debian: {package})"
    return ""
