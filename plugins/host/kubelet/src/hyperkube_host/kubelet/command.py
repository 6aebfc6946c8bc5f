"""kubelet: runs the pods of one node."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hyperkube_host.kubelet.flags import FAMILIES, FLAGS, NAME
from hyperkube_lib.serving.serving_certificates import ensure_pair

from hyperkube.client.client import Client
from hyperkube.command.lifecycle import Lifecycle, start_up, stop_signal
from hyperkube.command.server_command import Options, ServerCommand, as_options
from hyperkube.plugin.flags import FlagValues, typed

if TYPE_CHECKING:
    from hyperkube_host.kubelet.kubelet import Kubelet
    from hyperkube_lib.serving.loop import EdgeLoop

REQUEST_POLL_SECONDS = 1.0
"""How often a kubelet that joins looks whether it has its certificate."""


def complete(options: Options) -> None:
    """Fill in what follows from other options: the node's name, its serving certificate, what ``/flagz`` says."""
    if not options["hostname-override"]:
        options["hostname-override"] = socket.gethostname().lower()
    if not options["cert-dir"]:
        options["cert-dir"] = str(Path(options["root-dir"]) / "pki")
    if options["enable-server"] and options["port"]:
        addresses = [options[name] for name in ("address", "node-ip") if options[name]]
        ensure_pair(options, "kubelet", [options["hostname-override"], "localhost"], ["127.0.0.1", *addresses])
    options["flagz"] = typed(COMMAND.all_flags(), options)


def start(life: Lifecycle, options: Options, client: Client | None, loop: EdgeLoop | None = None) -> Kubelet:
    """Start the kubelet and its API; return it."""
    from hyperkube_host.kubelet.kubelet import Kubelet
    from hyperkube_host.kubelet.options import KubeletOptions
    from hyperkube_lib.serving.edge import Edge
    from hyperkube_lib.serving.tls import TlsFiles

    kubelet = Kubelet(client=client, options=KubeletOptions.parse(options))
    if options["enable-server"] and options["port"]:
        tls = TlsFiles(
            cert_file=options["tls-cert-file"],
            key_file=options["tls-private-key-file"],
            client_ca_file=options["client-ca-file"],
        )
        edge = Edge(kubelet.handler, host=options["address"], port=options["port"], tls=tls, loop=loop)
        life.start("the kubelet's API", edge)
    life.start("the kubelet", kubelet)
    return kubelet


def serve(life: Lifecycle, options: Options, kubelet: Kubelet) -> None:
    """Serve on the ports without authentication that the flags name.

    Raises:
        UsageError: an address cannot be bound.
    """
    from hyperkube_host.kubelet.server.open_ports import health_port, read_only_port
    from hyperkube_lib.serving.edge import Edge

    if options["healthz-port"]:
        health = Edge(
            health_port(kubelet.pleg.unhealthy), host=options["healthz-bind-address"], port=options["healthz-port"]
        )
        life.start("the health port", health)
    if options["enable-server"] and options["read-only-port"]:
        handler = read_only_port(kubelet.handler)
        life.start("the read-only port", Edge(handler, host=options["address"], port=options["read-only-port"]))


def join(options: Options, node: str, pause: Callable[[], bool]) -> None:
    """Come to a certificate with the credentials of ``--bootstrap-kubeconfig``, unless there is a good one.

    Raises:
        UsageError: none was given.
    """
    from hyperkube_host.kubelet.certificate.bootstrap import bootstrap

    from hyperkube.machinery.clock import SystemClock

    bootstrap(
        kubeconfig_file=options["kubeconfig"],
        bootstrap_file=options["bootstrap-kubeconfig"],
        folder=options["cert-dir"],
        node=node,
        clock=SystemClock(),
        pause=pause,
    )


def run(values: FlagValues) -> None:
    """Run pods until a signal."""
    options = as_options(values)
    from hyperkube.command.remote import remote_client

    complete(options)
    with stop_signal() as stopped, Lifecycle() as life:
        node = options["hostname-override"]
        if options["bootstrap-kubeconfig"]:
            join(options, node, lambda: stopped.wait(REQUEST_POLL_SECONDS))
        connected = options["kubeconfig"] or options["master"] or options["api-servers"]
        with start_up():
            kubelet = start(life, options, remote_client(options, f"kubelet ({node})") if connected else None)
            serve(life, options, kubelet)
        stopped.wait()


COMMAND = ServerCommand(
    word="kubelet",
    name=NAME,
    long=(
        "The kubelet is the node agent: it registers the node, makes sure that the containers of the pods assigned to"
        " it run and are healthy, and reports their state. Without an API server it runs static pods only."
    ),
    example="kubelet --kubeconfig=kubelet.kubeconfig --container-runtime=process --root-dir=./kubelet",
    flags=FLAGS,
    run=run,
    families=FAMILIES,
)
