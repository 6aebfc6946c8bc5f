"""openstack: nodes that are Nova's servers, load balancers of Octavia, disks of Cinder, routes of a Neutron router.

Names, tags, descriptions, annotations and defaults are those of Kubernetes' own provider, so that what a cluster has
already is found again and not made twice.
"""

from __future__ import annotations

from hyperkube_cloud.openstack.apis import Apis
from hyperkube_cloud.openstack.config import OpenStackConfig, read_config
from hyperkube_cloud.openstack.disks import OpenStackDisks
from hyperkube_cloud.openstack.instances import PROVIDER, OpenStackInstances
from hyperkube_cloud.openstack.keystone import Endpoint, Keystone
from hyperkube_cloud.openstack.load_balancers import OpenStackLoadBalancers
from hyperkube_cloud.openstack.metadata import TIMEOUT, Metadata
from hyperkube_cloud.openstack.routes import OpenStackRoutes
from hyperkube_lib.cloud_provider.rest import HttpSend, RestCloud, Send

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import Cloud
from hyperkube.machinery.record import Record

__all__ = ["OpenStack"]


class Settings(Record):
    """The file with the provider's configuration, and the cluster's name."""

    cloud_config: str = ""
    cluster_name: str = "kubernetes"


class OpenStack(RestCloud):
    """OpenStack."""

    def ways(self, config: OpenStackConfig) -> tuple[Send, Endpoint]:
        """Return how services are reached, and where they are."""
        keystone = Keystone(config.access)
        send = HttpSend(keystone.headers, ca_file=config.access.ca_file, insecure=config.access.tls_insecure)
        return self.kept(send), keystone.endpoint

    def of_machine(self, config: OpenStackConfig) -> Metadata:
        """Return what a machine knows of itself."""
        return Metadata(self.kept(HttpSend(lambda _renew: {}, read_timeout=TIMEOUT)), config.metadata.order())

    @hookimpl
    def cloud_provider(self) -> Cloud:
        """Return the provider.

        Raises:
            UsageError: the configuration cannot be read.
        """
        settings = self.settings(Settings)
        config = read_config(settings.cloud_config)
        region = config.access.region
        apis = Apis(*self.ways(config), self.context.clock)
        instances = OpenStackInstances(apis, config.networking, region, self.of_machine(config))
        disks = OpenStackDisks(apis, instances, settings.cluster_name, region)
        router = config.router.router_id
        return Cloud(
            name=PROVIDER,
            load_balancers=OpenStackLoadBalancers(apis, config, instances, self.context.client),
            instances=instances,
            routes=OpenStackRoutes(apis, instances, config.networking, router) if router else None,
            volumes=disks,
            disks=disks,
        )
