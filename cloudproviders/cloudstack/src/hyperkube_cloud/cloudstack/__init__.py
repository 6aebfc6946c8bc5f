"""cloudstack: nodes that are CloudStack's virtual machines, load balancer rules on public addresses.

Names, annotations and defaults are those of Kubernetes' own provider and of CloudStack's cloud controller manager, so
that what a cluster has already is found again and not made twice.
"""

from __future__ import annotations

from hyperkube_cloud.cloudstack.api import Api
from hyperkube_cloud.cloudstack.config import CloudStackConfig, read_config
from hyperkube_cloud.cloudstack.instances import PROVIDER, CloudStackInstances
from hyperkube_cloud.cloudstack.load_balancers import CloudStackLoadBalancers
from hyperkube_cloud.cloudstack.metadata import Metadata
from hyperkube_lib.cloud_provider.rest import HttpSend, RestCloud, Send

from hyperkube.client.exchange import Bounds
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import Cloud
from hyperkube.machinery.record import Record

__all__ = ["CloudStack"]

NEARBY = 5.0
"""Seconds: the virtual router is in the machine's own network, or there is none."""


class Settings(Record):
    """The file with the provider's configuration."""

    cloud_config: str = ""


class CloudStack(RestCloud):
    """Apache CloudStack."""

    def ways(self, config: CloudStackConfig) -> tuple[Send, Send]:
        """Return how the API is reached, and how the machine's virtual router is."""
        api = HttpSend(lambda _renew: {}, insecure=config.ssl_no_verify)  # each request is signed by itself
        router = HttpSend(lambda _renew: {}, read_timeout=NEARBY, bounds=Bounds(size=1 << 16, seconds=NEARBY))
        return self.kept(api), self.kept(router)

    @hookimpl
    def cloud_provider(self) -> Cloud:
        """Return the provider; without credentials it only knows of the machine that it runs on.

        Raises:
            UsageError: the configuration cannot be read.
        """
        config = read_config(self.settings(Settings).cloud_config)
        send, router = self.ways(config)
        api = Api(send, config, self.context.clock)
        instances = CloudStackInstances(api, config, Metadata(router))
        return Cloud(
            name=PROVIDER,
            load_balancers=CloudStackLoadBalancers(api, config, instances, self.context.client)
            if config.can_ask
            else None,
            instances=instances,
        )
