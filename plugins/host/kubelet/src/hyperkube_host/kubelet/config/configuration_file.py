"""The file of ``--config``: a KubeletConfiguration, whose fields are flags by other names.

A flag that is given counts more than the file. A field that nothing here reads is named in the log.

Source: kubernetes ``staging/src/k8s.io/kubelet/config/v1beta1/types.go``, ``cmd/kubelet/app/options/options.go``,
``pkg/kubelet/apis/config/v1beta1/defaults.go``.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import ADDRESS, DURATION, STRING, Flag, FlagValues, read_value

GROUP, KIND = "kubelet.config.k8s.io/", "KubeletConfiguration"
FLAG_OF = {
    "staticPodPath": "pod-manifest-path",
    "staticPodURL": "manifest-url",
    "clusterDNS": "cluster-dns",
    "podCIDR": "pod-cidr",
    "providerID": "provider-id",
    "resolvConf": "resolv-conf",
    "volumePluginDir": "volume-plugin-dir",
    "authentication.x509.clientCAFile": "client-ca-file",
    "authentication.anonymous.enabled": "anonymous-auth",
    "authentication.webhook.enabled": "authentication-token-webhook",
    "authentication.webhook.cacheTTL": "authentication-token-webhook-cache-ttl",
    "authorization.mode": "authorization-mode",
    "authorization.webhook.cacheAuthorizedTTL": "authorization-webhook-cache-authorized-ttl",
    "authorization.webhook.cacheUnauthorizedTTL": "authorization-webhook-cache-unauthorized-ttl",
    "serverTLSBootstrap": "rotate-server-certificates",
    "imageMinimumGCAge": "minimum-image-ttl-duration",
    "imageGCHighThresholdPercent": "image-gc-high-threshold",
    "imageGCLowThresholdPercent": "image-gc-low-threshold",
    "imageMaximumGCAge": "image-maximum-gc-age",
    "registryPullQPS": "registry-qps",
    "cpuCFSQuota": "cpu-cfs-quota",
    "cpuCFSQuotaPeriod": "cpu-cfs-quota-period",
    "cgroupsPerQOS": "cgroups-per-qos",
    "qosReserved": "qos-reserved",
    "reservedSystemCPUs": "reserved-cpus",
    "podPidsLimit": "pod-max-pids",
    "failCgroupV1": "fail-cgroupv1",
    "memorySwap.swapBehavior": "memory-swap-behavior",
    "crashLoopBackOff.maxContainerRestartPeriod": "max-container-restart-period",
    "makeIPTablesUtilChains": "make-iptables-util-chains",
    "enableProfilingHandler": "profiling",
}
"""Field → flag, where the one is not the other in another spelling (``syncFrequency``, ``sync-frequency``)."""
_UNSET_BY_ZERO = frozenset(
    {"port", "maxPods", "nodeLeaseDurationSeconds", "registryBurst", "eventBurst", "kubeAPIBurst"}
)
_MEANT_ZERO = frozenset({"cpuCFSQuotaPeriod", "crashLoopBackOff.maxContainerRestartPeriod", "resolvConf"})
"""Durations and texts that are pointers in ``types.go``, so that a zero is one."""
_NESTED = ("authentication", "authorization", "x509", "anonymous", "webhook", "memorySwap", "crashLoopBackOff")
_log = logging.getLogger("hyperkube.kubelet")


def with_configuration(path: str, flags: Iterable[Flag], values: FlagValues) -> FlagValues:
    """Return the values with those of a configuration file for flags that were not given.

    Raises:
        UsageError: the file is no KubeletConfiguration, or a value in it cannot be.
    """
    known = {flag.name: flag for flag in flags}
    found: dict[str, Any] = {}
    for field, value in _fields(_read(path)):
        flag = known.get(FLAG_OF.get(field) or _flag_name(field))
        if flag is None or flag.idle:
            _log.warning("%s: field %s has no effect: its behaviour is not built yet", path, field)
        elif flag.name not in values.given:
            read = read_value(flag, f"config: {field}", _as_flag(field, value))
            if read or not _is_unset_by_zero(field, flag):
                found[flag.name] = read
    return FlagValues({**values, **found}, {*values.given, *found})


def _is_unset_by_zero(field: str, flag: Flag) -> bool:
    """Tell whether a zero, or an empty text, says as much as nothing: kubeadm writes ``syncFrequency: 0s``."""
    return field in _UNSET_BY_ZERO or (field not in _MEANT_ZERO and flag.kind in (DURATION, STRING, ADDRESS))


def _read(path: str) -> Mapping[str, Any]:
    import yaml  # most kubelets of a cluster in one process have no file

    try:
        document = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise UsageError(f"--config: cannot read {path!r}: {error}") from error
    kind, version = (document.get("kind"), str(document.get("apiVersion"))) if isinstance(document, dict) else ("", "")
    if kind != KIND or not version.startswith(GROUP):
        raise UsageError(f"--config: {path!r} is no {KIND} of {GROUP}v1beta1")
    return {name: value for name, value in document.items() if name not in {"kind", "apiVersion"}}


def _fields(table: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if name in _NESTED and isinstance(value, dict):
            yield from _fields(value, f"{place}{name}.")
        elif value is not None:
            yield f"{place}{name}", value


def _flag_name(field: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", field).lower()


def _as_flag(field: str, value: Any) -> Any:
    """Return a value as its flag is typed, where the file has another shape."""
    if field in {"evictionHard", "evictionSoft"}:
        return ",".join(f"{signal}<{amount}" for signal, amount in value.items())
    if field == "reservedMemory":
        return ";".join(f"{entry['numaNode']}:{_pairs(entry['limits'])}" for entry in value)
    if field == "shutdownGracePeriodByPodPriority":
        return ",".join(f"{entry['priority']}={entry['shutdownGracePeriodSeconds']}" for entry in value)
    if field == "registerWithTaints":
        return [f"{taint['key']}={taint.get('value', '')}:{taint['effect']}" for taint in value]
    return value


def _pairs(table: Mapping[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in table.items())
