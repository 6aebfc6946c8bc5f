"""Where a Service's balancer stands, of whichever kind: its machines, their VPC, and one subnet for each zone."""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_cloud.aws.calls import Calls
from hyperkube_cloud.aws.config import AwsConfig
from hyperkube_cloud.aws.instances import AwsInstances, Machine
from hyperkube_cloud.aws.load_balancers import annotations as asked
from hyperkube_cloud.aws.load_balancers.subnets import Subnets
from hyperkube_cloud.aws.tags import as_map, belongs

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one balancer stands; `internal`: for the VPC alone."""

    machines: Sequence[Machine]
    vpc: str
    internal: bool
    subnets: list[str]


class Places:
    """Finds the places of balancers."""

    def __init__(self, calls: Calls, config: AwsConfig, instances: AwsInstances, cluster: str) -> None:
        self._calls, self._config, self._instances, self._cluster = calls, config, instances, cluster
        self._subnets = Subnets(calls, config, cluster)

    def of(self, service: Object, nodes: Sequence[Object]) -> Place:
        """Return the place of a Service's balancer.

        Raises:
            CloudFailed: the VPC cannot be told, or has no subnets for it.
        """
        machines = self.machines(service, nodes)
        vpc = self._vpc(machines)
        internal = asked.is_internal(service)
        subnets = self._subnets.of_balancer(vpc, internal=internal, asked_for=asked.names(service, "subnets"))
        return Place(machines=machines, vpc=vpc, internal=internal, subnets=subnets)

    def machines(self, service: Object, nodes: Sequence[Object]) -> Sequence[Machine]:
        """Return the running machines of those nodes that the Service lets its balancer send to."""
        return self._instances.machines(asked.selected(service, nodes))

    def _vpc(self, machines: Sequence[Machine]) -> str:
        """Return the VPC of the configuration, of the machines, or of the cluster's subnets."""
        if self._config.vpc:
            return self._config.vpc
        for machine in machines:
            if machine.get("VpcId"):
                return str(machine["VpcId"])
        subnets = self._calls.pages("ec2", "describe_subnets", "Subnets")
        found = {str(each["VpcId"]) for each in subnets if belongs(as_map(each.get("Tags")), self._cluster)}
        if len(found) != 1:
            raise CloudFailed(f"cannot tell the VPC of cluster {self._cluster!r}: give VPC in --cloud-config")
        return found.pop()
