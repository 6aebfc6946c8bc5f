"""How many files a server may have open: ``--max-open-files`` of the kubelet.

Source: kubernetes ``pkg/util/rlimit``, ``cmd/kubelet/app/server.go``.
"""

from __future__ import annotations

import logging
import resource

from hyperkube.machinery.errors import UsageError

_log = logging.getLogger("hyperkube.start")


def allow_open_files(count: int) -> int:
    """Let this process have so many files open, or as many as the machine allows it; return the limit.

    A limit that is higher already stays: another part of the process may need it.

    Raises:
        UsageError: a negative number.
    """
    if count < 0:
        raise UsageError(f"invalid configuration: --max-open-files {count} must not be a negative number")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if count > hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))
        except (OSError, ValueError) as error:
            _log.info("cannot set --max-open-files=%d, %d are allowed: %s", count, hard, error)
        else:
            return count
    wanted = max(soft, min(count, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted
