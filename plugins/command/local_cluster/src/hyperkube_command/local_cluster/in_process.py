"""All five servers in one process, over the in-process transport: least memory, fastest start.

They share one clock, one network loop and, by the API server's client, the threads of their informers: what rests costs
no thread. With ``--watch`` each of them can be started anew while the others run on; their clients then follow the API
server from one to the next.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hyperkube_command.local_cluster.arguments import (
    ClusterOptions,
    arguments,
    simulated_node_arguments,
    simulated_node_name,
)
from hyperkube_command.local_cluster.restartable_part import RestartablePart
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

from hyperkube.client.shared_threads import SharedThreads
from hyperkube.command.lifecycle import Lifecycle
from hyperkube.machinery.errors import ServiceUnavailable
from hyperkube.machinery.users import LOOPBACK, UserInfo, component, node

if TYPE_CHECKING:
    from hyperkube_host.apiserver.pipeline.request_path import RequestPath
    from hyperkube_host.apiserver.server import ApiServer
    from hyperkube_host.kubelet.kubelet import Kubelet
    from hyperkube_host.scheduler.scheduler import Scheduler
    from hyperkube_lib.controller_manager.manager import ControllerManager

    from hyperkube.client.client import Client
    from hyperkube.machinery.clock import Clock
    from hyperkube.plugin.flags import FlagValues

ENDING_SECONDS = 2.0
"""How long requests under way may take once the cluster is told to stop."""
RESTART_SECONDS = 10.0
"""How long a request of this process waits for an API server that is started anew."""


def start(life: Lifecycle, cluster: ClusterOptions, clock: Clock) -> InProcessServers:
    """Start everything; return the servers."""
    servers = InProcessServers(life, cluster, clock)
    for word, part in servers.parts.items():
        life.start(word, part)
    return servers


class InProcessServers:
    """The five servers as parts of this process.

    Attributes:
        parts: word → server, in the order in which they start; the kubelets of all nodes are one part.
    """

    def __init__(self, life: Lifecycle, cluster: ClusterOptions, clock: Clock) -> None:
        """Read the options and start the network loop; no server is started yet.

        Raises:
            UsageError: a flag, or a feature gate, is wrong.
        """
        from hyperkube_lib.serving.loop import EdgeLoop, TimeSlices

        self._cluster = cluster
        self._clock = clock
        self._values = parsed(cluster)
        self._loop = EdgeLoop(clock=clock).share()
        life.start("the network loop", self._loop)
        self._slices = TimeSlices(self._loop)
        self._follows = bool(cluster.watched)
        self._threads = SharedThreads("informers", clock)
        life.on_close("the threads of informers", self._threads.close)
        self._api: ApiServer | None = None
        self._manager: ControllerManager | None = None
        self._scheduler: Scheduler | None = None
        self._kubelets: list[Kubelet] = []
        self._serves = threading.Event()
        self.parts: Mapping[str, RestartablePart] = {
            "apiserver": RestartablePart(self._start_api_server),
            "controller-manager": RestartablePart(self._start_controller_manager),
            "scheduler": RestartablePart(self._start_scheduler),
            "proxy": RestartablePart(self._start_proxy),
            "kubelet": RestartablePart(self._start_kubelets, before_restart=self._keep_pods),
        }

    def client(self, user: UserInfo = LOOPBACK) -> Client:
        """Return the API as a user sees it; without one, a client that may do anything."""
        if self._follows:
            from hyperkube_host.apiserver.in_process.client import InProcessClient

            return InProcessClient(self._request_path, user, self._clock, self._threads, slices=self._slices)
        return self._running_api().client(user)

    def _running_api(self) -> ApiServer:
        if self._api is None or not self._serves.wait(RESTART_SECONDS):
            raise ServiceUnavailable("the API server is being started")
        return self._api

    def _request_path(self) -> RequestPath:
        return self._running_api().request_path()

    def _start_api_server(self, life: Lifecycle) -> None:
        from hyperkube_host.apiserver import listeners
        from hyperkube_host.apiserver.completion import complete

        options = complete(self._values["apiserver"])
        self._api = listeners.start(life, options, self._loop, clock=self._clock, ending_seconds=ENDING_SECONDS)
        self._serves.set()
        life.on_close("its clients in this process", self._serves.clear)
        self._offer_pages()

    def _start_controller_manager(self, life: Lifecycle) -> None:
        from hyperkube_lib.controller_manager.command import start as start_manager
        from hyperkube_lib.controller_manager.options import ManagerOptions

        options = ManagerOptions.of(MANAGER, self._values["controller-manager"])
        self._manager = start_manager(life, options, self.client, clock=self._clock)
        self._offer_pages()

    def _start_scheduler(self, life: Lifecycle) -> None:
        from hyperkube_host.scheduler.options import SchedulerOptions

        options = SchedulerOptions.of(self._values["scheduler"])
        client = self.client(component("system:kube-scheduler"))
        self._scheduler = scheduler.start(life, options, client, clock=self._clock)
        self._offer_pages()

    def _start_proxy(self, life: Lifecycle) -> None:
        client = self.client(component("system:kube-proxy"))
        proxy.start(life, ProxyOptions.of(self._values["proxy"]), client, self._clock)

    def _start_kubelets(self, life: Lifecycle) -> None:
        self._kubelets = []
        cluster = self._cluster
        if not cluster.hollow_only:
            options = kubelet.options_of(self._values["kubelet"])
            self._start_kubelet(life, options, cluster.node_name)
        for index in range(cluster.simulated_nodes):
            simulated = KubeletOptions.of(kubelet.COMMAND.parse(simulated_node_arguments(cluster, index)))
            self._start_kubelet(life, simulated, simulated_node_name(index))

    def _start_kubelet(self, life: Lifecycle, options: KubeletOptions, name: str) -> None:
        self._kubelets.append(kubelet.start(life, options, self.client(node(name)), self._loop, self._clock))

    def _keep_pods(self) -> None:
        for each in self._kubelets:
            each.keep_pods()

    def _offer_pages(self) -> None:
        """Have the API server show what the others know; done again by whichever of them is started anew."""
        from hyperkube_host.scheduler import endpoint as scheduling
        from hyperkube_lib.controller_manager import endpoint as controlling

        api, manager, decides = self._running_api(), self._manager, self._scheduler
        if manager is not None:
            api.components.offer("controller-manager", manager.ready)
            api.paths.offer(controlling.METRICS_PATH, lambda _request: controlling.measured(manager))
        if decides is not None:
            api.components.offer("scheduler", decides.ready)
            api.paths.offer(
                scheduling.EXPLAIN_PATH, lambda request: scheduling.explanation(decides, request.param("pod"))
            )
            api.paths.offer(scheduling.METRICS_PATH, lambda _request: scheduling.measured(decides.metrics))


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
