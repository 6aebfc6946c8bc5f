"""All five servers in one process, over the in-process transport: least memory, fastest start.

They share one clock, one network loop and, by the API server's client, the threads of their informers: what rests costs
no thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperkube_command.local_cluster.arguments import (
    ClusterOptions,
    arguments,
    simulated_node_arguments,
    simulated_node_name,
)
from hyperkube_host.apiserver.command import COMMAND as API_SERVER
from hyperkube_host.controller_manager import command as controller_manager
from hyperkube_host.controller_manager.manager import MANAGER
from hyperkube_host.kubelet import command as kubelet
from hyperkube_host.kubelet.options import KubeletOptions
from hyperkube_host.proxy import command as proxy
from hyperkube_host.proxy.options import ProxyOptions
from hyperkube_host.scheduler import command as scheduler
from hyperkube_lib.component_base.compatibility import with_compat
from hyperkube_lib.component_base.feature_gates import check_gates

from hyperkube.command.lifecycle import Lifecycle
from hyperkube.machinery.users import LOOPBACK, component, node

if TYPE_CHECKING:
    from hyperkube.client.client import Client
    from hyperkube.machinery.clock import Clock
    from hyperkube.plugin.flags import FlagValues

ENDING_SECONDS = 2.0
"""How long requests under way may take once the cluster is told to stop."""


def start(life: Lifecycle, cluster: ClusterOptions, clock: Clock) -> Client:
    """Start everything; return a client that may do anything."""
    from hyperkube_host.apiserver import listeners
    from hyperkube_host.apiserver.completion import complete
    from hyperkube_host.scheduler import endpoint as scheduling
    from hyperkube_host.scheduler.options import SchedulerOptions
    from hyperkube_lib.controller_manager import endpoint as controlling
    from hyperkube_lib.controller_manager.command import start as start_manager
    from hyperkube_lib.controller_manager.options import ManagerOptions
    from hyperkube_lib.serving.loop import EdgeLoop

    values = parsed(cluster)
    loop = EdgeLoop(clock=clock)
    life.start("the network loop", loop)
    api = listeners.start(life, complete(values["apiserver"]), loop, clock=clock, ending_seconds=ENDING_SECONDS)
    manager = start_manager(life, ManagerOptions.of(MANAGER, values["controller-manager"]), api.client, clock=clock)
    api.components.offer("controller-manager", manager.ready)
    api.paths.offer(controlling.METRICS_PATH, lambda _request: controlling.measured(manager))
    decides = scheduler.start(
        life, SchedulerOptions.of(values["scheduler"]), api.client(component("system:kube-scheduler")), clock=clock
    )
    api.components.offer("scheduler", decides.ready)
    api.paths.offer(scheduling.EXPLAIN_PATH, lambda request: scheduling.explanation(decides, request.param("pod")))
    api.paths.offer(scheduling.METRICS_PATH, lambda _request: scheduling.measured(decides.metrics))
    proxy.start(life, ProxyOptions.of(values["proxy"]), api.client(component("system:kube-proxy")), clock)
    if not cluster.hollow_only:
        kubelet.start(life, kubelet.options_of(values["kubelet"]), api.client(node(cluster.node_name)), loop, clock)
    for index in range(cluster.simulated_nodes):
        simulated = KubeletOptions.of(kubelet.COMMAND.parse(simulated_node_arguments(cluster, index)))
        kubelet.start(life, simulated, api.client(node(simulated_node_name(index))), loop, clock)
    return api.client(LOOPBACK)


def parsed(cluster: ClusterOptions) -> dict[str, FlagValues]:
    """Return server word → the values of its flags, parsed from the same command lines that `--processes` uses.

    Raises:
        UsageError: a flag, or a feature gate, is wrong.
    """
    commands = {
        "apiserver": API_SERVER,
        "controller-manager": controller_manager.COMMAND,
        "scheduler": scheduler.COMMAND,
        "kubelet": kubelet.COMMAND,
        "proxy": proxy.COMMAND,
    }
    lines = arguments(cluster)
    values = {word: with_compat(command.name, command.parse(lines[word])) for word, command in commands.items()}
    for word, flags in values.items():
        check_gates(flags["feature-gates"], commands[word].all_flags())
    return {**values, "kubelet": values["kubelet"].with_values({"stop-pods-on-close": True})}
