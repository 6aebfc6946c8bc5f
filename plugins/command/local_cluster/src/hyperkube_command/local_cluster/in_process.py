"""All five servers in one process, over the in-process transport: least memory, fastest start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hyperkube_command.local_cluster.arguments import (
    ClusterOptions,
    arguments,
    simulated_node_arguments,
    simulated_node_name,
)
from hyperkube_host.apiserver.command import COMMAND as API_SERVER
from hyperkube_host.controller_manager import command as controller_manager
from hyperkube_host.kubelet import command as kubelet
from hyperkube_host.proxy import command as proxy
from hyperkube_host.scheduler import command as scheduler

from hyperkube.command.lifecycle import Lifecycle
from hyperkube.command.server_command import parse
from hyperkube.machinery.users import LOOPBACK, component, node

if TYPE_CHECKING:
    from hyperkube.client.client import Client

ENDING_SECONDS = 2.0
"""How long requests under way may take once the cluster is told to stop."""


def start(life: Lifecycle, cluster: ClusterOptions) -> Client:
    """Start everything; return a client that may do anything."""
    from hyperkube_host.apiserver import listeners
    from hyperkube_host.apiserver.completion import complete
    from hyperkube_host.controller_manager import endpoint as controlling
    from hyperkube_host.scheduler import endpoint as scheduling
    from hyperkube_lib.serving.loop import EdgeLoop

    options = parsed(cluster)
    loop = EdgeLoop()
    life.start("the network loop", loop)
    api = listeners.start(
        life, complete(API_SERVER.parse(arguments(cluster)["apiserver"])), loop, ending_seconds=ENDING_SECONDS
    )
    manager = controller_manager.start(life, options["controller-manager"], api.client)
    api.paths.offer(controlling.METRICS_PATH, lambda _request: controlling.measured(manager))
    decides = scheduler.start(life, options["scheduler"], api.client(component("system:kube-scheduler")))
    api.paths.offer(scheduling.EXPLAIN_PATH, lambda request: scheduling.explanation(decides, request.param("pod")))
    api.paths.offer(scheduling.METRICS_PATH, lambda _request: scheduling.measured(decides.metrics))
    proxy.start(life, options["proxy"], api.client(component("system:kube-proxy")))
    kubelet.complete(options["kubelet"])
    kubelet.start(life, options["kubelet"], api.client(node(cluster.node_name)), loop)
    for index in range(cluster.simulated_nodes):
        hollow = parse(kubelet.COMMAND, simulated_node_arguments(cluster, index))
        kubelet.start(life, hollow, api.client(node(simulated_node_name(index))), loop)
    return api.client(LOOPBACK)


def parsed(cluster: ClusterOptions) -> dict[str, Any]:
    """Return server word → the values of its flags, parsed from the same command lines that `--processes` uses."""
    commands = {
        "controller-manager": controller_manager.COMMAND,
        "scheduler": scheduler.COMMAND,
        "kubelet": kubelet.COMMAND,
        "proxy": proxy.COMMAND,
    }
    lines = arguments(cluster)
    options: dict[str, Any] = {word: parse(command, lines[word]) for word, command in commands.items()}
    options["apiserver"] = API_SERVER.parse(lines["apiserver"])
    options["kubelet"]["stop-pods-on-close"] = True
    return options
