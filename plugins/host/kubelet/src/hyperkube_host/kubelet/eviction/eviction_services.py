"""Puts the eviction manager together with the kubelet's parts that it acts by.

Source: kubernetes ``pkg/kubelet/kubelet.go`` (NewMainKubelet), ``pkg/kubelet/eviction/helpers.go``
(buildSignalToNodeReclaimFuncs), ``pkg/kubelet/pod_workers.go`` (killPodNow).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.eviction.eviction_manager import EvictionManager, EvictionOptions, EvictionServices
from hyperkube_host.kubelet.pod.pod_manager import PodManager
from hyperkube_host.kubelet.stats.summary_provider import SummaryProvider
from hyperkube_host.kubelet.thresholds import (
    CONTAINER_FS,
    CONTAINER_INODES,
    IMAGE_FS,
    IMAGE_INODES,
    NODE_FS,
    NODE_INODES,
)
from hyperkube_host.kubelet.types.pod_status import Failure

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object

_DISK_SIGNALS = (NODE_FS, NODE_INODES, IMAGE_FS, IMAGE_INODES, CONTAINER_FS, CONTAINER_INODES)


def build_eviction_manager(
    options: EvictionOptions,
    summary: SummaryProvider,
    pods: PodManager,
    recorder: KubeletEventRecorder,
    reclaim: Sequence[Callable[[], object]],
    clock: Clock,
) -> EvictionManager:
    """Return the eviction manager.

    Args:
        options: the thresholds.
        summary: what is measured.
        pods: those of the node.
        recorder: of events.
        reclaim: what frees disk without stopping a pod, in order.
        clock: for how long thresholds are met.
    """
    return EvictionManager(
        options,
        EvictionServices(
            summary=summary.summary,
            node_summary=summary.node_summary,
            active_pods=lambda: [entry.pod for entry in pods.entries() if entry.is_active and not entry.must_terminate],
            is_gone=lambda uid: (entry := pods.get(uid)) is None or not entry.is_active,
            has_image_fs=summary.has_image_fs,
            reclaim=dict.fromkeys(_DISK_SIGNALS, tuple(reclaim)),
            evict=partial(_evict, pods, recorder),
            node_event=recorder.node_event,
        ),
        clock,
    )


def _evict(
    pods: PodManager,
    recorder: KubeletEventRecorder,
    pod: Object,
    failure: Failure,
    condition: Object | None,
    annotations: Mapping[str, str],
    grace_seconds: float,
) -> None:
    """Have a pod's worker stop it for good, with an event of its own."""
    recorder.pod_event(pod, "Warning", failure.reason, failure.message, annotations=annotations)
    pods.give_up(pod, failure, condition, grace_seconds)
