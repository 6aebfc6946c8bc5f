"""kube-proxy: makes Services reachable on one node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperkube_host.proxy.flags import FAMILIES, FLAGS, NAME

from hyperkube.client.client import Client
from hyperkube.command.lifecycle import Lifecycle, start_up, stop_signal
from hyperkube.command.server_command import Options, ServerCommand, as_options
from hyperkube.plugin.flags import FlagValues, typed

if TYPE_CHECKING:
    from hyperkube_host.proxy.server import Proxy

    from hyperkube.client.request_counts import RequestCounts


def start(life: Lifecycle, options: Options, client: Client) -> Proxy:
    """Start the proxy and return it."""
    from hyperkube_host.proxy.server import Proxy

    proxy = Proxy(client=client, options=options)
    life.start("the proxy", proxy)
    return proxy


def listener(address: str, port: int) -> tuple[str, int] | None:
    """Return where to listen: a port within the address wins; None if the flag has port 0 or there is no address."""
    if not port or not address:
        return None
    host, _, own = address.rpartition(":")
    if host and own.isdecimal() and (":" not in host or host.startswith("[")):
        address, port = host, int(own)
    return address.strip("[]"), port


def serve(life: Lifecycle, options: Options, proxy: Proxy, counts: RequestCounts) -> None:
    """Serve the proxy's health to load balancers, and on a port of its own what it tells of itself.

    Raises:
        UsageError: an address cannot be bound.
    """
    from hyperkube_host.proxy.endpoint import proxy_endpoints, proxy_handler
    from hyperkube_lib.serving.component import OpenPort
    from hyperkube_lib.serving.edge import Edge
    from hyperkube_lib.serving.zpages import Zpages

    from hyperkube.machinery.clock import SystemClock

    health = listener(options["healthz-bind-address"], options["healthz-port"])
    if health is not None:
        life.start("the health port", Edge(OpenPort(proxy.health.answer), host=health[0], port=health[1]))
    metrics = listener(options["metrics-bind-address"], options["metrics-port"])
    if metrics is not None:
        endpoints = proxy_endpoints(proxy, options, [counts])
        flagz = typed(COMMAND.all_flags(), options)
        zpages = Zpages(COMMAND.name, SystemClock(), flagz, endpoints.paths, options["feature-gates"])
        handler = proxy_handler(proxy, endpoints, zpages)
        life.start("the metrics port", Edge(handler, host=metrics[0], port=metrics[1]))


def run(values: FlagValues) -> None:
    """Proxy until a signal; or remove all traces and end."""
    options = as_options(values)
    from hyperkube.client.request_counts import RequestCounts
    from hyperkube.command.remote import remote_client

    counts = RequestCounts()
    if options["cleanup"]:
        from hyperkube_host.proxy.server import cleanup

        cleanup(options)
        return
    with stop_signal() as stopped, Lifecycle() as life:
        with start_up():
            proxy = start(life, options, remote_client(options, COMMAND.name, counts))
            serve(life, options, proxy, counts)
        stopped.wait()


COMMAND = ServerCommand(
    word="proxy",
    name=NAME,
    long=(
        "The Kubernetes network proxy runs on each node and makes its Services reachable there: it forwards connections"
        " to their cluster IPs and node ports to one of the pods behind them."
    ),
    example="kube-proxy --kubeconfig=proxy.kubeconfig --proxy-mode=userspace",
    flags=FLAGS,
    run=run,
    families=FAMILIES,
)
