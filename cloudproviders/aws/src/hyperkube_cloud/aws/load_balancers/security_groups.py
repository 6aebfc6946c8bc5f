"""Who may reach a balancer, and that the balancer may reach the machines: ingress rules of security groups.

Rules are compared one range at a time, so what others added to a group that is not the balancer's own stays.
Source: kubernetes legacy-cloud-providers ``aws/aws.go`` (ensureSecurityGroup, setSecurityGroupIngress,
updateInstanceSecurityGroupsForLoadBalancer).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from hyperkube_cloud.aws.calls import Calls, Refused
from hyperkube_cloud.aws.instances import Machine
from hyperkube_cloud.aws.tags import as_list, as_map, belongs

from hyperkube.hookspecs.cloud import CloudFailed

ANY_PROTOCOL = "-1"


class Rule(NamedTuple):
    """One source that may reach some ports: a range of addresses, or a group's machines."""

    protocol: str
    first: int
    last: int
    source: str
    description: str = ""

    @property
    def permission(self) -> dict[str, Any]:
        """The rule as Amazon takes it."""
        made: dict[str, Any] = {"IpProtocol": self.protocol}
        if self.protocol != ANY_PROTOCOL:
            made |= {"FromPort": self.first, "ToPort": self.last}
        text = {"Description": self.description} if self.description else {}
        if self.source.startswith("sg-"):
            return {**made, "UserIdGroupPairs": [{"GroupId": self.source, **text}]}
        if ":" in self.source:
            return {**made, "Ipv6Ranges": [{"CidrIpv6": self.source, **text}]}
        return {**made, "IpRanges": [{"CidrIp": self.source, **text}]}


def rules_of(permissions: Iterable[Mapping[str, Any]]) -> set[Rule]:
    """Return a group's permissions as single rules."""
    found = set()
    for each in permissions:
        where = (str(each["IpProtocol"]), int(each.get("FromPort", -1)), int(each.get("ToPort", -1)))
        for member, key in (("IpRanges", "CidrIp"), ("Ipv6Ranges", "CidrIpv6"), ("UserIdGroupPairs", "GroupId")):
            found |= {Rule(*where, row[key], row.get("Description", "")) for row in each.get(member) or ()}
    return found


def fragmentation(ranges: Sequence[str]) -> set[Rule]:
    """Return what lets "fragmentation needed" through: without it, connections hang where the path's MTU is small."""
    return {Rule("icmpv6" if ":" in each else "icmp", *((2, -1) if ":" in each else (3, 4)), each) for each in ranges}


class SecurityGroups:
    """The groups of balancers and machines."""

    def __init__(self, calls: Calls, cluster: str) -> None:
        self._calls, self._cluster = calls, cluster

    def ensure(self, name: str, description: str, vpc: str, tags: Mapping[str, str]) -> str:
        """Return the id of the group of that name, made if there is none."""
        found = self._list(("group-name", name), ("vpc-id", vpc))
        if found:
            return str(found[0]["GroupId"])
        made = self._calls.call(
            "ec2",
            "create_security_group",
            GroupName=name,
            Description=description,
            VpcId=vpc,
            TagSpecifications=[{"ResourceType": "security-group", "Tags": as_list(tags)}],
        )
        return str(made["GroupId"])

    def set_rules(self, group: str, wanted: set[Rule], *, among: frozenset[str] | None = None) -> None:
        """Give a group these rules.

        Args:
            group: its id.
            wanted: the rules.
            among: rules with other descriptions than these are left alone; None: all others go.
        """
        held = rules_of(self._group(group).get("IpPermissions") or ())
        gone = {rule for rule in held - wanted if among is None or rule.description in among}
        if new := wanted - held:
            self._authorize(group, new)
        if gone:
            self._revoke(group, gone)

    def delete(self, group: str) -> bool:
        """Delete a group; tell whether it is gone: one that is in use still is not."""
        try:
            self._calls.call("ec2", "delete_security_group", GroupId=group)
        except Refused as error:
            if error.code in {"DependencyViolation", "InvalidGroup.InUse"}:
                return False
            if error.code != "InvalidGroup.NotFound":
                raise
        return True

    def named(self, name: str) -> list[str]:
        """Return the ids of the cluster's groups of a name."""
        return [each["GroupId"] for each in self._list(("group-name", name)) if self._ours(each)]

    def describing(self, descriptions: frozenset[str]) -> set[str]:
        """Return the ids of the cluster's groups that have a rule with one of these descriptions."""
        return {
            each["GroupId"]
            for each in self._list()
            if self._ours(each) and any(rule.description in descriptions for rule in rules_of(each["IpPermissions"]))
        }

    def admit(self, balancer_group: str, machines: Sequence[Machine]) -> None:
        """Let a balancer reach the machines, and no others any more that it once could.

        Raises:
            CloudFailed: a machine has several groups, and not just one of them is tagged as the cluster's.
        """
        wanted = {self.of_machine(machine) for machine in machines}
        rule = Rule(ANY_PROTOCOL, -1, -1, balancer_group)
        held = {each["GroupId"] for each in self._list(("ip-permission.group-id", balancer_group)) if self._ours(each)}
        for group in sorted(wanted - held):
            self._authorize(group, {rule})
        for group in sorted(held - wanted):
            self._revoke(group, {rule})

    def of_machine(self, machine: Machine) -> str:
        """Return the one group of a machine whose rules are changed.

        Raises:
            CloudFailed: it cannot be told.
        """
        groups = [group["GroupId"] for group in machine.get("SecurityGroups") or ()]
        if len(groups) > 1:
            tagged = [each["GroupId"] for each in self._list(("group-id", *groups)) if self._ours(each)]
            if len(tagged) != 1:
                raise CloudFailed(
                    f"Multiple tagged security groups found for instance {machine['InstanceId']}; ensure only the k8s"
                    " security group is tagged"
                    if tagged
                    else f"no security group of instance {machine['InstanceId']} is tagged as the cluster's"
                )
            return str(tagged[0])
        if not groups:
            raise CloudFailed(f"instance {machine['InstanceId']} has no security group")
        return str(groups[0])

    def _ours(self, group: Mapping[str, Any]) -> bool:
        return belongs(as_map(group.get("Tags")), self._cluster)

    def _group(self, ident: str) -> Mapping[str, Any]:
        found = self._list(("group-id", ident))
        if not found:
            raise CloudFailed(f"security group {ident!r} not found")
        return found[0]

    def _list(self, *filters: tuple[str, ...]) -> list[Mapping[str, Any]]:
        wanted = [{"Name": name, "Values": list(values)} for name, *values in filters]
        return list(self._calls.pages("ec2", "describe_security_groups", "SecurityGroups", Filters=wanted))

    def _authorize(self, group: str, rules: set[Rule]) -> None:
        try:
            self._change("authorize_security_group_ingress", group, rules)
        except Refused as error:
            if error.code != "InvalidPermission.Duplicate":
                raise

    def _revoke(self, group: str, rules: set[Rule]) -> None:
        try:
            self._change("revoke_security_group_ingress", group, rules)
        except Refused as error:
            if error.code not in {"InvalidPermission.NotFound", "InvalidGroup.NotFound"}:
                raise

    def _change(self, operation: str, group: str, rules: set[Rule]) -> None:
        self._calls.call("ec2", operation, GroupId=group, IpPermissions=[rule.permission for rule in sorted(rules)])
