"""kube-proxy: makes Services reachable on one node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperkube_host.proxy.flags import FAMILIES, FLAGS, NAME
from hyperkube_host.proxy.options import ProxyOptions

from hyperkube.client.client import Client
from hyperkube.command.lifecycle import Lifecycle, start_up, stop_signal
from hyperkube.command.server_command import ServerCommand
from hyperkube.plugin.flags import FlagValues, typed

if TYPE_CHECKING:
    from hyperkube_host.proxy.server import Proxy
    from hyperkube_lib.serving.edge import Edge

    from hyperkube.client.request_counts import RequestCounts
    from hyperkube.machinery.clock import Clock


def start(life: Lifecycle, options: ProxyOptions, client: Client, clock: Clock | None = None) -> Proxy:
    """Start the proxy and return it.

    Raises:
        UsageError: the proxier cannot run on this node.
    """
    from hyperkube_host.proxy.server import Proxy

    proxy = Proxy(client=client, options=options, clock=clock)
    life.start("the proxy", proxy)
    return proxy


def serve(life: Lifecycle, options: ProxyOptions, proxy: Proxy, counts: RequestCounts) -> None:
    """Serve the proxy's health to load balancers, and its metrics on a port of their own.

    Raises:
        UsageError: an address cannot be bound, and ``--bind-address-hard-fail`` is given.
    """
    from hyperkube_host.proxy.endpoint import proxy_endpoints, proxy_handler
    from hyperkube_lib.serving.component import OpenPort
    from hyperkube_lib.serving.edge import Edge
    from hyperkube_lib.serving.zpages import Zpages

    from hyperkube.machinery.clock import SystemClock

    health, metrics = options.healthz, options.metrics
    if health is not None:
        edge = Edge(OpenPort(proxy.health.answer), host=health.host, port=health.port)
        _listen(life, "the health port", edge, options)
    if metrics is not None:
        endpoints = proxy_endpoints(proxy, options, [counts])
        flagz = typed(COMMAND.all_flags(), options.values)
        zpages = Zpages(COMMAND.name, SystemClock(), flagz, endpoints.paths, options.gates)
        handler = proxy_handler(proxy, endpoints, zpages)
        _listen(life, "the metrics port", Edge(handler, host=metrics.host, port=metrics.port), options)


def _listen(life: Lifecycle, what: str, edge: Edge, options: ProxyOptions) -> None:
    """Serve a port; one that is taken ends the proxy with ``--bind-address-hard-fail``, else it is tried again."""
    if options.values["bind-address-hard-fail"]:
        life.start(what, edge)
        return
    from hyperkube_host.proxy.retried_port import RetriedPort

    from hyperkube.machinery.clock import SystemClock

    life.start(what, RetriedPort(what, edge, SystemClock()))


def run(values: FlagValues) -> None:
    """Proxy until a signal; or do what a flag says instead, and end."""
    from hyperkube_host.proxy.configuration import configured, write_configuration
    from hyperkube_lib.component_base.oom import set_oom_score
    from hyperkube_lib.component_base.process_memory import wait_until_stopped
    from hyperkube_lib.component_base.request_rate import request_counts
    from hyperkube_lib.component_base.start import begin

    from hyperkube.command.remote import remote_client

    values, settings = configured(COMMAND.all_flags(), values)
    values = begin(COMMAND.name, COMMAND.all_flags(), values)
    options = ProxyOptions.of(values, settings)
    if values["write-config-to"]:
        write_configuration(values["write-config-to"], options.values)
        return
    if values["cleanup"]:
        from hyperkube_host.proxy.proxiers import cleanup

        cleanup(options)
        return
    if values["init-only"]:
        from hyperkube_host.proxy.conntrack.sysctls import set_up

        set_up(options.conntrack)
        return
    set_oom_score(values["oom-score-adj"])
    counts = request_counts(values)
    with stop_signal() as stopped, Lifecycle() as life:
        with start_up():
            proxy = start(life, options, remote_client(values, COMMAND.name, counts))
            serve(life, options, proxy, counts)
        wait_until_stopped(stopped)


COMMAND = ServerCommand(
    name=NAME,
    long=(
        "The Kubernetes network proxy runs on each node and makes its Services reachable there: it forwards connections"
        " to their cluster IPs and node ports to one of the pods behind them."
    ),
    example="kube-proxy --kubeconfig=proxy.kubeconfig",
    flags=FLAGS,
    run=run,
    families=FAMILIES,
)
