"""The user of a container's process: the runtime's own, or, for a runtime of root, that of the security context."""

from __future__ import annotations

import os
import pwd

from hyperkube.hookspecs.runtime import Config, RuntimeFailed
from hyperkube.machinery.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ProcessUser:
    """The ids that a process runs with."""

    user: int
    group: int
    groups: tuple[int, ...]


def process_user(security: Config) -> ProcessUser | None:
    """Return the user for a container, None to stay who this process is.

    Args:
        security: CRI's ``LinuxContainerSecurityContext``.

    Raises:
        RuntimeFailed: it asks for a user that this process cannot become.
    """
    user, group = (security.get(field, {}).get("value") for field in ("run_as_user", "run_as_group"))
    if os.geteuid() != 0:
        for wanted, ours, word in ((user, os.getuid(), "runAsUser"), (group, os.getgid(), "runAsGroup")):
            if wanted is not None and wanted != ours:
                raise RuntimeFailed(
                    f"{word} {wanted} needs root: this node runs without it, and its containers as {ours}",
                    "CreateContainerError",
                )
        return None
    supplemental = security.get("supplemental_groups", ())
    if user in {None, 0} and group is None and not supplemental:
        return None
    group = group if group is not None else _primary_group(user or 0)
    return ProcessUser(user or 0, group, tuple(supplemental))


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
