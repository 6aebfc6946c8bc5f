"""gce: nodes that are Compute Engine's machines, Google's load balancers, persistent disks and routes.

Names, descriptions, annotations and defaults are those of Kubernetes' own provider, so that what a cluster has already
is found again and not made twice. The API is asked over REST with the credentials of Google's library.
"""

from __future__ import annotations

import threading

from hyperkube_cloud.gce.cluster_id import ClusterId
from hyperkube_cloud.gce.clusters import GceClusters
from hyperkube_cloud.gce.compute import Compute
from hyperkube_cloud.gce.config import GceConfig, read_config
from hyperkube_cloud.gce.credentials import Tokens
from hyperkube_cloud.gce.disks import GceDisks
from hyperkube_cloud.gce.finalizers import InternalFinalizer
from hyperkube_cloud.gce.instances import PROVIDER, GceInstances
from hyperkube_cloud.gce.load_balancers import GceLoadBalancers
from hyperkube_cloud.gce.load_balancers.external import ExternalBalancers
from hyperkube_cloud.gce.load_balancers.firewalls import Firewalls
from hyperkube_cloud.gce.load_balancers.internal import InternalBalancers
from hyperkube_cloud.gce.location import Location, Metadata
from hyperkube_cloud.gce.routes import GceRoutes
from hyperkube_lib.cloud_provider.rest import HttpSend, RestCloud, Send

from hyperkube.client.events import EventRecorder
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import Cloud
from hyperkube.machinery.objects import Object
from hyperkube.machinery.record import Record

__all__ = ["Gce"]

METADATA_TIMEOUT = 5.0
"""Seconds: the metadata server is on the machine's own host, or not at all."""


class Settings(Record):
    """The file with the provider's configuration, the cluster's name, and where health is asked for from."""

    cloud_config: str = ""
    cluster_name: str = "kubernetes"
    cloud_provider_gce_lb_src_cidrs: tuple[str, ...] = (
        "130.211.0.0/22", "35.191.0.0/16", "209.85.152.0/22", "209.85.204.0/22"
    )  # fmt: skip


class Gce(RestCloud):
    """Google Compute Engine."""

    def ways(self, config: GceConfig) -> tuple[Send, Send]:
        """Return how the API is reached, and how the metadata server is."""
        of_machine = HttpSend(lambda _renew: {}, read_timeout=METADATA_TIMEOUT)
        return self.kept(HttpSend(Tokens(config, self.context.clock))), self.kept(of_machine)

    @hookimpl
    def cloud_provider(self) -> Cloud:
        """Return the provider.

        Raises:
            UsageError: the configuration cannot be read.
        """
        settings = self.settings(Settings)
        config = read_config(settings.cloud_config)
        api, asked_of_machine = self.ways(config)
        metadata = Metadata(asked_of_machine)
        location = Location(config, metadata)
        compute = Compute(api, location)
        instances = GceInstances(compute, config, location, metadata)
        disks = GceDisks(compute, instances, location, settings.cluster_name)
        firewalls = Firewalls(compute, location, self._tell)
        parts = (compute, location, instances, firewalls, settings.cloud_provider_gce_lb_src_cidrs, threading.Lock())
        return Cloud(
            name=PROVIDER,
            load_balancers=GceLoadBalancers(
                compute,
                location,
                ClusterId(self.context.client),
                ExternalBalancers(*parts),
                InternalBalancers(*parts),
                InternalFinalizer(self.context.client).release,
            ),
            instances=instances,
            routes=GceRoutes(compute, instances, location),
            volumes=disks,
            disks=disks,
            clusters=GceClusters(api, config, location, instances.zones),
        )

    def _tell(self, service: Object, text: str) -> None:
        if self.context.client is None:
            self.context.logger.warning("%s", text)
            return
        recorder = EventRecorder(self.context.client, self.context.clock, "g-cloudprovider")
        recorder.event(service, "Normal", "LoadBalancerManualChange", text)
