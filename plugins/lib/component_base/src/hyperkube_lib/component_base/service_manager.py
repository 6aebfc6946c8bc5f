"""Tells the service manager that started this process how far it is, as units of ``Type=notify`` expect.

Sources: systemd ``sd_notify(3)``; kubernetes apiserver ``pkg/server/genericapiserver.go`` and
``cmd/kubelet/app/server.go``, which tell it when they serve.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Mapping

SOCKET = "NOTIFY_SOCKET"
READY = "READY=1"
STOPPING = "STOPPING=1"
_log = logging.getLogger("hyperkube.start")


def notify(state: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Send a state to the service manager; tell whether there is one that took it."""
    address = environ.get(SOCKET, "")
    if not address:
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
        try:
            sender.sendto(state.encode(), address.replace("@", "\0", 1) if address.startswith("@") else address)
        except OSError as error:
            _log.warning("cannot tell the service manager %s: %s", state, error.strerror)
            return False
    return True
