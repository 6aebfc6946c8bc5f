"""nodeipam: nodes have ranges of addresses for their pods, with ``--allocate-node-cidrs``.

``--cidr-allocator-type`` says who gives them: the cluster (`RangeAllocator`), the cloud (`CloudAllocator`), or one of
the two of which the other is told (`CloudSync`).
Source: kubernetes ``pkg/controller/nodeipam/node_ipam_controller.go``.
"""

from __future__ import annotations

from hyperkube_controller.nodeipam.cidr_set import CidrMetrics, CidrSet
from hyperkube_controller.nodeipam.cloud_allocator import CloudAllocator
from hyperkube_controller.nodeipam.cloud_sync import CloudSync, Mode
from hyperkube_controller.nodeipam.range_allocator import RangeAllocator
from hyperkube_controller.nodeipam.settings import (
    CLOUD_ALLOCATOR,
    IPAM_FROM_CLOUD,
    IPAM_FROM_CLUSTER,
    RANGE_ALLOCATOR,
    Settings,
    cidr_sets,
)
from hyperkube_lib.cloud_provider import CloudProvider

from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import AddsPodRanges, PodRanges
from hyperkube.hookspecs.controller import Controller
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import Plugin

__all__ = ["CidrMetrics", "CidrSet", "Nodeipam"]

MODES = {IPAM_FROM_CLUSTER: Mode.FROM_CLUSTER, IPAM_FROM_CLOUD: Mode.FROM_CLOUD}


class Nodeipam(Plugin):
    """Gives ranges to nodes."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop; it has one worker.

        Raises:
            UsageError: ranges are to be given and there are none, or masks that do not fit; by an allocator that there
                is not, or by a cloud that gives none.
        """
        settings, context = self.settings(Settings), self.context
        kind = settings.cidr_allocator_type
        if not settings.allocate_node_cidrs:
            return ReconcileLoop(context.name, lambda _key: None, clock=context.clock, logger=context.logger)
        if kind == CLOUD_ALLOCATOR:
            refused = f"{CLOUD_ALLOCATOR} does not support cloud provider {settings.cloud_provider!r}"
            return CloudAllocator(self, self._machines(settings.cloud_provider, refused)).loop
        if kind not in {RANGE_ALLOCATOR, *MODES}:
            known = ", ".join((RANGE_ALLOCATOR, CLOUD_ALLOCATOR, *MODES))
            raise UsageError(f"--cidr-allocator-type: invalid CIDR allocator type: {kind!r} (there are {known})")
        metrics = CidrMetrics()
        sets = cidr_sets(settings, metrics)
        metrics.all.register(context)
        taken = [text for text in settings.service_cluster_ip_range.split(",") if text]
        if kind == RANGE_ALLOCATOR:
            return RangeAllocator(self, sets, taken).loop
        if len(sets) > 1:
            context.logger.warning("--cluster-cidr: %s uses the first of several ranges alone", kind)
        refused = f"cloud IPAM controller does not support {settings.cloud_provider!r} provider"
        cloud = self._machines(settings.cloud_provider, refused, gives=kind == IPAM_FROM_CLUSTER)
        return CloudSync(self, MODES[kind], sets[0], taken, cloud).loop

    def _machines(self, name: str, refused: str, *, gives: bool = False) -> PodRanges:
        """Return the machines of a cloud that knows of ranges, and gives them some if it is told to.

        Raises:
            UsageError: it does not.
        """
        self._provider = CloudProvider(self.context)
        cloud = self._provider.build(name)
        instances: object = cloud.instances if cloud is not None else None
        if not isinstance(instances, PodRanges) or (gives and not isinstance(instances, AddsPodRanges)):
            raise UsageError(f"--cidr-allocator-type: {refused}")
        return instances

    def close(self) -> None:
        """Close the cloud provider."""
        if "_provider" in vars(self):
            self._provider.close()
