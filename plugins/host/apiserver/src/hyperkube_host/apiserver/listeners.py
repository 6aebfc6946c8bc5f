"""Starts an API server and the ports that it listens on."""

from __future__ import annotations

import logging
import math

from hyperkube_host.apiserver.options import Options
from hyperkube_host.apiserver.pipeline.cors import CrossOrigin, origins
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_host.apiserver.shutdown import GracefulShutdown, shut_down
from hyperkube_lib.http2.serving import Http2Serving
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.exchange import Handler
from hyperkube_lib.serving.limits import EdgeLimits
from hyperkube_lib.serving.loop import EdgeLoop
from hyperkube_lib.serving.tls import TlsFiles, named_certificates, openssl_ciphers

from hyperkube.command.lifecycle import Lifecycle
from hyperkube.machinery.clock import Clock, SystemClock

_log = logging.getLogger("hyperkube.apiserver")


def start(
    life: Lifecycle,
    options: Options,
    loop: EdgeLoop | None = None,
    *,
    clock: Clock | None = None,
    ending_seconds: float = math.inf,
) -> ApiServer:
    """Start the API server and its listeners; return it once it is serving.

    Args:
        life: closes what is started here.
        options: completed.
        loop: runs the listeners; one of their own if None.
        clock: the cluster's time; one of its own if None.
        ending_seconds: how long requests under way may take at the end, whatever ``--request-timeout`` says.
    """
    listener = options.listener
    allowed = origins(listener.cors_allowed_origins)
    clock = clock or SystemClock()
    if loop is None:
        loop = EdgeLoop(clock=clock)
        life.start("the network loop", loop)
    server = ApiServer(options=options, clock=clock, loop=loop)
    life.start("the API server", server)
    handler = CrossOrigin(server.handler, allowed) if allowed else server.handler
    edges = []
    if options.address.secure_port:
        edges.append(_https(options, handler, loop))
        life.start("the HTTPS listener", edges[-1])
    if listener.insecure_port:
        _log.warning("HTTP port %d lets every client do everything", listener.insecure_port)
        host, port = listener.insecure_bind_address, listener.insecure_port
        edges.append(Edge(server.insecure_handler, host=host, port=port, loop=loop, limits=_limits(options)))
        life.start("the HTTP listener", edges[-1])
    shutdown = graceful_shutdown(options, ending_seconds)
    life.on_close("the requests", lambda: shut_down(shutdown, server.announce_end, edges, clock))
    return server


def _limits(options: Options) -> EdgeLimits:
    return EdgeLimits(
        request_timeout=options.requests.request_timeout,
        client_timeouts=True,
        stream_rate=options.listener.max_connection_bytes_per_sec,
    )


def _https(options: Options, handler: Handler, loop: EdgeLoop | None) -> Edge:
    listener, authentication = options.listener, options.authentication
    tls = TlsFiles(
        cert_file=listener.tls_cert_file,
        key_file=listener.tls_private_key_file,
        client_ca_file=authentication.client_ca_file,
        request_header_ca_file=authentication.requestheader_client_ca_file,
        sni=named_certificates(listener.tls_sni_cert_key),
        min_version=listener.tls_min_version or "VersionTLS12",
        ciphers=openssl_ciphers(listener.tls_cipher_suites),
    )
    return Edge(
        handler,
        host=options.address.bind_address,
        port=options.address.secure_port,
        tls=tls,
        loop=loop,
        limits=_limits(options),
        shared=listener.permit_port_sharing,
        negotiated=None if listener.disable_http2_serving else _http2(options),
    )


def _http2(options: Options) -> Http2Serving:
    listener = options.listener
    return Http2Serving(
        max_streams=max(0, listener.http2_max_streams_per_connection),
        goaway_chance=listener.goaway_chance,
        keeps_strangers=not options.gates.get("UnauthenticatedHTTP2DOSMitigation", True),
    )


def graceful_shutdown(options: Options, request_seconds: float = math.inf) -> GracefulShutdown:
    """Return how the server ends; requests under way get `request_seconds` at most."""
    return GracefulShutdown(
        delay=options.shutdown.shutdown_delay_duration,
        request_seconds=min(options.requests.request_timeout, request_seconds),
        stream_seconds=options.shutdown.shutdown_watch_termination_grace_period,
        retry_after=options.shutdown.shutdown_send_retry_after,
    )
