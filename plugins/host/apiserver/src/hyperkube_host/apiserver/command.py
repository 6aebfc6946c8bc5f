"""kube-apiserver: the single entry point for every create, read, update, delete and watch of every object."""

from __future__ import annotations

import logging
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

from hyperkube_host.apiserver.flags import FLAGS
from hyperkube_lib.serving.serving_certificates import ensure_pair, service_address

from hyperkube.command.flag import typed
from hyperkube.command.lifecycle import Lifecycle, start_up, stop_signal
from hyperkube.command.server_command import Options, ServerCommand
from hyperkube.machinery.errors import UsageError

if TYPE_CHECKING:
    from hyperkube_host.apiserver.server import ApiServer
    from hyperkube_host.apiserver.shutdown import Ending
    from hyperkube_lib.serving.loop import EdgeLoop

_log = logging.getLogger("hyperkube.apiserver")

COMPAT = {"1.5": {"insecure-port": 8080, "admission-control": ("AlwaysAdmit",), "authorization-mode": ("AlwaysAllow",)}}
"""Release → the defaults it had where 1.36's differ."""


RECONCILERS = ("lease", "master-count", "none")
MOST_GOAWAY = 0.02
"""Source: kubernetes apiserver ``pkg/server/options/server_run_options.go``."""


def apply_compat(options: Options) -> None:
    """Replace defaults that were not given on the command line by those of the release that ``--compat`` names.

    Raises:
        UsageError: no such release is known.
    """
    release = options["compat"]
    if not release:
        return
    if release not in COMPAT:
        raise UsageError(f"--compat={release!r} is not known (known: {', '.join(COMPAT)})")
    _log.warning("--compat=%s: insecure defaults of that release are in force", release)
    options.update({name: value for name, value in COMPAT[release].items() if name not in options["given"]})


def complete(options: Options) -> None:
    """Fill in what follows from other options: certificates, the signing key, the serving address.

    Raises:
        UsageError: options that contradict each other, or a folder that cannot be written.
    """
    from hyperkube_host.apiserver.storage.storage_options import decoded_objects, etcd_options

    apply_compat(options)
    backend = options["storage-backend"]
    options.update(etcd_options(options))
    if not 0 <= options["goaway-chance"] <= MOST_GOAWAY:
        raise UsageError("--goaway-chance can not be less than 0 or greater than 0.02")
    if backend == "etcd3" and not options["etcd-servers"]:
        raise UsageError("--etcd-servers must be given (or choose --storage-backend=sqlite --data-dir=DIR, or memory)")
    if backend == "sqlite" and not options["data-dir"]:
        raise UsageError("--storage-backend=sqlite needs --data-dir=DIR")
    if options["tls-cert-file"] == "" and "cert-dir" not in options["given"] and options["data-dir"]:
        options["cert-dir"] = str(Path(options["data-dir"]) / "pki")
    hosts = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
             "kubernetes.default.svc.cluster.local"]  # fmt: skip
    addresses = ["127.0.0.1", "::1", service_address(options["service-cluster-ip-range"])]
    addresses += [options[name] for name in ("bind-address", "advertise-address") if options[name]]
    if options["secure-port"]:
        ensure_pair(options, "apiserver", hosts, addresses)
    if not options["service-account-signing-key-file"]:
        from hyperkube_lib.serving.serving_certificates import ensure_key

        options["service-account-signing-key-file"] = ensure_key(Path(options["cert-dir"]) / "service-account.key")
        if not options["service-account-key-file"]:
            options["service-account-key-file"] = (options["service-account-signing-key-file"],)
    if options["target-ram-mb"]:
        kept = decoded_objects(options["target-ram-mb"], options["deserialization-cache-size"])
        _log.info("target memory %d MB: deserialization cache size %d", options["target-ram-mb"], kept)
    options["long-running"] = long_running(options)
    options["presence"] = True
    if options["endpoint-reconciler-type"] not in RECONCILERS:
        raise UsageError(f"--endpoint-reconciler-type must be one of: [{', '.join(RECONCILERS)}]")
    options["flagz"] = typed(FLAGS, options)
    _log.info("serving %s:%s, store %s", options["bind-address"], options["secure-port"], backend)


