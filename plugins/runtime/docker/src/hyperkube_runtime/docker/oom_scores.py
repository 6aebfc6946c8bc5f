"""What OOM score adjustments containers may get here.

A process without ``CAP_SYS_RESOURCE`` may not lower scores, and runc gives up on a container that asks for it. Docker
has no setting against that, unlike containerd (``restrict_oom_score_adj``).
"""

from __future__ import annotations

from pathlib import Path

_CAP_SYS_RESOURCE = 24
_LEAST = -1000


def least_oom_score_adj(process: Path = Path("/proc/self")) -> int:
    """Return the least adjustment that a process of this machine, such as Docker, may give to its children."""
    try:
        status = (process / "status").read_text(encoding="utf-8")
        capabilities = next(line.split()[1] for line in status.splitlines() if line.startswith("CapBnd:"))
        if int(capabilities, 16) >> _CAP_SYS_RESOURCE & 1:
            return _LEAST
        return int((process / "oom_score_adj").read_text(encoding="utf-8"))
    except (OSError, StopIteration, ValueError):
        return _LEAST
