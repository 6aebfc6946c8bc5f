"""The kubelet, put together: sources → table → worker → runtime, and the node's own life.

Source of the order: kubernetes ``pkg/kubelet/kubelet.go`` (NewMainKubelet).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from hyperkube_host.kubelet.admission import Admission
from hyperkube_host.kubelet.api.handler import KubeletHandler
from hyperkube_host.kubelet.container_start import ContainerStarter, Surroundings
from hyperkube_host.kubelet.container_stop import ContainerStopper
from hyperkube_host.kubelet.housekeeping import PERIOD_SECONDS, Housekeeping
from hyperkube_host.kubelet.images import Images
from hyperkube_host.kubelet.lifecycle_hooks import Hooks
from hyperkube_host.kubelet.node import NodeLife
from hyperkube_host.kubelet.node_api import NodeApi
from hyperkube_host.kubelet.node_status import NodeStatus, node_addresses
from hyperkube_host.kubelet.observation import Observed, observe, observe_all
from hyperkube_host.kubelet.options import KubeletOptions
from hyperkube_host.kubelet.pod_dns import resolver_file
from hyperkube_host.kubelet.pod_entry import PodEntry, is_static
from hyperkube_host.kubelet.pod_reports import PodReports
from hyperkube_host.kubelet.pod_table import PodTable, create_mirror, delete_mirror
from hyperkube_host.kubelet.pod_worker import Parts, PodWorker
from hyperkube_host.kubelet.probes import Probes
from hyperkube_host.kubelet.sandboxes import Sandboxes
from hyperkube_host.kubelet.sayings import Sayings
from hyperkube_host.kubelet.sources import ApiSource, ManifestSource, static_sources
from hyperkube_host.kubelet.termination_messages import TerminationMessages
from hyperkube_host.kubelet.volumes import PodVolumes

from hyperkube.client.client import Client
from hyperkube.client.events import EventRecorder
from hyperkube.client.informer import Informer
from hyperkube.client.worker_pool import WorkerPool
from hyperkube.hookspecs import network as network_specs
from hyperkube.hookspecs import runtime as runtime_specs
from hyperkube.hookspecs import volume as volume_specs
from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.network import Network
from hyperkube.hookspecs.runtime import NotifiesChanges, Runtime, TakesAddresses
from hyperkube.hookspecs.volume import Volumes
from hyperkube.kinds.resources import SERVICES
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, uid_of
from hyperkube.plugin.loader import PluginHost, installed, load

RELIST_SECONDS = 1.0
SLOW_RELIST_SECONDS = 60.0
STUCK_SECONDS = 180.0
"""Of silence of that loop, after which the kubelet is not healthy; Kubernetes' threshold for its relisting."""
COMPONENT = "kubelet"
_HURRY = "hurry/"
_WORKERS = 64
_BACKOFF = Backoff(initial=1.0, cap=1.0)
_CLOSE_SECONDS = 5.0


class Kubelet:
    """The agent of one node; `client` None makes it stand alone with its static pods."""

    def __init__(self, *, client: Client | None, options: Mapping[str, Any], clock: Clock | None = None) -> None:
        """Build everything; nothing runs before `start`.

        Raises:
            UsageError: an option that cannot be, or a plugin that is not installed.
        """
        self._clock = clock or SystemClock()
        self._client = client
        self._logger = logging.getLogger("hyperkube.kubelet")
        self.options = KubeletOptions.parse(options)
        self._hosts: list[PluginHost] = []
        self.runtime: Runtime = self._plugin("runtime", self.options.runtime, runtime_specs).runtime_build()
        self._simulated = self.runtime.name == "hollow"
        network = self._network()
        self._network_status = network.status if network is not None else str
        recorder = None if client is None else EventRecorder(client, self._clock, COMPONENT, self.options.node_name)
        self.say = Sayings(recorder, self.options.node_name)
        host_ips = tuple(node_addresses(self.options))
        status = NodeStatus(self.options, self.runtime, host_ips, self._problems)
        self.node = NodeLife(client, self.options, self._clock, self.say, status)
        self._services = None
        if client is not None and not self._simulated:
            self._services = Informer(client, self._clock, SERVICES)
        self._pool: WorkerPool[str] = WorkerPool(
            f"kubelet-{self.options.node_name}",
            self._do,
            clock=self._clock,
            workers=_WORKERS,
            logger=self._logger,
            backoff=_BACKOFF,
        )
        self._queue = self._pool.queue
        self.table = PodTable(self._queue.add, lambda uid: self._queue.add(_HURRY + uid))
        self._build(network, host_ips)
        self._sources: list[ApiSource | ManifestSource] = list(static_sources(self.options, self._clock, self.table))
        if client is not None:
            self._sources.append(ApiSource(client, self._clock, self.options.node_name, self.table))
        self._sources_seen = False
        self._seen: dict[str, Observed] = {}
        self._relisted = self._clock.monotonic()
        self._handler: KubeletHandler | None = None
        self._closing = False

    def _build(self, network: Network | None, host_ips: tuple[str, ...]) -> None:
        clock, runtime, options = self._clock, self.runtime, self.options
        api = NodeApi(self._client, clock, self._services)
        self.volumes = PodVolumes(options.root, self._volume_kinds(), api, self.node.node)
        self._sandboxes = Sandboxes(runtime, network, options.root, self._dns(), host_ips, self.say)
        self._probes = Probes(runtime, clock, self.say, self._queue.add)
        hooks = Hooks(runtime, clock)
        self._stopper = ContainerStopper(runtime, hooks, self.say, clock)
        surroundings = Surroundings(node_ips=host_ips, allocatable=self._allocatable, resolver=self._resolver)
        images = Images(runtime, clock, self.say, api.credentials)
        self._api = api
        self._worker = PodWorker(
            Parts(
                runtime=runtime,
                simulated=self._simulated,
                clock=clock,
                say=self.say,
                admission=Admission(self.node.node, self.table.active),
                volumes=self.volumes,
                sandboxes=self._sandboxes,
                starter=ContainerStarter(runtime, images, self.volumes, api, hooks, self.say, surroundings),
                stopper=self._stopper,
                probes=self._probes,
                messages=TerminationMessages(self.volumes),
                reports=PodReports(self._client),
                host_ips=host_ips,
                again=self._queue.add_after,
                target=self.table.target,
            )
        )
        self._housekeeping = Housekeeping(options, runtime, self.table, self._sandboxes, self.volumes, clock)

    def _context(self, name: str) -> PluginContext:
        return PluginContext(name=name, clock=self._clock, options=self.options.raw, client=self._client)

    def _plugin(self, family: str, name: str, specs: ModuleType) -> Any:
        host = load(family, [name], specs, self._context)
        self._hosts.append(host)
        return host.hook

    def _network(self) -> Network | None:
        if not isinstance(self.runtime, TakesAddresses) or not self.options.network:
            return None
        network: Network = self._plugin("network", self.options.network, network_specs).network_build()
        if self.options.pod_cidr:
            network.set_pod_cidr(self.options.pod_cidr)
        return network

    def _volume_kinds(self) -> list[tuple[str, Volumes]]:
        if self._simulated:
            return []
        names = sorted(installed("volume"))
        host = load("volume", names, volume_specs, self._context)
        self._hosts.append(host)
        return list(zip(names, host.hook.volume_kinds(), strict=True))

    def _dns(self) -> Object:
        domain = self.options.cluster_domain
        searches = [f"svc.{domain}", domain] if domain else []
        return {"servers": list(self.options.cluster_dns), "searches": searches}

    def _resolver(self, pod: Object) -> str | None:
        if not isinstance(self.runtime, TakesAddresses):
            return None  # such a runtime writes the file itself, from the sandbox's settings
        options = self.options
        return resolver_file(pod, options.cluster_dns, options.cluster_domain, Path(options.resolv_conf))

    def _allocatable(self) -> Mapping[str, str]:
        return (self.node.node().get("status") or {}).get("allocatable") or {}

    @property
    def node_name(self) -> str:
        """The node's name."""
        return self.options.node_name

    @property
    def handler(self) -> KubeletHandler:
        """The kubelet's HTTPS API."""
        if self._handler is None:
            from hyperkube_host.kubelet.api.handler import KubeletHandler

            self._handler = KubeletHandler(self, self._client, self._clock)
        return self._handler

    def start(self) -> None:
        """Register the node and begin to run pods; returns at once."""
        pods = self.options.root / "pods"
        pods.mkdir(parents=True, exist_ok=True)
        pods.chmod(0o700)  # secrets lie below; containers of other users have them mounted
        self._pool.begin()
        for host in self._hosts:
            host.start()
        if isinstance(self.runtime, NotifiesChanges):
            self.runtime.subscribe(self._queue.add)
        if self._services is not None:
            self._services.start()
        self._queue.add("/node")
        for source in self._sources:
            source.start()
        self._queue.add("/relist")
        self._queue.add("/housekeeping")
        self._queue.add_after("/resync", self.options.sync_seconds)

    def ready(self) -> bool:
        """Tell whether the node is registered and all sources were seen."""
        return self.node.is_registered and all(source.ready() for source in self._sources)

    def close(self) -> None:
        """Stop working; with ``--stop-pods-on-close`` the pods' processes end too, else they run on."""
        if self._closing:
            return
        self._closing = True
        for source in self._sources:
            source.close()
        if self._services is not None:
            self._services.stop()
        self._probes.close()
        self._pool.stop()
        self._pool.wait_ended(_CLOSE_SECONDS)
        if self.options.stop_pods_on_close:
            self._stop_all()
        self.say.flush()
        self.runtime.close()
        for host in reversed(self._hosts):
            host.close()

    def _stop_all(self) -> None:
        import threading

        threads = []
        for status in self.runtime.containers():
            if status.state == "running":
                thread = threading.Thread(target=self.runtime.stop_container, args=(status.id, 2.0))
                thread.start()
                threads.append(thread)
        for thread in threads:
            thread.join()

    def _problems(self) -> list[str]:
        problems = []
        if self.runtime.status():
            problems.append(f"container runtime is down: {self.runtime.status()}")
        if self._network_status():
            problems.append(f"container runtime network not ready: {self._network_status()}")
        return problems

    # the work, by key: a pod's uid, or one of the node's own tasks

    def _do(self, key: str) -> None:
        if self._closing:
            return
        if key == "/node":
            self._queue.add_after("/node", self.node.try_work())
        elif key == "/relist":
            self._relist()
        elif key == "/housekeeping":
            self._keep_house()
        elif key == "/resync":
            self._resync()
        elif key.startswith(_HURRY):
            self._hurry(key.removeprefix(_HURRY))
        else:
            self._sync(key)

    def stuck(self) -> str:
        """Return that the containers were not looked at for too long, or the empty string."""
        silent = self._clock.monotonic() - self._relisted
        return f"containers were last looked at {silent:.0f} s ago" if silent > STUCK_SECONDS else ""

    def _relist(self) -> None:
        """Look at everything the runtime has; who changed without a word is worked on."""
        seen = observe_all(self.runtime)
        for uid in {*seen, *self._seen}:
            if seen.get(uid) != self._seen.get(uid):
                self._queue.add(uid)
        self._seen = {} if isinstance(self.runtime, NotifiesChanges) else seen
        slow = isinstance(self.runtime, NotifiesChanges)
        self._relisted = self._clock.monotonic()
        self._queue.add_after("/relist", SLOW_RELIST_SECONDS if slow else RELIST_SECONDS)

    def _keep_house(self) -> None:
        if not all(source.ready() for source in self._sources):
            self._queue.add_after("/housekeeping", 1.0)
            return
        self._sources_seen = True
        self._housekeeping.work()
        if self._client is not None:
            for mirror in self.table.orphaned_mirrors():
                self._mirror_step(partial(delete_mirror, self._client, mirror))
        self._queue.add_after("/housekeeping", PERIOD_SECONDS)

    def _resync(self) -> None:
        """Look at every pod again, so that volumes follow their sources."""
        for entry in self.table.entries():
            if not entry.ended and not self._simulated:
                self._queue.add(uid_of(entry.pod))
        self._queue.add_after("/resync", self.options.sync_seconds)

    def _hurry(self, uid: str) -> None:
        entry = self.table.get(uid)
        if entry is not None and not entry.ended:
            self._stopper.hurry(observe(self.runtime, uid), entry.grace_seconds())

    def _sync(self, uid: str) -> None:
        entry = self.table.get(uid)
        if entry is None:
            if self._sources_seen:
                self._housekeeping.bury(uid, observe(self.runtime, uid))
            return
        if self._client is not None and is_static(entry.pod):
            self._show_static(entry)
        if not self.node.is_registered and not entry.admitted and self._client is not None:
            self._queue.add_after(uid, 0.1)
            return
        self._worker.work(entry)
        if entry.removed and entry.ended:
            self._housekeeping.bury(uid, observe(self.runtime, uid))
            self._api.forget(uid)
            self._queue.cancel(uid)
            self._queue.forget(uid)
            self.table.forget(uid)

    def _show_static(self, entry: PodEntry) -> None:
        client = self._client
        if client is None:
            return
        stale = self.table.stale_mirror(entry.pod)
        if stale is not None:
            self._mirror_step(lambda: delete_mirror(client, stale))
            entry.reported = None
        elif entry.removed:
            mirror = self.table.mirror(entry.pod)
            if mirror is not None:
                self._mirror_step(lambda: delete_mirror(client, mirror))
        elif self.table.mirror(entry.pod) is None and self.node.is_registered:
            entry.reported = None
            self._mirror_step(lambda: create_mirror(client, entry.pod, self.node.node()))

    def _mirror_step(self, step: Callable[[], object]) -> None:
        try:
            step()
        except (ApiError, ConnectionError) as error:
            self._logger.warning("mirror pod: %s", error)

    def log_folder(self) -> Path:
        """Return the folder that ``/logs/`` shows."""
        return self.options.root / "logs"
