"""The kubelet: pod sources report pods, pod workers bring them to their desired state, the PLEG reports changes.

Everything that is to do is a key of one work queue (`sync_queue`), so that work on one pod, and each task of the node,
never runs twice at a time.

Source: kubernetes ``pkg/kubelet/kubelet.go`` (Run, syncLoopIteration).
"""

from __future__ import annotations

import logging
import threading
from functools import partial

from hyperkube_host.kubelet.assembly import build_services
from hyperkube_host.kubelet.config.bootstrap_checkpoint import is_checkpointed
from hyperkube_host.kubelet.container.pod_status import get_pod_status, running_containers
from hyperkube_host.kubelet.crash import Crashing
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.housekeeping import PERIOD_SECONDS
from hyperkube_host.kubelet.kubelet_plugins import load_plugins
from hyperkube_host.kubelet.nodestatus.node_updater import NodeUpdater
from hyperkube_host.kubelet.options import KubeletOptions
from hyperkube_host.kubelet.pleg.generic import GenericPleg
from hyperkube_host.kubelet.pod.pod_entry import PodEntry, PodState
from hyperkube_host.kubelet.pod.pod_manager import PodManager
from hyperkube_host.kubelet.server.handler import KubeletHandler
from hyperkube_host.kubelet.server.server_context import ServerContext
from hyperkube_host.kubelet.sync_queue import SyncQueue, Task, Work
from hyperkube_host.kubelet.types.pod_update import is_static

from hyperkube.client.client import Client
from hyperkube.client.worker_pool import WorkerPool
from hyperkube.hookspecs.runtime import Config, ContainerState, Runtime, Simulated, UpdatesResources
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.machinery.objects import uid_of

SOURCES_RETRY_SECONDS = 1.0
REGISTRATION_POLL_SECONDS = 0.1
_WORKERS = 64
_BACKOFF = Backoff(initial=1.0, cap=1.0)
_CLOSE_SECONDS = 5.0
_STOP_ON_CLOSE_SECONDS = 2.0


