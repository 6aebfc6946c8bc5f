"""azure: nodes that are Azure's machines, alone or of scale sets, its load balancers, disks, file shares and routes.

Names, tags, annotations and defaults are those of Kubernetes' own provider, so that what a cluster has already is found
again and not made twice. The API is asked over REST with the credentials of Azure's library.
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperkube_cloud.azure.arm import Arm
from hyperkube_cloud.azure.config import AzureConfig, read_config
from hyperkube_cloud.azure.credentials import Tokens
from hyperkube_cloud.azure.disks import AzureDisks
from hyperkube_cloud.azure.file_shares import AzureFileShares
from hyperkube_cloud.azure.instances import PROVIDER, AzureInstances
from hyperkube_cloud.azure.load_balancers import AzureLoadBalancers
from hyperkube_cloud.azure.load_balancers.address_pools import AddressPools
from hyperkube_cloud.azure.load_balancers.backends import Backends
from hyperkube_cloud.azure.load_balancers.balancers import Balancers, OneBalancer, SeveralBalancers
from hyperkube_cloud.azure.load_balancers.frontends import Frontends
from hyperkube_cloud.azure.load_balancers.public_ips import PublicIps
from hyperkube_cloud.azure.metadata import Metadata
from hyperkube_cloud.azure.routes import AzureRoutes
from hyperkube_lib.cloud_provider.rest import HttpSend, RestCloud, Send

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import Cloud
from hyperkube.kinds.resources import NAMESPACES
from hyperkube.machinery.objects import labels_of
from hyperkube.machinery.record import Record

__all__ = ["Azure"]

METADATA_TIMEOUT = 5.0
"""Seconds: the metadata service is on the machine's own host, or not at all."""


class Settings(Record):
    """The file with the provider's configuration, and the cluster's name."""

    cloud_config: str = ""
    cluster_name: str = "kubernetes"


class Azure(RestCloud):
    """Microsoft Azure."""

    def ways(self, config: AzureConfig) -> tuple[Send, Send]:
        """Return how the API is reached, and how the metadata service is."""
        of_machine = HttpSend(lambda _renew: {}, read_timeout=METADATA_TIMEOUT)
        return self.kept(HttpSend(Tokens(config))), self.kept(of_machine)

    @hookimpl
    def cloud_provider(self) -> Cloud:
        """Return the provider.

        Raises:
            UsageError: the configuration cannot be read.
        """
        settings = self.settings(Settings)
        config = read_config(settings.cloud_config)
        api, asked_of_machine = self.ways(config)
        arm = Arm(api, config, self.context.clock)
        instances = AzureInstances(arm, config, Metadata(asked_of_machine))
        disks = AzureDisks(arm, config, instances, settings.cluster_name)
        addresses = PublicIps(arm, config)
        frontends = Frontends(arm, config, addresses)
        balancers = self._balancers(arm, config, instances, frontends)
        return Cloud(
            name=PROVIDER,
            load_balancers=AzureLoadBalancers(arm, config, balancers, addresses, frontends),
            instances=instances,
            routes=AzureRoutes(arm, config, instances) if config.route_table_name else None,
            volumes=disks,
            disks=disks,
            file_shares=AzureFileShares(arm, config),
        )

    def _balancers(self, arm: Arm, config: AzureConfig, instances: AzureInstances, frontends: Frontends) -> Balancers:
        interfaces = Backends(arm, config, instances)
        if not config.lists_addresses:
            return OneBalancer(arm, config, interfaces)
        pools = AddressPools(arm, config, interfaces)
        if not config.multiple_standard_load_balancer_configurations:
            return OneBalancer(arm, config, pools)
        return SeveralBalancers(arm, config, pools, frontends, instances, self._labels_of)

    def _labels_of(self, namespace: str) -> Mapping[str, str]:
        """Return the labels of a namespace, with the rights of the controller that makes balancers."""
        return labels_of(self.client.get(NAMESPACES, namespace))
