"""The kubelet's options as typed values; names and defaults are Kubernetes' own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyperkube.machinery import quantity
from hyperkube.machinery.durations import parse_duration
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object

DEFAULT_NETWORK = {"process": "loopback"}
"""Runtime → network plugin; a runtime that is not here brings its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeletOptions:
    """See ``kubelet --help``; durations in seconds."""

    node_name: str
    root: Path
    node_ip: str = ""
    node_labels: Mapping[str, str] = field(default_factory=dict)
    register_node: bool = True
    taints: tuple[Object, ...] = ()
    schedulable: bool = True
    provider_id: str = ""
    max_pods: int = 110
    status_update_seconds: float = 10.0
    status_report_seconds: float = 300.0
    lease_seconds: int = 40
    pod_cidr: str = ""
    manifest_path: str = ""
    manifest_url: str = ""
    manifest_header: str = ""
    file_check_seconds: float = 20.0
    http_check_seconds: float = 20.0
    sync_seconds: float = 60.0
    cluster_dns: tuple[str, ...] = ()
    cluster_domain: str = ""
    resolv_conf: str = "/etc/resolv.conf"
    dead_per_container: int = 1
    dead_total: int = -1
    dead_min_age_seconds: float = 0.0
    stop_pods_on_close: bool = False
    log_max_bytes: int = 10 * 1024 * 1024
    log_max_files: int = 5
    runtime: str = "process"
    network: str = ""
    request_timeout_seconds: float = 120.0
    port: int = 10250
    debugging: bool = True
    anonymous: bool = False
    client_ca_file: str = ""
    token_webhook: bool = True
    authorization_mode: str = "Webhook"
    raw: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, options: Mapping[str, Any]) -> KubeletOptions:
        """Read the options by flag name; what is absent has its default.

        Raises:
            UsageError: a value that cannot be.
        """
        read = _Reader(options)
        runtime = read.text("container-runtime", "process")
        mode = read.text("authorization-mode", "Webhook")
        if mode not in {"Webhook", "AlwaysAllow"}:
            raise UsageError(f"--authorization-mode={mode!r} is none of the kubelet's: Webhook, AlwaysAllow")
        manifests, config = read.text("pod-manifest-path", ""), read.text("config", "")
        return cls(
            node_name=read.text("hostname-override", "") or _host_name(),
            root=Path(read.text("root-dir", "/var/lib/kubelet")).absolute(),
            node_ip=read.text("node-ip", ""),
            node_labels=_pairs(options.get("node-labels") or {}),
            register_node=bool(options.get("register-node", True)),
            taints=tuple(_taint(text) for text in read.words("register-with-taints")),
            schedulable=bool(options.get("register-schedulable", True)),
            provider_id=read.text("provider-id", ""),
            max_pods=int(options.get("max-pods", 110)),
            status_update_seconds=read.seconds("node-status-update-frequency", 10.0),
            status_report_seconds=read.seconds("node-status-report-frequency", 300.0),
            lease_seconds=int(options.get("node-lease-duration-seconds", 40)),
            pod_cidr=read.text("pod-cidr", ""),
            manifest_path=manifests or ("" if is_configuration(config) else config),
            manifest_url=read.text("manifest-url", ""),
            manifest_header=read.text("manifest-url-header", ""),
            file_check_seconds=read.seconds("file-check-frequency", 20.0),
            http_check_seconds=read.seconds("http-check-frequency", 20.0),
            sync_seconds=read.seconds("sync-frequency", 60.0),
            cluster_dns=read.words("cluster-dns"),
            cluster_domain=read.text("cluster-domain", ""),
            resolv_conf=read.text("resolv-conf", "/etc/resolv.conf"),
            dead_per_container=int(options.get("maximum-dead-containers-per-container", 1)),
            dead_total=int(options.get("maximum-dead-containers", -1)),
            dead_min_age_seconds=read.seconds("minimum-container-ttl-duration", 0.0),
            stop_pods_on_close=bool(options.get("stop-pods-on-close", False)),
            log_max_bytes=quantity.parse(read.text("container-log-max-size", "10Mi")).value(),
            log_max_files=int(options.get("container-log-max-files", 5)),
            runtime=runtime,
            network=read.text("network-plugin", "") or DEFAULT_NETWORK.get(runtime, ""),
            request_timeout_seconds=read.seconds("runtime-request-timeout", 120.0),
            port=int(options.get("port", 10250)),
            debugging=bool(options.get("enable-debugging-handlers", True)),
            anonymous=bool(options.get("anonymous-auth", False)),
            client_ca_file=read.text("client-ca-file", ""),
            token_webhook=bool(options.get("authentication-token-webhook", True)),
            authorization_mode=mode,
            raw=options,
        )


class _Reader:
    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = options

    def text(self, name: str, default: str) -> str:
        value = self._options.get(name)
        return default if value is None else str(value)

    def words(self, name: str) -> tuple[str, ...]:
        value = self._options.get(name) or ()
        return tuple(word for word in value.split(",") if word) if isinstance(value, str) else tuple(value)

    def seconds(self, name: str, default: float) -> float:
        value = self._options.get(name)
        if value is None or value == "":
            return default
        return float(value) if isinstance(value, int | float) else parse_duration(str(value))


def is_configuration(path: str) -> bool:
    """Tell whether ``--config`` names a KubeletConfiguration file rather than static pods (its 1.0 meaning)."""
    file = Path(path)
    return bool(path) and file.is_file() and "KubeletConfiguration" in file.read_text(errors="replace")


def _pairs(value: Any) -> dict[str, str]:
    if isinstance(value, str):
        return dict(item.partition("=")[::2] for item in value.split(",") if item)
    return dict(value)


def _taint(text: str) -> Object:
    """Read ``key=value:effect`` or ``key:effect``."""
    pair, colon, effect = text.rpartition(":")
    if not colon or effect not in {"NoSchedule", "PreferNoSchedule", "NoExecute"}:
        raise UsageError(f"--register-with-taints: {text!r} is not key=value:effect (NoSchedule, NoExecute, …)")
    key, _, value = pair.partition("=")
    return {"key": key, "value": value, "effect": effect} if value else {"key": key, "effect": effect}


def _host_name() -> str:
    import socket

    return socket.gethostname().lower()
