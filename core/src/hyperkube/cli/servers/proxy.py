"""kube-proxy: makes Services reachable on one node."""

from __future__ import annotations

from hyperkube.cli.flags.proxy import FLAGS
from hyperkube.cli.lifecycle import Lifecycle, start_up, stop_signal
from hyperkube.cli.server_command import Options, ServerCommand
from hyperkube.client.client import Client


def start(life: Lifecycle, options: Options, client: Client) -> None:
    """Start the proxy."""
    from hyperkube.proxy.server import Proxy

    life.start("the proxy", Proxy(client=client, options=options))


def run(options: Options) -> None:
    """Proxy until a signal; or remove all traces and end."""
    from hyperkube.cli.remote import remote_client, serve_health

    if options["cleanup"]:
        from hyperkube.proxy.server import cleanup

        cleanup(options)
        return
    with stop_signal() as stopped, Lifecycle() as life:
        with start_up():
            start(life, options, remote_client(options, "kube-proxy"))
            serve_health(life, options)
        stopped.wait()


COMMAND = ServerCommand(
    word="proxy",
    name="kube-proxy",
    long=(
        "The Kubernetes network proxy runs on each node and makes its Services reachable there: it forwards connections"
        " to their cluster IPs and node ports to one of the pods behind them."
    ),
    example="kube-proxy --kubeconfig=proxy.kubeconfig --proxy-mode=userspace",
    flags=FLAGS,
    run=run,
)
