"""The server's options: the values of its flags, each with its type, in one frozen record per concern.

A field is named after its flag, with ``_`` for ``-``, and has the flag's value; a flag that is not given has the
default of the table in ``flags``. Flags that only plugins read are not here: a plugin is given its own as settings.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any, TypeVar

from hyperkube_host.apiserver.flags import FLAGS

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record
from hyperkube.plugin.flags import CIDRS, Flag, by_name, given_names, read_value

_WITHOUT_COMMAND_LINE: Mapping[str, Any] = {
    "allow-privileged": True,
    "bind-address": "",
    "service-account-issuer": (),
}
"""Defaults of a server within another program: it listens nowhere, and issues no tokens under a name that is public."""


class AddressOptions(Record):
    """Where the server is found."""

    advertise_address: str
    bind_address: str
    external_hostname: str
    secure_port: int


class ListenerOptions(Record):
    """The ports, and what they do with connections."""

    cors_allowed_origins: tuple[str, ...]
    disable_http2_serving: bool
    goaway_chance: float
    http2_max_streams_per_connection: int
    insecure_bind_address: str
    insecure_port: int
    max_connection_bytes_per_sec: int
    permit_port_sharing: bool
    tls_cert_file: str
    tls_cipher_suites: tuple[str, ...]
    tls_min_version: str
    tls_private_key_file: str
    tls_sni_cert_key: tuple[str, ...]


class ShutdownOptions(Record):
    """How the server ends; times in seconds."""

    shutdown_delay_duration: float
    shutdown_send_retry_after: bool
    shutdown_watch_termination_grace_period: float


class RequestOptions(Record):
    """How many requests may be under way, and for how long; times in seconds."""

    delete_collection_workers: int
    enable_priority_and_fairness: bool
    max_mutating_requests_inflight: int
    max_requests_inflight: int
    min_request_timeout: int
    request_timeout: float


class StorageOptions(Record):
    """How objects are stored; times in seconds."""

    data_dir: str
    default_watch_cache_size: int
    encryption_provider_config: str
    encryption_provider_config_automatic_reload: bool
    etcd_config: str
    etcd_count_metric_poll_period: float
    etcd_db_metric_poll_interval: float
    etcd_healthcheck_timeout: float
    etcd_prefix: str
    etcd_quorum_read: bool
    etcd_readycheck_timeout: float
    etcd_servers: tuple[str, ...]
    etcd_servers_overrides: tuple[str, ...]
    event_ttl: float
    lease_reuse_duration_seconds: int
    storage_backend: str
    storage_initialization_timeout: float
    storage_media_type: str
    storage_version: str
    storage_versions: str
    target_ram_mb: int
    watch_cache_sizes: tuple[str, ...]


class AuthenticationOptions(Record):
    """Who may say who asks, as far as the server itself has to know."""

    authentication_plugins: tuple[str, ...]
    client_ca_file: str
    requestheader_allowed_names: tuple[str, ...]
    requestheader_client_ca_file: str
    requestheader_extra_headers_prefix: tuple[str, ...]
    requestheader_group_headers: tuple[str, ...]
    requestheader_uid_headers: tuple[str, ...]
    requestheader_username_headers: tuple[str, ...]


class ServiceAccountOptions(Record):
    """The tokens of service accounts; times in seconds."""

    api_audiences: tuple[str, ...]
    service_account_extend_token_expiration: bool
    service_account_issuer: tuple[str, ...]
    service_account_jwks_uri: str
    service_account_key_file: tuple[str, ...]
    service_account_max_token_expiration: float
    service_account_signing_key_file: str


class AuthorizationOptions(Record):
    """Who decides what users may do."""

    authorization_config: str
    authorization_mode: tuple[str, ...]
    authorization_webhook_config_file: str
    explain_forbidden: bool


class AdmissionOptions(Record):
    """Which admission plugins run."""

    admission_control: tuple[str, ...]
    admission_control_config_file: str
    disable_admission_plugins: tuple[str, ...]
    enable_admission_plugins: tuple[str, ...]
    explain_admission: bool
    unattended_resources: tuple[str, ...]


class AuditOptions(Record):
    """What is recorded of requests, and where; times in seconds."""

    audit_log_batch_buffer_size: int
    audit_log_batch_max_size: int
    audit_log_batch_max_wait: float
    audit_log_compress: bool
    audit_log_format: str
    audit_log_maxage: int
    audit_log_maxbackup: int
    audit_log_maxsize: int
    audit_log_mode: str
    audit_log_path: str
    audit_policy_file: str
    audit_webhook_batch_buffer_size: int
    audit_webhook_batch_max_size: int
    audit_webhook_batch_max_wait: float
    audit_webhook_config_file: str
    audit_webhook_initial_backoff: float
    audit_webhook_mode: str


class ControlPlaneOptions(Record):
    """What holds in the cluster: its Services, the Service kubernetes, and how API servers know of each other.

    Attributes:
        service_cluster_ip_range: one range, or two of different families, comma-separated.
    """

    allow_privileged: bool
    apiserver_count: int
    component_statuses: Mapping[str, str]
    endpoint_reconciler_type: str
    kubernetes_service_node_port: int
    kubernetes_service_port: int
    service_cluster_ip_range: str
    service_node_port_range: str


class KubeletOptions(Record):
    """How kubelets are reached; times in seconds."""

    kubelet_certificate_authority: str
    kubelet_client_certificate: str
    kubelet_client_key: str
    kubelet_https: bool
    kubelet_port: int
    kubelet_preferred_address_types: tuple[str, ...]
    kubelet_timeout: float
    ssh_keyfile: str
    ssh_user: str


class AggregationOptions(Record):
    """How extension API servers are reached."""

    proxy_client_cert_file: str
    proxy_client_key_file: str


class FeatureOptions(Record):
    """What can be switched off, and how patient probes are; times in seconds."""

    compat: str
    enable_garbage_collector: bool
    enable_logs_handler: bool
    enable_swagger_ui: bool
    livez_grace_period: float
    profiling: bool
    runtime_config: Mapping[str, str]


class Options(Record):
    """All options of one server.

    Attributes:
        values: flag name → value, for the plugins.
        given: the names of the flags that were given.
        gates: the feature gates that were set.
        long_running: the paths that no limit counts, None where only the usual ones are; from
            ``--long-running-request-regexp``.
        is_announced: whether the server has a socket, and makes known in the cluster that it is there.
        flagz: what ``/flagz`` shows; None for a server without a command line.
    """

    address: AddressOptions
    listener: ListenerOptions
    shutdown: ShutdownOptions
    requests: RequestOptions
    storage: StorageOptions
    authentication: AuthenticationOptions
    service_accounts: ServiceAccountOptions
    authorization: AuthorizationOptions
    admission: AdmissionOptions
    audit: AuditOptions
    control_plane: ControlPlaneOptions
    kubelets: KubeletOptions
    aggregation: AggregationOptions
    features: FeatureOptions
    values: Mapping[str, Any]
    given: Collection[str]
    gates: Mapping[str, bool]
    long_running: re.Pattern[str] | None
    is_announced: bool
    flagz: Mapping[str, str] | None

    @classmethod
    def of(
        cls, values: Mapping[str, Any], *, is_announced: bool = False, flagz: Mapping[str, str] | None = None
    ) -> Options:
        """Return the options that the values of flags make; a missing flag has its default.

        Raises:
            UsageError: a value is of the wrong type, or is no regular expression where it should be.
        """
        return cls(
            address=read(AddressOptions, values),
            listener=read(ListenerOptions, values),
            shutdown=read(ShutdownOptions, values),
            requests=read(RequestOptions, values),
            storage=read(StorageOptions, values),
            authentication=read(AuthenticationOptions, values),
            service_accounts=read(ServiceAccountOptions, values),
            authorization=read(AuthorizationOptions, values),
            admission=read(AdmissionOptions, values),
            audit=read(AuditOptions, values),
            control_plane=read(ControlPlaneOptions, values),
            kubelets=read(KubeletOptions, values),
            aggregation=read(AggregationOptions, values),
            features=read(FeatureOptions, values),
            values=values,
            given=given_names(values),
            gates=dict(values.get("feature-gates") or {}),
            long_running=_long_running(values),
            is_announced=is_announced,
            flagz=flagz,
        )


_Shape = TypeVar("_Shape", bound=Record)


def read(shape: type[_Shape], values: Mapping[str, Any]) -> _Shape:
    """Return one record of options out of the values of flags.

    Raises:
        UsageError: a value is of the wrong type.
    """
    found = {}
    for field in shape.field_names:
        name = field.replace("_", "-")
        value = values.get(name)
        found[field] = _default(name) if value is None else _converted(_flags()[name], value)
    return shape(**found)


def _converted(flag: Flag, value: Any) -> Any:
    if flag.kind is CIDRS and not isinstance(value, str):
        value = ",".join(value)
    return read_value(flag, flag.name, value)


@cache
def _flags() -> Mapping[str, Flag]:
    return by_name(FLAGS)


@cache
def _default(name: str) -> Any:
    if name in _WITHOUT_COMMAND_LINE:
        return _WITHOUT_COMMAND_LINE[name]
    return _flags()[name].default_value


def _long_running(values: Mapping[str, Any]) -> re.Pattern[str] | None:
    name = "long-running-request-regexp"
    if name not in given_names(values):  # the usual ones are known without a regular expression
        return None
    pattern = values[name]
    try:
        return re.compile(str(pattern))
    except re.error as error:
        raise UsageError(f"--{name}={pattern!r} is no regular expression: {error}") from error
