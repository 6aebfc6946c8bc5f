"""What is counted of requests that go to other servers, and of the news of what these serve.

Source: kubernetes apiserver ``pkg/util/peerproxy/metrics/metrics.go``.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from threading import Lock

Resource = tuple[str, str, str]
"""Group, version and name."""
_RESOURCE = ("group", "version", "resource")


class SyncError(StrEnum):
    """Why it is not known what a server serves."""

    LEASES = "lease_list"
    PLACE = "hostport_resolution"
    ANSWER = "fetch_discovery"


class PeerMetrics:
    """Counts from any thread; written out when asked for."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._rerouted: Counter[tuple[str, ...]] = Counter()
        self._errors: Counter[tuple[str, ...]] = Counter()
        self._sync_errors: Counter[tuple[str, ...]] = Counter()

    def rerouted(self, status: int, resource: Resource) -> None:
        """Count a request that another server was asked, by the status that the client got."""
        with self._lock:
            self._rerouted[(str(status), *resource)] += 1

    def not_located(self, resource: Resource) -> None:
        """Count a request for which no server said where it is."""
        with self._lock:
            self._errors[("endpoint_resolution", *resource)] += 1

    def not_learned(self, error: SyncError) -> None:
        """Count a failure to learn what a server serves."""
        with self._lock:
            self._sync_errors[(error.value,)] += 1

    def text(self) -> bytes:
        """Return the counters in Prometheus' text format; nothing of those that count nothing yet."""
        with self._lock:
            counted = (
                ("rerouted_request_total", "Requests that another API server of the cluster was asked.",
                 ("code", *_RESOURCE), dict(self._rerouted)),
                ("peer_proxy_errors_total", "Requests for another API server that could not be sent there.",
                 ("type", *_RESOURCE), dict(self._errors)),
                ("peer_discovery_sync_errors_total", "Failures to learn what other API servers serve.",
                 ("type",), dict(self._sync_errors)),
            )  # fmt: skip
        lines = []
        for word, told, names, counts in counted:
            name = f"apiserver_{word}"
            if counts:
                lines += [f"# HELP {name} {told}", f"# TYPE {name} counter"]
            for values, count in sorted(counts.items()):
                labels = ",".join(f'{key}="{value}"' for key, value in zip(names, values, strict=True))
                lines.append(f"{name}{{{labels}}} {count}")
        return "".join(f"{line}\n" for line in lines).encode()
