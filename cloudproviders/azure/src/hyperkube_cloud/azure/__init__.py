"""azure: nodes that are Azure's machines, alone or of scale sets, its load balancers, disks, file shares and routes.

Names, tags, annotations and defaults are those of Kubernetes' own provider, so that what a cluster has already is found
again and not made twice. The API is asked over REST with the credentials of Azure's library.
"""

from __future__ import annotations

from hyperkube_cloud.azure.arm import Arm
from hyperkube_cloud.azure.config import AzureConfig, read_config
from hyperkube_cloud.azure.credentials import Tokens
from hyperkube_cloud.azure.disks import AzureDisks
from hyperkube_cloud.azure.file_shares import AzureFileShares
from hyperkube_cloud.azure.instances import PROVIDER, AzureInstances
from hyperkube_cloud.azure.load_balancers import AzureLoadBalancers
from hyperkube_cloud.azure.load_balancers.address_pools import AddressPools
from hyperkube_cloud.azure.load_balancers.backends import Backends
from hyperkube_cloud.azure.metadata import Metadata
from hyperkube_cloud.azure.routes import AzureRoutes
from hyperkube_lib.cloud_provider.rest import HttpSend, RestCloud, Send

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import Cloud
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
        interfaces = Backends(arm, config, instances)
        pools = AddressPools(arm, config, interfaces) if config.lists_addresses else interfaces
        return Cloud(
            name=PROVIDER,
            load_balancers=AzureLoadBalancers(arm, config, pools),
            instances=instances,
            routes=AzureRoutes(arm, config, instances) if config.route_table_name else None,
            volumes=disks,
            disks=disks,
            file_shares=AzureFileShares(arm, config),
        )
