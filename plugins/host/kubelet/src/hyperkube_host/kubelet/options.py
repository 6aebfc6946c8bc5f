"""The kubelet's options as typed values, one frozen record per concern; durations are in seconds."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path

from hyperkube_host.kubelet.server_options import ServerOptions
from hyperkube_host.kubelet.taint_flags import read_taint
from hyperkube_host.kubelet.thresholds import Threshold, read_thresholds

from hyperkube.machinery import quantity
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.field import quote as quoted
from hyperkube.machinery.objects import Object
from hyperkube.machinery.record import Record
from hyperkube.plugin.defaults import default_plugin
from hyperkube.plugin.flags import FlagValues
from hyperkube.plugin.loader import PluginNotFound, installed

REMOTE, DOCKER = "remote", "docker"
RUNTIME_SOCKETS = ("/run/containerd/containerd.sock", "/run/crio/crio.sock", "/run/cri-dockerd.sock")
"""Where runtimes listen; the first that is there is used by a kubelet that is given no other."""
EXTERNAL_CLOUD = "external"
AUTO_DETECT = "auto-detect"
CLOUD_WORDS = ("", EXTERNAL_CLOUD, AUTO_DETECT)
"""What ``--cloud-provider`` may say beside a plugin's name: no cloud, one that others ask, and the 1.x default."""


class NodeOptions(Record):
    """The Node object and how it is kept up to date.

    Attributes:
        hostname: the host's, or that of ``--hostname-override``: the node's `name` unless its cloud says another.
    """

    name: str
    hostname: str
    ips: tuple[str, ...]
    labels: Mapping[str, str]
    taints: tuple[Object, ...]
    provider_id: str
    register: bool
    schedulable: bool
    max_pods: int
    pods_per_core: int
    status_max_images: int
    kubelet_port: int
    status_update_seconds: float
    status_report_seconds: float
    lease_seconds: int
    thresholds: tuple[Threshold, ...]
    pressure_transition_seconds: float
    eviction_max_pod_grace_seconds: float
    isolates_local_storage: bool
    controller_attaches: bool
    keeps_volumes: bool
    external_cloud: bool
    hostname_overridden: bool

    @classmethod
    def of(cls, values: FlagValues) -> NodeOptions:
        """Return the options that the values of flags make.

        Raises:
            UsageError: a taint or a threshold that cannot be read.
        """
        return cls(
            name=node_name(values),
            hostname=node_name(values),
            ips=tuple(ip for ip in values["node-ip"].split(",") if ip),
            labels=values["node-labels"],
            taints=tuple(read_taint(text) for text in values["register-with-taints"]),
            provider_id=values["provider-id"],
            register=values["register-node"],
            schedulable=values["register-schedulable"],
            max_pods=values["max-pods"],
            pods_per_core=values["pods-per-core"],
            status_max_images=values["node-status-max-images"],
            kubelet_port=values["port"],
            status_update_seconds=values["node-status-update-frequency"],
            status_report_seconds=values["node-status-report-frequency"],
            lease_seconds=values["node-lease-duration-seconds"],
            thresholds=read_thresholds(
                values["eviction-hard"],
                values["eviction-soft"],
                values["eviction-soft-grace-period"],
                values["eviction-minimum-reclaim"],
                enforces_pods="pods" in values["enforce-node-allocatable"],
            ),
            pressure_transition_seconds=values["eviction-pressure-transition-period"],
            eviction_max_pod_grace_seconds=values["eviction-max-pod-grace-period"],
            isolates_local_storage=values["local-storage-capacity-isolation"],
            controller_attaches=values["enable-controller-attach-detach"],
            keeps_volumes=values["keep-terminated-pod-volumes"],
            external_cloud=values["cloud-provider"] == EXTERNAL_CLOUD,
            hostname_overridden=bool(values["hostname-override"]),
        )


