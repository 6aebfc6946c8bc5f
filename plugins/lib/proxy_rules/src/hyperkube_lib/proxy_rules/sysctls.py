"""Settings of the kernel, under ``/proc/sys``."""

from __future__ import annotations

import logging
from pathlib import Path

_log = logging.getLogger("hyperkube.proxy")

ROUTE_LOCALNET = "net/ipv4/conf/all/route_localnet"


def ensure_sysctl(name: str, value: int) -> bool:
    """Give a setting a value unless it has it; tell whether it has it now. What cannot be set is logged."""
    path = Path("/proc/sys", name)
    try:
        if path.read_text().strip() != str(value):
            path.write_text(str(value))
    except OSError as error:
        _log.warning("cannot set %s to %d: %s", name, value, error.strerror)
        return False
    return True