class Kubelet:
    """The agent of one node; `client` None makes it stand alone with its static pods."""

    def __init__(self, *, client: Client | None, options: KubeletOptions, clock: Clock | None = None) -> None:
        """Build everything; nothing runs before `start`.

        Raises:
            UsageError: a plugin is not installed, or cannot be used here.
        """
        self.options = options
        self._clock = clock or SystemClock()
        self._pool: WorkerPool[Work] = WorkerPool(
            f"kubelet-{options.node.name}",
            Crashing(self._do) if options.values["really-crash-for-testing"] else self._do,
            clock=self._clock,
            workers=_WORKERS,
            logger=logging.getLogger("hyperkube.kubelet"),
            backoff=_BACKOFF,
        )
        self._queue = SyncQueue(self._pool.queue)
        self._plugins = load_plugins(options, client, self._clock)
        self._services = build_services(options, self._plugins, client, self._clock, self._queue)
        self.handler = KubeletHandler(
            ServerContext(
                options,
                self.runtime,
                self.pods,
                self._services.directories.logs,
                self._services.node_managers.summary,
                self._services.probes.workers,
                lambda: self._services.node_managers.evictions.evictions,
                self._services.node_managers.shutdown.times,
                self._services.container_manager.figures,
                self._services.pod_certificates.states,
                self._services.stopper.http_fallbacks,
            ),
            client,
            self._clock,
        )
        """The kubelet's HTTPS API."""
        self._is_simulated = isinstance(self.runtime, Simulated)
        self._sources_ready = False
        self._closing = False
        self._stops_pods = options.pods.stop_on_close

    @property
    def node_name(self) -> str:
        """The node's name."""
        return self.options.node.name

    @property
    def runtime(self) -> Runtime:
        """The container runtime."""
        return self._plugins.runtime

    @property
    def pods(self) -> PodManager:
        """The pods of the node."""
        return self._services.pods

    @property
    def node(self) -> NodeUpdater:
        """The Node object, as last seen."""
        return self._services.node

    @property
    def pleg(self) -> GenericPleg:
        """The pod lifecycle event generator, for its health."""
        return self._services.pleg

    @property
    def recorder(self) -> KubeletEventRecorder:
        """The event recorder."""
        return self._services.recorder

    def start(self) -> None:
        """Register the node and begin to run pods; returns at once."""
        services = self._services
        services.directories.create()
        self._pool.begin()
        for host in self._plugins.hosts:
            host.start()
        services.container_manager.start(
            services.pods.active_pods, partial(running_containers, self.runtime), self._update_container
        )
        services.pleg.start()
        if services.services is not None:
            services.services.start()
        services.pod_certificates.start()
        services.node_managers.shutdown.start()
        services.node.start()
        self._queue.add(Task.SYNC_NODE)
        for source in services.sources:
            source.start()
        self._queue.add(Task.RELIST)
        self._queue.add(Task.HOUSEKEEPING)
        self._queue.add_after(Task.RESYNC, self.options.pods.sync_seconds)
        if services.util_chains is not None:
            self._queue.add(Task.UTIL_CHAINS)
        if not self._is_simulated:
            services.node_managers.kills.start()
            for task, seconds in services.node_managers.periods.items():
                self._queue.add_after(task, seconds)

    def ready(self) -> bool:
        """Tell whether the node is registered and all pod sources are ready."""
        return self.node.is_registered and self._all_sources_ready()

    def _all_sources_ready(self) -> bool:
        return all(source.ready() for source in self._services.sources)

    def keep_pods(self) -> None:
        """Let the pods run on when it is closed, whatever ``--stop-pods-on-close`` says: it will be started anew."""
        self._stops_pods = False

    def close(self) -> None:
        """Stop working; with ``--stop-pods-on-close`` the pods' processes end too, else they run on."""
        if self._closing:
            return
        self._closing = True
        services = self._services
        for source in services.sources:
            source.close()
        if services.services is not None:
            services.services.stop()
        services.pod_certificates.close()
        services.trust_anchors.close()
        services.node_managers.shutdown.close()
        services.probes.close()
        services.node_managers.kills.close()
        if services.node_managers.notifier is not None:
            services.node_managers.notifier.close()
        services.pleg.close()
        services.node.close()
        services.drivers.close()
        if services.volumes is not None:
            services.volumes.close()
        services.objects.close()
        services.container_manager.close()
        self._pool.stop()
        self._pool.wait_ended(_CLOSE_SECONDS)
        if self._stops_pods:
            self._stop_all()
        services.recorder.flush()
        self.runtime.close()
        for host in reversed(self._plugins.hosts):
            host.close()
        self._plugins.cloud_provider.close()

    def _update_container(self, container_id: str, linux: Config) -> None:
        if isinstance(self.runtime, UpdatesResources):
            self.runtime.update_container_resources(container_id, linux)

    def _stop_all(self) -> None:
        running = [status.id for status in self.runtime.containers() if status.state == ContainerState.RUNNING]
        threads = [
            threading.Thread(target=self.runtime.stop_container, args=(container_id, _STOP_ON_CLOSE_SECONDS))
            for container_id in running
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _do(self, work: Work) -> None:
        """Do the work of one key, on a thread of the pool."""
        if self._closing:
            return
        match work.task:
            case Task.SYNC_POD:
                self._sync_pod(work.uid)
            case Task.SHORTEN_GRACE:
                self._shorten_grace(work.uid)
            case Task.SYNC_NODE:
                self._sync_node()
            case Task.RELIST:
                self._queue.add_after(Task.RELIST, self.pleg.relist())
            case Task.HOUSEKEEPING:
                self._keep_house()
            case Task.RESYNC:
                self._resync()
            case Task.EVICTION | Task.IMAGE_GC | Task.LOG_ROTATION:
                self._queue.add_after(work.task, self._services.node_managers.run(work.task))
            case Task.UTIL_CHAINS if self._services.util_chains is not None:
                self._queue.add_after(work.task, self._services.util_chains.sync())

    def _sync_node(self) -> None:
        was_registered = self.node.is_registered
        self._queue.add_after(Task.SYNC_NODE, self.node.try_sync())
        self._services.pod_cidr.update(self.node.node())
        if self.node.is_registered and not was_registered:
            for entry in self.pods.entries():
                if is_static(entry.pod):  # it runs already; its mirror waited for the node, which owns it
                    self._queue.sync_pod(uid_of(entry.pod))

    def _keep_house(self) -> None:
        if not self._all_sources_ready():
            self._queue.add_after(Task.HOUSEKEEPING, SOURCES_RETRY_SECONDS)
            return
        # Only now an unknown pod is one that was removed, and not one that its source has yet to report.
        self._sources_ready = True
        self._services.drivers.run()
        self._services.housekeeping.run()
        if self._services.mirrors is not None:
            self._services.mirrors.delete_orphans()
        self._queue.add_after(Task.HOUSEKEEPING, PERIOD_SECONDS)

    def _resync(self) -> None:
        """Sync every pod again, so that the content of volumes follows its sources."""
        if not self._is_simulated:
            for entry in self.pods.entries():
                if entry.state is not PodState.TERMINATED:
                    self._queue.sync_pod(uid_of(entry.pod))
        self._queue.add_after(Task.RESYNC, self.options.pods.sync_seconds)

    def _shorten_grace(self, uid: str) -> None:
        entry = self.pods.get(uid)
        if entry is not None and entry.state is not PodState.TERMINATED:
            self._services.stopper.shorten_grace_period(get_pod_status(self.runtime, uid), entry.grace_seconds())

    def _sync_pod(self, uid: str) -> None:
        entry = self.pods.get(uid)
        if entry is None:
            if self._sources_ready:
                self._remove_leftovers(uid)
            return
        static = is_static(entry.pod)
        if static and entry.state is PodState.PENDING and not entry.removed and self.pods.is_preceded(entry):
            return  # the end of the other one brings it back
        if self._services.mirrors is not None and static:
            self._services.mirrors.sync(entry)
        waits_for_node = not (static or is_checkpointed(entry.pod) or self.node.is_registered)
        if waits_for_node and entry.state is PodState.PENDING:
            # A static or checkpointed pod never waits: it may be the API server that the node is to register with.
            self._queue.sync_pod_after(uid, REGISTRATION_POLL_SECONDS)
            return
        self._services.objects.register(entry.pod)
        self._services.pod_certificates.track(entry.pod)
        self._services.worker.sync(entry)
        if self._services.mirrors is not None and static and entry.is_finished:
            self._services.mirrors.sync(entry)
        if entry.is_finished:
            self._forget(entry)

    def _forget(self, entry: PodEntry) -> None:
        uid = uid_of(entry.pod)
        self._remove_leftovers(uid)
        self._services.tokens.remove_pod(uid)
        self._services.pod_certificates.forget(uid)
        self._services.objects.unregister(uid)
        self._queue.forget_pod(uid)
        self.pods.forget(uid)

    def _remove_leftovers(self, uid: str) -> None:
        self._services.housekeeping.remove_pod(uid, get_pod_status(self.runtime, uid))