class SourceOptions(Record):
    """Where static pods come from."""

    manifest_path: str
    manifest_url: str
    manifest_header: str
    file_check_seconds: float
    http_check_seconds: float

    @classmethod
    def of(cls, values: FlagValues) -> SourceOptions:
        """Return the options that the values of flags make.

        Raises:
            UsageError: a header that is not one key and one value.
        """
        config, header = values["config"], values["manifest-url-header"]
        if header and header.count(":") != 1:
            raise UsageError(f"manifest-url-header must have a single ':' key-value separator, got {quoted(header)}")
        return cls(
            manifest_path=values["pod-manifest-path"] or ("" if is_configuration(config) else config),
            manifest_url=values["manifest-url"],
            manifest_header=header,
            file_check_seconds=values["file-check-frequency"],
            http_check_seconds=values["http-check-frequency"],
        )


class PodOptions(Record):
    """How pods are run, and what is kept of those that ended."""

    root: Path
    cluster_dns: tuple[str, ...]
    cluster_domain: str
    resolv_conf: Path | None
    allowed_sysctls: tuple[str, ...]
    seccomp_default: bool
    seccomp_root: Path
    unprivileged_port_offset: int
    master_service_namespace: str
    sync_seconds: float
    change_detection: str
    stop_on_close: bool
    dead_containers_per_container: int
    dead_container_min_age_seconds: float
    dead_containers: int
    log_max_bytes: int
    log_max_files: int
    log_max_workers: int
    log_monitor_seconds: float

    @classmethod
    def of(cls, values: FlagValues) -> PodOptions:
        """Return the options that the values of flags make.

        Raises:
            UsageError: a size that cannot be read.
        """
        root = Path(values["root-dir"]).absolute()
        return cls(
            root=root,
            cluster_dns=values["cluster-dns"],
            cluster_domain=values["cluster-domain"],
            resolv_conf=Path(values["resolv-conf"]) if values["resolv-conf"] else None,
            allowed_sysctls=values["allowed-unsafe-sysctls"],
            seccomp_default=values["seccomp-default"],
            seccomp_root=Path(values["seccomp-profile-root"] or root / "seccomp").absolute(),
            unprivileged_port_offset=values["unprivileged-port-offset"],
            master_service_namespace=values["master-service-namespace"],
            sync_seconds=values["sync-frequency"],
            change_detection=values["config-map-and-secret-change-detection-strategy"],
            stop_on_close=values["stop-pods-on-close"],
            dead_containers_per_container=values["maximum-dead-containers-per-container"],
            dead_container_min_age_seconds=values["minimum-container-ttl-duration"],
            log_max_bytes=_size("container-log-max-size", values["container-log-max-size"]),
            log_max_files=values["container-log-max-files"],
            log_max_workers=values["container-log-max-workers"],
            log_monitor_seconds=values["container-log-monitor-interval"],
            dead_containers=values["maximum-dead-containers"],
        )


class RuntimeOptions(Record):
    """The plugins that run containers; `network` is empty for the one that the runtime asks for."""

    runtime: str
    network: str
    pod_cidr: str

    @classmethod
    def of(cls, values: FlagValues) -> RuntimeOptions:
        """Return the options that the values of flags make.

        Raises:
            UsageError: no runtime is named, and none is the default.
        """
        remote = REMOTE if runtime_endpoint(values) else ""
        runtime = values["container-runtime"] or remote or default_plugin("runtime", "container-runtime")
        return cls(runtime=runtime, network=values["network-plugin"], pod_cidr=values["pod-cidr"])


