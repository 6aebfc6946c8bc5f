"""The fields of a KubeSchedulerConfiguration that speak of the server: they are flags by other names.

A flag that is given counts more than the file. A field that nothing here reads is named in the log, and one that does
not exist is an error.

Source: kubernetes ``staging/src/k8s.io/kube-scheduler/config/v1/types.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hyperkube.machinery.codecs.yaml import loads
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import Flag, FlagValues, read_value

KIND = "KubeSchedulerConfiguration"
FLAG_OF = {
    "leaderElection.leaderElect": "leader-elect",
    "leaderElection.leaseDuration": "leader-elect-lease-duration",
    "leaderElection.renewDeadline": "leader-elect-renew-deadline",
    "leaderElection.retryPeriod": "leader-elect-retry-period",
    "leaderElection.resourceLock": "leader-elect-resource-lock",
    "leaderElection.resourceName": "leader-elect-resource-name",
    "leaderElection.resourceNamespace": "leader-elect-resource-namespace",
    "clientConnection.kubeconfig": "kubeconfig",
    "clientConnection.qps": "kube-api-qps",
    "clientConnection.burst": "kube-api-burst",
    "enableProfiling": "profiling",
}
READ_ELSEWHERE = frozenset(
    {"kind", "apiVersion", "profiles", "extenders", "podInitialBackoffSeconds", "podMaxBackoffSeconds"}
)
WITHOUT_EFFECT = frozenset(
    {
        "clientConnection.acceptContentTypes",
        "clientConnection.contentType",
        "delayCacheUntilActive",
        "enableContentionProfiling",
        "healthzBindAddress",
        "metricsBindAddress",
        "parallelism",
        "percentageOfNodesToScore",
    }
)
_log = logging.getLogger("hyperkube.scheduler")


def with_server_fields(path: str, flags: Iterable[Flag], values: FlagValues) -> FlagValues:
    """Return the values with those of a configuration file for flags that were not given.

    Raises:
        UsageError: the file cannot be read, a field does not exist, or its value cannot be.
    """
    known = {flag.name: flag for flag in flags}
    found: dict[str, Any] = {}
    for field, value in _fields(_read(path)):
        name = FLAG_OF.get(field)
        if field in WITHOUT_EFFECT:
            _log.warning("%s: field %s has no effect here", path, field)
        elif name is None:
            raise UsageError(f'--config: {path!r}: strict decoding error: unknown field "{field}"')
        elif name not in values.given:
            found[name] = read_value(known[name], f"config: {field}", value)
    return FlagValues({**values, **found}, {*values.given, *found})


def _read(path: str) -> Mapping[str, Any]:
    try:
        document, _ = loads(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"--config: cannot read {path!r}: {error}") from error
    if not isinstance(document, dict) or document.get("kind", KIND) != KIND:
        return {}  # the reader of the profiles says what is wrong with it
    return document


def _fields(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if name in {"leaderElection", "clientConnection"} and isinstance(value, dict):
            yield from ((f"{name}.{inner}", each) for inner, each in value.items() if each is not None)
        elif name not in READ_ELSEWHERE and value is not None:
            yield name, value