def long_running(options: Options) -> str:
    """Return the regular expression of paths that no limit counts; empty unless one was given.

    Raises:
        UsageError: it is none.
    """
    if "long-running-request-regexp" not in options["given"]:
        return ""
    pattern = str(options["long-running-request-regexp"])
    try:
        re.compile(pattern)
    except re.error as error:
        raise UsageError(f"--long-running-request-regexp={pattern!r} is no regular expression: {error}") from error
    return pattern


def start(
    life: Lifecycle, options: Options, loop: EdgeLoop | None = None, *, ending_seconds: float = math.inf
) -> ApiServer:
    """Start the API server and its listeners; return it once it is serving.

    Args:
        life: closes what is started here.
        options: from the flags.
        loop: runs the listeners; one of their own if None.
        ending_seconds: how long requests under way may take at the end, whatever ``--request-timeout`` says.
    """
    from hyperkube_host.apiserver.pipeline.cors import CrossOrigin, origins
    from hyperkube_host.apiserver.server import ApiServer
    from hyperkube_host.apiserver.shutdown import end
    from hyperkube_lib.serving.edge import Edge
    from hyperkube_lib.serving.limits import EdgeLimits
    from hyperkube_lib.serving.tls import TlsFiles, named_certificates, openssl_ciphers

    from hyperkube.machinery.clock import SystemClock

    allowed = origins(options["cors-allowed-origins"])
    limits = EdgeLimits(
        request_timeout=options["request-timeout"],
        client_timeouts=True,
        stream_rate=options["max-connection-bytes-per-sec"],
    )
    server = ApiServer(options=options)
    life.start("the API server", server)
    handler = CrossOrigin(server.handler, allowed) if allowed else server.handler
    edges: list[Edge] = []
    if options["secure-port"]:
        tls = TlsFiles(
            cert_file=options["tls-cert-file"],
            key_file=options["tls-private-key-file"],
            client_ca_file=options["client-ca-file"],
            request_header_ca_file=options["requestheader-client-ca-file"],
            sni=named_certificates(options["tls-sni-cert-key"]),
            min_version=options["tls-min-version"] or "VersionTLS12",
            ciphers=openssl_ciphers(options["tls-cipher-suites"]),
        )
        host, port = options["bind-address"], options["secure-port"]
        shared = options["permit-port-sharing"]
        edges.append(Edge(handler, host=host, port=port, tls=tls, loop=loop, limits=limits, shared=shared))
        life.start("the HTTPS listener", edges[-1])
    if options["insecure-port"]:
        _log.warning("HTTP port %d lets everybody do everything", options["insecure-port"])
        address, port = options["insecure-bind-address"], options["insecure-port"]
        edges.append(Edge(server.insecure_handler, host=address, port=port, loop=loop, limits=limits))
        life.start("the HTTP listener", edges[-1])
    ending = ending_of(options, ending_seconds)
    life.on_close("the requests", lambda: end(ending, server.announce_end, edges, SystemClock()))
    return server


def ending_of(options: Options, request_seconds: float = math.inf) -> Ending:
    """Return how the server ends; requests under way get `request_seconds` at most."""
    from hyperkube_host.apiserver.shutdown import Ending

    return Ending(
        delay=options["shutdown-delay-duration"],
        request_seconds=min(options["request-timeout"], request_seconds),
        stream_seconds=options["shutdown-watch-termination-grace-period"],
        retry_after=options["shutdown-send-retry-after"],
    )


def run(options: Options) -> None:
    """Serve until a signal."""
    with stop_signal() as stopped, Lifecycle() as life:
        with start_up():
            complete(options)
            start(life, options)
        stopped.wait()


COMMAND = ServerCommand(
    word="apiserver",
    name="kube-apiserver",
    long=(
        "The Kubernetes API server validates and configures data for the API objects, which include pods, services and"
        " others, keeps them in its store, and is the shared state through which all other components interact."
    ),
    example="kube-apiserver --storage-backend=sqlite --data-dir=./data --authorization-mode=Node,RBAC"
    " --token-auth-file=tokens.csv",
    flags=FLAGS,
    run=run,
)