class ImageOptions(Record):
    """How images are pulled, and who may use those that are there.

    Attributes:
        max_parallel: pulls at a time where they are not made one by one; 0 for no limit.
        verifies: whether a pod has to show that it could have pulled an image that is there.
    """

    serialize: bool
    max_parallel: int
    qps: float
    burst: int
    verifies: bool
    verification_policy: str
    verification_allowlist: tuple[str, ...]
    provider_config: str
    provider_bin_dir: str
    gc_high_percent: int
    gc_low_percent: int
    gc_min_age_seconds: float
    gc_max_age_seconds: float

    @classmethod
    def of(cls, values: FlagValues) -> ImageOptions:
        """Return the options that the values of flags make.

        Raises:
            UsageError: values that contradict one another.
        """
        config, folder = values["image-credential-provider-config"], values["image-credential-provider-bin-dir"]
        if bool(config) != bool(folder):
            raise UsageError(
                "--image-credential-provider-config and --image-credential-provider-bin-dir must be set together"
            )
        gates = values["feature-gates"]
        return cls(
            serialize=values["serialize-image-pulls"],
            max_parallel=values["max-parallel-image-pulls"],
            qps=values["registry-qps"],
            burst=values["registry-burst"],
            verifies=gates.get("KubeletEnsureSecretPulledImages", True),
            verification_policy=values["image-pull-credentials-verification-policy"],
            verification_allowlist=values["preloaded-images-verification-allowlist"],
            provider_config=config,
            provider_bin_dir=folder,
            gc_high_percent=values["image-gc-high-threshold"],
            gc_low_percent=values["image-gc-low-threshold"],
            gc_min_age_seconds=values["minimum-image-ttl-duration"],
            gc_max_age_seconds=values["image-maximum-gc-age"],
        )


class KubeletOptions(Record):
    """See ``kubelet --help``.

    Attributes:
        values: the values of all flags, for the settings of plugins.
        flagz: the values as ``/flagz`` shows them; None in a process that serves none.
    """

    node: NodeOptions
    sources: SourceOptions
    pods: PodOptions
    runtime: RuntimeOptions
    images: ImageOptions
    server: ServerOptions
    values: FlagValues
    flagz: Mapping[str, str] | None = None

    @classmethod
    def of(cls, values: FlagValues, *, flagz: Mapping[str, str] | None = None) -> KubeletOptions:
        """Return the options that the values of flags make.

        Raises:
            UsageError: a value that cannot be.
        """
        _check_cloud(values["cloud-provider"])
        return cls(
            node=NodeOptions.of(values),
            sources=SourceOptions.of(values),
            pods=PodOptions.of(values),
            runtime=RuntimeOptions.of(values),
            images=ImageOptions.of(values),
            server=ServerOptions.of(values),
            values=values.with_values(
                {"hostname-override": node_name(values), "container-runtime-endpoint": runtime_endpoint(values)}
            ),
            flagz=flagz,
        )

    def with_name(self, name: str) -> KubeletOptions:
        """Return the same of a node of that name, which its host does not need to have."""
        values = self.values.with_values({"hostname-override": name})
        return self.replace(node=self.node.replace(name=name), values=values)


def _check_cloud(name: str) -> None:
    """Refuse the name of a cloud provider that is not installed, as the controller manager does.

    Raises:
        PluginNotFound: it is none of those.
    """
    if name not in CLOUD_WORDS and name not in (known := installed("cloud")):
        raise PluginNotFound("cloud", name, sorted(known))


def node_name(values: FlagValues) -> str:
    """Return the name of the node: the host's unless given."""
    return values["hostname-override"] or socket.gethostname().lower()


def runtime_endpoint(values: FlagValues) -> str:
    """Return the socket of the runtime: the given one, or one that is there for the runtime remote; empty without."""
    given = str(values["container-runtime-endpoint"])
    if given or values["container-runtime"] not in {"", REMOTE}:
        return given
    return next((f"unix://{path}" for path in RUNTIME_SOCKETS if Path(path).is_socket()), "")


def is_configuration(path: str) -> bool:
    """Tell whether ``--config`` names a KubeletConfiguration file rather than static pods (its 1.0 meaning)."""
    file = Path(path)
    return bool(path) and file.is_file() and "KubeletConfiguration" in file.read_text(errors="replace")


def _size(name: str, text: str) -> int:
    try:
        return quantity.parse(text).value()
    except quantity.QuantityError as error:
        raise UsageError(f"--{name}={text!r}: {error}") from error
