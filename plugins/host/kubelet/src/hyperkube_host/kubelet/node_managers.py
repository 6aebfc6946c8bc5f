"""The managers that look after the node beside its pods: eviction, images that nothing uses, logs that grow.

Source: kubernetes ``pkg/kubelet/kubelet.go`` (initializeModules, StartGarbageCollection).
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from functools import partial

from hyperkube_host.kubelet.cm.cgroup_manager import cgroup_mounts
from hyperkube_host.kubelet.cm.interface import ContainerManager, ContainerManagerFailed
from hyperkube_host.kubelet.container.pod_status import get_pod_statuses
from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.eviction.eviction_manager import PERIOD_SECONDS as EVICTION_SECONDS
from hyperkube_host.kubelet.eviction.eviction_manager import EvictionManager, EvictionOptions
from hyperkube_host.kubelet.eviction.eviction_services import build_eviction_manager
from hyperkube_host.kubelet.eviction.memory_threshold_notifier import MemoryThresholdNotifier
from hyperkube_host.kubelet.images.image_gc_manager import PERIOD_SECONDS as IMAGE_GC_SECONDS
from hyperkube_host.kubelet.images.image_gc_manager import ImageGCManager, ImageGCPolicy
from hyperkube_host.kubelet.images.image_services import build_pull_manager
from hyperkube_host.kubelet.images.pullmanager.image_pull_manager import ImagePullManager
from hyperkube_host.kubelet.kuberuntime.container_gc import ContainerGC, ContainerGCPolicy
from hyperkube_host.kubelet.logs.container_log_manager import ContainerLogManager, LogRotationPolicy
from hyperkube_host.kubelet.nodeshutdown.grace_periods import read_grace_periods
from hyperkube_host.kubelet.nodeshutdown.logind import DBusLogind
from hyperkube_host.kubelet.nodeshutdown.node_shutdown_manager import NodeShutdownManager, NodeShutdownServices
from hyperkube_host.kubelet.oom.oom_watcher import OomWatcher
from hyperkube_host.kubelet.options import ImageOptions, KubeletOptions, NodeOptions, PodOptions
from hyperkube_host.kubelet.pod.pod_manager import PodManager
from hyperkube_host.kubelet.stats.machine import machine_use
from hyperkube_host.kubelet.stats.summary_provider import SummaryProvider
from hyperkube_host.kubelet.sync_queue import SyncQueue, Task
from hyperkube_host.kubelet.volumemanager.actual_state import ActualStateOfWorld
from hyperkube_host.kubelet.volumemanager.volume_usage import usage_row

from hyperkube.hookspecs.runtime import ContainerState, Runtime, RuntimeFailed, Simulated
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.record import Record

_log = logging.getLogger("hyperkube.kubelet")


class NodeManagers(Record):
    """The managers; those of a simulated runtime have nothing to do."""

    summary: SummaryProvider
    evictions: EvictionManager
    images: ImageGCManager
    pulls: ImagePullManager | None
    containers: ContainerGC
    logs: ContainerLogManager
    kills: OomWatcher
    notifier: MemoryThresholdNotifier | None
    shutdown: NodeShutdownManager
    runtime: Runtime
    periods: Mapping[Task, float]
    """Task → the seconds between two rounds of it."""

    def run(self, task: Task) -> float:
        """Do a round of a task; return the seconds until the next."""
        try:
            self._round(task)
        except RuntimeFailed as error:
            _log.warning("%s could not be done: %s", task.value, error)
        return self.periods[task]

    def _round(self, task: Task) -> None:
        match task:
            case Task.EVICTION:
                self.evictions.synchronize()
                if self.notifier is not None:
                    self.notifier.update()
            case Task.IMAGE_GC:
                self.images.run()
            case Task.LOG_ROTATION:
                containers = self.runtime.containers()
                self.logs.rotate_logs(status for status in containers if status.state == ContainerState.RUNNING)


def build_node_managers(
    options: KubeletOptions,
    runtime: Runtime,
    clock: Clock,
    recorder: KubeletEventRecorder,
    directories: KubeletDirectories,
    pods: PodManager,
    queue: SyncQueue,
    volumes: ActualStateOfWorld,
    container_manager: ContainerManager,
) -> NodeManagers:
    """Build them; nothing runs yet."""
    node = options.node
    summary = _summary_provider(options, runtime, clock, directories, pods, volumes, container_manager)
    pulls = build_pull_manager(options.images, options.pods.root, runtime, clock)
    images = ImageGCManager(
        _image_policy(options.images),
        runtime,
        clock,
        lambda: summary.image_fs()[0],
        recorder.node_event,
        _keep_no_records if pulls is None else pulls.prune,
    )
    containers = ContainerGC(_container_policy(options.pods), runtime, clock)
    evictions = build_eviction_manager(
        _eviction_options(node, is_simulated=isinstance(runtime, Simulated)),
        summary,
        pods,
        recorder,
        (lambda: containers.delete_all_unused(get_pod_statuses(runtime)), images.delete_unused_images),
        clock,
    )
    periods = {
        Task.EVICTION: EVICTION_SECONDS,
        Task.IMAGE_GC: IMAGE_GC_SECONDS,
        Task.LOG_ROTATION: options.pods.log_monitor_seconds,
    }
    return NodeManagers(
        summary=summary,
        evictions=evictions,
        images=images,
        pulls=pulls,
        containers=containers,
        logs=ContainerLogManager(_log_policy(options.pods), runtime, clock),
        kills=OomWatcher(recorder.node_event),
        notifier=_memory_notifier(options, queue, clock),
        shutdown=_shutdown_manager(options, clock, recorder, directories, pods, queue),
        runtime=runtime,
        periods=periods,
    )


def _summary_provider(
    options: KubeletOptions,
    runtime: Runtime,
    clock: Clock,
    directories: KubeletDirectories,
    pods: PodManager,
    volumes: ActualStateOfWorld,
    container_manager: ContainerManager,
) -> SummaryProvider:
    return SummaryProvider(
        runtime,
        clock,
        options.node.name,
        directories,
        lambda: [entry.pod for entry in pods.entries()],
        container_manager.pods_memory_limit,
        partial(usage_row, volumes),
        container_manager.system_use,
        options.values["volume-stats-agg-period"],
    )


def _shutdown_manager(
    options: KubeletOptions,
    clock: Clock,
    recorder: KubeletEventRecorder,
    directories: KubeletDirectories,
    pods: PodManager,
    queue: SyncQueue,
) -> NodeShutdownManager:
    services = NodeShutdownServices(
        connect=DBusLogind,
        active_pods=pods.active_pods,
        stop=pods.give_up,
        is_stopped=pods.is_stopped,
        sync_node=partial(queue.add, Task.SYNC_NODE),
        node_event=recorder.node_event,
    )
    return NodeShutdownManager(read_grace_periods(options.values), services, clock, directories.root)


def _keep_no_records(_kept: Collection[str], _begun: str) -> None:
    """Nothing is recorded of pulls, so nothing is to be forgotten."""


def _image_policy(options: ImageOptions) -> ImageGCPolicy:
    return ImageGCPolicy(
        high_percent=options.gc_high_percent,
        low_percent=options.gc_low_percent,
        min_age_seconds=options.gc_min_age_seconds,
        max_age_seconds=options.gc_max_age_seconds,
    )


def _container_policy(options: PodOptions) -> ContainerGCPolicy:
    return ContainerGCPolicy(
        min_age_seconds=options.dead_container_min_age_seconds,
        max_per_pod_container=options.dead_containers_per_container,
        max_containers=options.dead_containers,
    )


def _log_policy(options: PodOptions) -> LogRotationPolicy:
    return LogRotationPolicy(
        max_bytes=options.log_max_bytes, max_files=options.log_max_files, workers=options.log_max_workers
    )


def _memory_notifier(options: KubeletOptions, queue: SyncQueue, clock: Clock) -> MemoryThresholdNotifier | None:
    """Return what has the kernel tell of memory that gets short; None unless a flag asks for it, and it can."""
    if not options.values["kernel-memcg-notification"]:
        return None
    try:
        mounts = cgroup_mounts()
    except ContainerManagerFailed as error:
        _log.warning("--kernel-memcg-notification: %s", error)
        return None
    if mounts.version != 1 or "memory" not in mounts.of:
        _log.warning("--kernel-memcg-notification: only version 1 of cgroups has such notifications")
        return None
    look = partial(queue.add, Task.EVICTION)
    return MemoryThresholdNotifier(
        mounts.of["memory"], options.node.thresholds, machine_use().memory_total, look, clock
    )


def _eviction_options(node: NodeOptions, *, is_simulated: bool) -> EvictionOptions:
    return EvictionOptions(
        thresholds=() if is_simulated else node.thresholds,
        transition_seconds=node.pressure_transition_seconds,
        max_pod_grace_seconds=node.eviction_max_pod_grace_seconds,
        isolates_local_storage=node.isolates_local_storage and not is_simulated,
    )
