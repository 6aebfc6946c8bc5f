"""The subnets of a balancer: one in each zone, public ones unless the balancer is for the VPC alone.

Source: kubernetes legacy-cloud-providers ``aws/aws.go`` (findELBSubnets).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hyperkube_cloud.aws.calls import Calls
from hyperkube_cloud.aws.config import AwsConfig
from hyperkube_cloud.aws.tags import CLUSTER_PREFIX, as_map, belongs

from hyperkube.hookspecs.cloud import CloudFailed

PUBLIC_ROLE, INTERNAL_ROLE = "kubernetes.io/role/elb", "kubernetes.io/role/internal-elb"

Subnet = Mapping[str, Any]


def best_of_zones(subnets: Sequence[Subnet], cluster: str, *, internal: bool) -> list[str]:
    """Return one subnet's id for each zone: what is tagged for balancers first, then the cluster's own, then by id."""
    role, mark = (INTERNAL_ROLE if internal else PUBLIC_ROLE), f"{CLUSTER_PREFIX}{cluster}"

    def rank(subnet: Subnet) -> tuple[bool, bool, str]:
        tags = as_map(subnet.get("Tags"))
        return role not in tags, mark not in tags, str(subnet["SubnetId"])

    best: dict[str, Subnet] = {}
    for subnet in sorted(subnets, key=rank):
        best.setdefault(subnet["AvailabilityZone"], subnet)
    return sorted(subnet["SubnetId"] for subnet in best.values())


def is_public(subnet: Subnet, tables: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether a subnet's route table, or the VPC's main one, has a route to an internet gateway."""
    own = [
        table
        for table in tables
        if any(link.get("SubnetId") == subnet["SubnetId"] for link in table.get("Associations") or ())
    ] or [table for table in tables if any(link.get("Main") for link in table.get("Associations") or ())]
    return any(
        str(route.get("GatewayId", "")).startswith("igw") for table in own for route in table.get("Routes") or ()
    )


class Subnets:
    """The VPC's subnets."""

    def __init__(self, calls: Calls, config: AwsConfig, cluster: str) -> None:
        self._calls, self._config, self._cluster = calls, config, cluster

    def of_balancer(self, vpc: str, *, internal: bool, asked_for: Sequence[str] = ()) -> list[str]:
        """Return the subnets of a balancer.

        Args:
            vpc: the VPC of its machines.
            internal: whether it is for the VPC alone.
            asked_for: ids, or names by their tag, that the Service gives.

        Raises:
            CloudFailed: there are none.
        """
        subnets = self._list("describe_subnets", "Subnets", vpc)
        if asked_for:
            return self._resolved(subnets, asked_for)
        ours = [each for each in subnets if belongs(as_map(each.get("Tags")), self._cluster)]
        if not ours and self._config.subnet_id:
            ours = [each for each in subnets if each["SubnetId"] == self._config.subnet_id]
        if not internal:
            tables = self._list("describe_route_tables", "RouteTables", vpc)
            ours = [each for each in ours if is_public(each, tables)]
        found = best_of_zones(ours, self._cluster, internal=internal)
        if not found:
            raise CloudFailed("could not find any suitable subnets for creating the ELB")
        return found

    def _resolved(self, subnets: Sequence[Subnet], wanted: Sequence[str]) -> list[str]:
        by_name = {as_map(each.get("Tags")).get("Name", ""): str(each["SubnetId"]) for each in subnets}
        known = {str(each["SubnetId"]) for each in subnets}
        found = [name if name in known else by_name.get(name, "") for name in wanted]
        if missing := [name for name, ident in zip(wanted, found, strict=True) if not ident]:
            raise CloudFailed(f"subnets not found: {', '.join(missing)}")
        return sorted(found)

    def _list(self, operation: str, member: str, vpc: str) -> list[Subnet]:
        wanted = [{"Name": "vpc-id", "Values": [vpc]}]
        return list(self._calls.pages("ec2", operation, member, Filters=wanted))
