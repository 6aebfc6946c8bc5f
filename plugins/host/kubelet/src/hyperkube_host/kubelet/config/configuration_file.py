"""The files of ``--config`` and ``--config-dir``: a KubeletConfiguration, whose fields are flags by other names.

The files of the folder are merged into the one of ``--config`` in the order of their names. A flag that is given
counts more than all of them. A field that nothing here reads is named in the log, as is one that does not exist.

Source: kubernetes ``staging/src/k8s.io/kubelet/config/v1beta1/types.go``, ``cmd/kubelet/app/options/options.go``,
``cmd/kubelet/app/server.go`` (mergeKubeletConfigurations), ``pkg/kubelet/apis/config/v1beta1/defaults.go``.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.patch.merge import apply_merge_patch
from hyperkube.plugin.flags import ADDRESS, DURATION, STRING, Flag, FlagValues, read_value

DROP_IN_SUFFIX = ".conf"
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
    "runOnce": "runonce",
    "kubeAPIQPS": "kube-api-qps",
    "eventRecordQPS": "event-qps",
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
WITHOUT_FLAG = frozenset(
    {
        "contentType",
        "draManagerReconcilePeriod",
        "enableContentionProfiling",
        "enableDebugFlagsHandler",
        "enableSystemLogHandler",
        "enableSystemLogQuery",
        "logging",
        "memoryReservationPolicy",
        "mergeDefaultEvictionSettings",
        "showHiddenMetricsForVersion",
        "singleProcessOOMKill",
        "staticPodURLHeader",
        "tracing",
        "userNamespaces",
    }
)
"""Fields that there are, and that nothing here reads."""
_UNSET_BY_ZERO = frozenset(
    {"port", "maxPods", "nodeLeaseDurationSeconds", "registryBurst", "eventBurst", "kubeAPIBurst"}
)
_MEANT_ZERO = frozenset({"cpuCFSQuotaPeriod", "crashLoopBackOff.maxContainerRestartPeriod", "resolvConf"})
"""Durations and texts that are pointers in ``types.go``, so that a zero is one."""
_NESTED = ("authentication", "authorization", "x509", "anonymous", "webhook", "memorySwap", "crashLoopBackOff")
_log = logging.getLogger("hyperkube.kubelet")


def with_configuration(path: str, folder: str, flags: Iterable[Flag], values: FlagValues) -> FlagValues:
    """Return the values with those of configuration files for flags that were not given.

    Args:
        path: the file of ``--config``; empty without one.
        folder: that of ``--config-dir``, with more files; empty without one.
        flags: all that there are.
        values: as they were given.

    Raises:
        UsageError: a file is no KubeletConfiguration, or a value in it cannot be.
    """
    table: dict[str, Any] = _read(Path(path), "--config") if path else {}
    for file in _drop_ins(Path(folder)) if folder else ():
        table = apply_merge_patch(table, _read(file, "--config-dir"))
    known = {flag.name: flag for flag in flags}
    found: dict[str, Any] = {}
    for field, value in _fields(table):
        flag = known.get(FLAG_OF.get(field) or _flag_name(field))
        if flag is None and field.partition(".")[0] not in WITHOUT_FLAG:
            _log.warning('%s: strict decoding error: unknown field "%s"', path or folder, field)
        elif flag is None or flag.idle:
            _log.warning("%s: field %s has no effect: its behaviour is not built yet", path or folder, field)
        elif flag.name not in values.given:
            read = read_value(flag, f"config: {field}", _as_flag(field, value))
            if read or not _is_unset_by_zero(field, flag):
                found[flag.name] = read
    return FlagValues({**values, **found}, {*values.given, *found})


def _is_unset_by_zero(field: str, flag: Flag) -> bool:
    """Tell whether a zero, or an empty text, says as much as nothing: kubeadm writes ``syncFrequency: 0s``."""
    return field in _UNSET_BY_ZERO or (field not in _MEANT_ZERO and flag.kind in (DURATION, STRING, ADDRESS))


def _drop_ins(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder and those below it that are merged, in the order of their names.

    Raises:
        UsageError: a folder cannot be read.
    """
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise UsageError(f"--config-dir: cannot read {str(folder)!r}: {error}") from error
    for entry in entries:
        if entry.is_dir() and not entry.is_symlink():
            yield from _drop_ins(entry)
        elif entry.suffix == DROP_IN_SUFFIX:
            yield entry
        else:
            _log.info("--config-dir: %s is left out: its name does not end in %s", entry, DROP_IN_SUFFIX)


def _read(path: Path, flag: str) -> dict[str, Any]:
    import yaml  # most kubelets of a cluster in one process have no file

    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"{flag}: cannot read {str(path)!r}: {error}") from error
    kind, version = (document.get("kind"), str(document.get("apiVersion"))) if isinstance(document, dict) else ("", "")
    if kind != KIND or not version.startswith(GROUP):
        raise UsageError(f"{flag}: {str(path)!r} is no {KIND} of {GROUP}v1beta1")
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
