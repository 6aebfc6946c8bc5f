"""TCP probes: an open port is success. Source: kubernetes ``pkg/probe/tcp/tcp.go``."""

from __future__ import annotations

import socket

from hyperkube_host.kubelet.probe.result import ProbeOutcome, ProbeResult

from hyperkube.machinery.objects import Object


def probe_tcp(action: Object, container: Object, address: str, timeout: float) -> ProbeOutcome:
    """Connect to the port of a ``tcpSocket`` action."""
    from hyperkube_host.kubelet.probe.dial_errors import dial_error_text
    from hyperkube_host.kubelet.probe.ports import port_number

    try:
        port = port_number(action["port"], container)
    except ValueError as error:
        return ProbeOutcome(ProbeResult.ERROR, str(error))
    host = action.get("host") or address
    try:
        socket.create_connection((host, port), timeout).close()
    except TimeoutError:
        return ProbeOutcome(ProbeResult.FAILURE, f"dial tcp {host}:{port}: i/o timeout")
    except OSError as error:
        return ProbeOutcome(ProbeResult.FAILURE, dial_error_text(error, host, port))
    return ProbeOutcome(ProbeResult.SUCCESS, "")
