"""Routes to the nodes' pods, in the cluster's route table.

Source: kubernetes legacy-cloud-providers ``aws/aws_routes.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hyperkube_cloud.aws.calls import Calls, Refused
from hyperkube_cloud.aws.config import AwsConfig
from hyperkube_cloud.aws.instances import AwsInstances, Machine, node_name
from hyperkube_cloud.aws.tags import as_map, belongs

from hyperkube.hookspecs.cloud import CloudFailed, InstanceNotFound, Route
from hyperkube.machinery.objects import NodeName, Object

Table = Mapping[str, Any]


class AwsRoutes:
    """Entries of a VPC's route table; implements `hyperkube.hookspecs.cloud.Routes`."""

    def __init__(self, calls: Calls, config: AwsConfig, instances: AwsInstances, cluster: str) -> None:
        self._calls, self._config, self._instances, self._cluster = calls, config, instances, cluster

    def list(self, cluster: str) -> Sequence[Route]:
        """Return the table's routes to machines; one whose machine is gone is named after its destination."""
        entries = [row for row in self._table().get("Routes") or () if row.get("InstanceId")]
        machines = self._instances.by_id([row["InstanceId"] for row in entries])
        return [
            Route(
                name=f"{cluster}-{row['DestinationCidrBlock']}",
                target=NodeName(node_name(machines[row["InstanceId"]]) if row["InstanceId"] in machines else ""),
                destination=row["DestinationCidrBlock"],
            )
            for row in entries
            if row.get("DestinationCidrBlock")
        ]

    def create(self, cluster: str, route: Route) -> None:
        """Let a machine forward what is not for itself, and lead its range there; a route that leads nowhere goes."""
        machine = self._machine(route)
        ident = machine["InstanceId"]
        self._calls.call("ec2", "modify_instance_attribute", InstanceId=ident, SourceDestCheck={"Value": False})
        table = self._table()
        for row in table.get("Routes") or ():
            if row.get("DestinationCidrBlock") != route.destination:
                continue
            if row.get("InstanceId") == ident:
                return
            if row.get("State") == "blackhole":
                self._delete(table, route.destination)
        self._calls.call(
            "ec2",
            "create_route",
            RouteTableId=table["RouteTableId"],
            DestinationCidrBlock=route.destination,
            InstanceId=ident,
        )

    def delete(self, cluster: str, route: Route) -> None:
        """Remove an entry; no error if it is gone already."""
        self._delete(self._table(), route.destination)

    def _delete(self, table: Table, destination: str) -> None:
        try:
            self._calls.call(
                "ec2", "delete_route", RouteTableId=table["RouteTableId"], DestinationCidrBlock=destination
            )
        except Refused as error:
            if error.code != "InvalidRoute.NotFound":
                raise

    def _machine(self, route: Route) -> Machine:
        node: Object = {"metadata": {"name": route.target}, "spec": {}}
        try:
            return self._instances.machine(node)
        except InstanceNotFound as error:
            raise CloudFailed(f"route {route.name!r}: {error}") from error

    def _table(self) -> Table:
        if self._config.route_table_id:
            found = self._tables(Name="route-table-id", Values=[self._config.route_table_id])
        else:
            vpc = [{"Name": "vpc-id", "Values": [self._config.vpc]}] if self._config.vpc else []
            found = [each for each in self._tables(*vpc) if belongs(as_map(each.get("Tags")), self._cluster)]
        if len(found) != 1:
            problem = "unable to find" if not found else "found multiple matching"
            raise CloudFailed(f"{problem} route table for AWS cluster: {self._cluster}")
        return found[0]

    def _tables(self, *filters: Mapping[str, Any], **one: Any) -> Sequence[Table]:
        wanted = [*filters, *([one] if one else [])]
        return list(self._calls.pages("ec2", "describe_route_tables", "RouteTables", Filters=wanted))
