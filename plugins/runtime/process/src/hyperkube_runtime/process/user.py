"""As whom a container's process runs: as us, or, when we are root, as whom its security context names."""

from __future__ import annotations

import os
import pwd
from typing import Any

from hyperkube.hookspecs.runtime import RuntimeFailed
from hyperkube.machinery.objects import Object


def settle(security: Object) -> dict[str, Any]:
    """Return ``user``, ``group`` and ``groups`` for the watcher, and the home folder; empty to stay who we are.

    Args:
        security: the container's security context, laid over its pod's.

    Raises:
        RuntimeFailed: it asks for a user that we cannot become.
    """
    user, group = security.get("runAsUser"), security.get("runAsGroup")
    if os.geteuid() != 0:
        for wanted, ours, word in ((user, os.getuid(), "runAsUser"), (group, os.getgid(), "runAsGroup")):
            if wanted is not None and wanted != ours:
                raise RuntimeFailed(
                    f"{word} {wanted} needs root: this node runs without it, and its containers as {ours}",
                    "CreateContainerError",
                )
        return {}
    if security.get("runAsNonRoot") and not user:
        text = "container has runAsNonRoot and image will run as root"
        raise RuntimeFailed(text, "CreateContainerConfigError")
    supplemental = list(security.get("supplementalGroups") or [])
    if security.get("fsGroup") is not None:
        supplemental.append(security["fsGroup"])
    if user is None and group is None and not supplemental:
        return {}
    return {
        "user": user if user is not None else 0,
        "group": group if group is not None else _primary_group(user or 0),
        "groups": supplemental,
    }


def _primary_group(user: int) -> int:
    try:
        return pwd.getpwuid(user).pw_gid
    except KeyError:
        return 0


def home(user: int) -> str:
    """Return the home folder of a user, ``/`` for an unknown one."""
    try:
        return pwd.getpwuid(user).pw_dir
    except KeyError:
        return "/"
