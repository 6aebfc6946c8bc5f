"""What options cannot be, in Kubernetes' words, told before anything is made or opened.

Source: kubernetes apiserver ``pkg/server/options`` (``server_run_options.go``, ``serving.go``, ``audit.go``),
``pkg/kubeapiserver/options/authentication.go`` and ``cmd/kube-apiserver/app/options/validation.go``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hyperkube_host.apiserver.options import AuditOptions, ControlPlaneOptions, Options, ServiceAccountOptions

from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.errors import UsageError

RECONCILERS = ("lease", "master-count", "none")
MOST_GOAWAY = 0.02
_LAST_PORT = 65535
_SHORTEST_TOKEN, _LONGEST_TOKEN = 3600, 1 << 32
"""Seconds between which ``--service-account-max-token-expiration`` must be."""


def validate(options: Options) -> None:
    """Refuse options that cannot be.

    Raises:
        UsageError: what is wrong with them, in one line: a problem, or a list of problems in brackets.
    """
    problems = [
        *_generic(options),
        *_storage(options),
        *_ports(options),
        *_service_accounts(options.service_accounts),
        *_audit(options.audit),
        *_control_plane(options.control_plane),
    ]
    if problems:
        raise UsageError(aggregate(problems))


def check_key_files(options: ServiceAccountOptions) -> None:
    """See that the files with the keys of service accounts can be read, once those are made that the server makes.

    What is in them is read with the first token.

    Raises:
        UsageError: one that cannot.
    """
    for path in filter(None, (options.service_account_signing_key_file, *options.service_account_key_file)):
        try:
            Path(path).open("rb").close()
        except OSError as error:
            raise UsageError(f"cannot read the service account key file {path!r}: {error.strerror}") from error


def _generic(options: Options) -> Iterator[str]:
    requests, shutdown = options.requests, options.shutdown
    if options.features.livez_grace_period < 0:
        yield "--livez-grace-period can not be a negative value"
    for name, value in (
        ("max-requests-inflight", requests.max_requests_inflight),
        ("max-mutating-requests-inflight", requests.max_mutating_requests_inflight),
        ("request-timeout", requests.request_timeout),
        ("min-request-timeout", requests.min_request_timeout),
        ("shutdown-delay-duration", shutdown.shutdown_delay_duration),
    ):
        if value < 0:
            yield f"--{name} can not be negative value"
    if not 0 <= options.listener.goaway_chance <= MOST_GOAWAY:
        yield "--goaway-chance can not be less than 0 or greater than 0.02"
    if shutdown.shutdown_watch_termination_grace_period < 0:
        yield "shutdown-watch-termination-grace-period, if provided, can not be a negative value"


def _storage(options: Options) -> Iterator[str]:
    storage = options.storage
    if storage.storage_backend == "etcd3" and not storage.etcd_servers:
        yield "--etcd-servers must be given (or choose --storage-backend=sqlite --data-dir=DIR, or memory)"
    if storage.storage_backend == "sqlite" and not storage.data_dir:
        yield "--storage-backend=sqlite needs --data-dir=DIR"


def _ports(options: Options) -> Iterator[str]:
    for name, port, what in (
        ("secure-port", options.address.secure_port, "secure port"),
        ("insecure-port", options.listener.insecure_port, "insecure (HTTP) port"),
    ):
        if not 0 <= port <= _LAST_PORT:
            yield f"--{name} {port} must be between 0 and {_LAST_PORT}, inclusive. 0 for turning off {what}"


def _service_accounts(options: ServiceAccountOptions) -> Iterator[str]:
    longest, keys_at = options.service_account_max_token_expiration, options.service_account_jwks_uri
    if longest and not _SHORTEST_TOKEN <= longest <= _LONGEST_TOKEN:
        yield "the service-account-max-token-expiration must be between 1 hour and 2^32 seconds"
    if keys_at and not keys_at.lower().startswith("https://"):
        yield f"service-account-jwks-uri requires https scheme, parsed as: {keys_at}"


def _audit(options: AuditOptions) -> Iterator[str]:
    if options.audit_log_path:
        if options.audit_log_mode == "batch":
            yield from _batch("log", options.audit_log_batch_buffer_size, options.audit_log_batch_max_size)
        for name, value in (
            ("maxage", options.audit_log_maxage),
            ("maxbackup", options.audit_log_maxbackup),
            ("maxsize", options.audit_log_maxsize),
        ):
            if value < 0:
                yield f"--audit-log-{name} {value} can't be a negative number"
    if options.audit_webhook_config_file and options.audit_webhook_mode == "batch":
        yield from _batch("webhook", options.audit_webhook_batch_buffer_size, options.audit_webhook_batch_max_size)


def _batch(backend: str, buffer: int, most: int) -> Iterator[str]:
    if buffer <= 0:
        yield f"invalid audit batch {backend} buffer size {buffer}, must be a positive number"
    elif most <= 0:
        yield f"invalid audit batch {backend} max batch size {most}, must be a positive number"


def _control_plane(options: ControlPlaneOptions) -> Iterator[str]:
    port, ports = options.kubernetes_service_node_port, options.service_node_port_range
    first, _, last = ports.partition("-")
    if options.apiserver_count <= 0:
        yield f"--apiserver-count should be a positive number, but value '{options.apiserver_count}' provided"
    if options.endpoint_reconciler_type not in RECONCILERS:
        yield f"--endpoint-reconciler-type must be one of: [{', '.join(RECONCILERS)}]"
    if not 0 <= port <= _LAST_PORT:
        yield (
            f"--kubernetes-service-node-port {port} must be between 0 and {_LAST_PORT}, inclusive."
            " If 0, the Kubernetes master service will be of type ClusterIP"
        )
    elif port and not int(first) <= port <= int(last):
        yield f"kubernetes service node port range {ports} doesn't contain {port}"
