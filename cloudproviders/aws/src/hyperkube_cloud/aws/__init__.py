"""aws: nodes that are EC2 instances, load balancers of ELB, disks of EBS and routes of a VPC.

Names, tags, annotations and defaults are those of Kubernetes' own provider, so that what a cluster has already is found
again and not made twice. Credentials are found as the SDK finds them: environment, shared files, the machine's role.
"""

from __future__ import annotations

from hyperkube_cloud.aws.calls import Calls
from hyperkube_cloud.aws.config import read_config
from hyperkube_cloud.aws.disks import AwsDisks
from hyperkube_cloud.aws.instances import PROVIDER, AwsInstances
from hyperkube_cloud.aws.load_balancers import AwsLoadBalancers
from hyperkube_cloud.aws.load_balancers.classic import ClassicBalancers
from hyperkube_cloud.aws.load_balancers.network import NetworkBalancers
from hyperkube_cloud.aws.metadata import TIMEOUT, Metadata
from hyperkube_cloud.aws.routes import AwsRoutes
from hyperkube_lib.cloud_provider.rest import HttpSend, RestCloud, Send

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import Cloud
from hyperkube.machinery.record import Record

__all__ = ["Aws"]


class Settings(Record):
    """The file with the provider's configuration, and what tags call the cluster unless the file says."""

    cloud_config: str = ""
    cluster_name: str = "kubernetes"


class Aws(RestCloud):
    """Amazon Web Services."""

    def of_machine(self) -> Send:
        """Return how the metadata service is reached."""
        return self.kept(HttpSend(lambda _renew: {}, read_timeout=TIMEOUT))

    @hookimpl
    def cloud_provider(self) -> Cloud:
        """Return the provider.

        Raises:
            UsageError: the configuration cannot be read.
        """
        settings = self.settings(Settings)
        config = read_config(settings.cloud_config)
        cluster = config.cluster_id or settings.cluster_name
        calls = Calls(config)
        instances = AwsInstances(calls, Metadata(self.of_machine()))
        disks = AwsDisks(calls, instances, cluster)
        return Cloud(
            name=PROVIDER,
            load_balancers=AwsLoadBalancers(
                ClassicBalancers(calls, config, instances, cluster), NetworkBalancers(calls, config, instances, cluster)
            ),
            instances=instances,
            routes=AwsRoutes(calls, config, instances, cluster),
            volumes=disks,
            disks=disks,
        )
