"""How readily the kernel ends a server when memory is short: ``--oom-score-adj`` of the kubelet and the proxy."""

from __future__ import annotations

import logging
from pathlib import Path

from hyperkube.machinery.errors import UsageError

LEAST, MOST = -1000, 1000
_log = logging.getLogger("hyperkube.start")


def set_oom_score(score: int, file: Path = Path("/proc/self/oom_score_adj")) -> None:
    """Set the score of this process; where the machine does not allow that, the log says so and nothing else.

    Raises:
        UsageError: there is no such score.
    """
    if not LEAST <= score <= MOST:
        raise UsageError(f"--oom-score-adj={score}: must be between {LEAST} and {MOST}")
    try:
        file.write_text(str(score), encoding="ascii")
    except OSError as error:
        _log.info("cannot set --oom-score-adj=%d: %s", score, error.strerror)
