"""Puts together what requests pod certificates, where the gate is on."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.pod.pod_entry import PodEntry
from hyperkube_host.kubelet.podcertificate.pod_certificate_manager import NoPodCertificates, PodCertificateManager

from hyperkube.client.client import Client
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object


def build_pod_certificates(
    client: Client | None,
    clock: Clock,
    recorder: KubeletEventRecorder,
    pod_entry: Callable[[str], PodEntry | None],
    node: Callable[[], Object],
    sync_pod: Callable[[str], None],
    node_name: str,
    *,
    enabled: bool,
) -> PodCertificateManager:
    """Return it; without an API server, or unless enabled, one that has no certificates."""
    if client is None or not enabled:
        return NoPodCertificates()
    from hyperkube_host.kubelet.podcertificate.issuing_manager import IssuingManager

    return IssuingManager(
        client,
        clock,
        recorder,
        node,
        lambda uid: None if (entry := pod_entry(uid)) is None else entry.pod,
        sync_pod,
        node_name=node_name,
        random=Random(),  # noqa: S311  spreads load, guards nothing
    )
