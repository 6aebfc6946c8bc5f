"""Network load balancers: a listener and a target group for each port, and rules that let clients reach the machines.

A network balancer has no security group here: clients reach the node ports themselves, so the machines' own group gets
the rules, each described with the balancer it is for.
Source: kubernetes legacy-cloud-providers ``aws/aws_loadbalancer.go`` (ensureLoadBalancerv2,
updateInstanceSecurityGroupsForNLB).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hyperkube_cloud.aws.calls import Calls, Refused
from hyperkube_cloud.aws.config import AwsConfig
from hyperkube_cloud.aws.instances import AwsInstances, Machine
from hyperkube_cloud.aws.load_balancers import annotations as asked
from hyperkube_cloud.aws.load_balancers.names import (
    SERVICE_TAG,
    status_of,
    tags_of,
    target_group_name,
)
from hyperkube_cloud.aws.load_balancers.places import Places
from hyperkube_cloud.aws.load_balancers.security_groups import Rule, SecurityGroups, fragmentation
from hyperkube_cloud.aws.tags import as_list, as_map, owned_by
from hyperkube_lib.cloud_provider.services import balancer_name, local_check_port, service_name, source_ranges

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object

RULE = "kubernetes.io/rule/nlb/"
_TAGS_AT_ONCE = 20

Balancer = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """A listener, its target group's name, and how targets are asked for their health."""

    port: int
    node_port: int
    protocol: str
    group_protocol: str
    group: str
    check: Mapping[str, Any]
    certificate: str = ""


def ports(service: Object) -> list[Port]:
    """Return what a Service's ports become."""
    secured = {each.port: each for each in asked.listeners(service)}
    found = []
    for row in service["spec"]["ports"]:
        certificate = secured[row["port"]].certificate
        protocol = str(row.get("protocol", "TCP"))
        group_protocol = (
            "TLS" if certificate and secured[row["port"]].instance_protocol in {"SSL", "HTTPS"} else protocol
        )
        found.append(
            Port(
                port=row["port"],
                node_port=row["nodePort"],
                protocol="TLS" if certificate else protocol,
                group_protocol=group_protocol,
                group=target_group_name(service, row["port"], row["nodePort"], group_protocol, {}),
                check=_check(service),
                certificate=certificate,
            )
        )
    return found


def _check(service: Object) -> dict[str, Any]:
    local = local_check_port(service)
    protocol = asked.of(service, "healthcheck-protocol", "HTTP" if local else "TCP").upper()
    made: dict[str, Any] = {
        "HealthCheckProtocol": protocol,
        "HealthCheckPort": asked.of(service, "healthcheck-port") or (str(local) if local else "traffic-port"),
        "HealthCheckIntervalSeconds": int(asked.of(service, "healthcheck-interval", "10" if local else "30")),
        "HealthyThresholdCount": int(asked.of(service, "healthcheck-healthy-threshold", "2" if local else "3")),
        "UnhealthyThresholdCount": int(asked.of(service, "healthcheck-unhealthy-threshold", "2" if local else "3")),
    }
    if protocol in {"HTTP", "HTTPS"}:
        made["HealthCheckPath"] = asked.of(service, "healthcheck-path", "/healthz" if local else "/")
    return made


def machine_rules(service: Object, subnet_ranges: Sequence[str]) -> set[Rule]:
    """Return the rules that a Service's balancer needs in the machines' groups."""
    name = balancer_name(service)
    ranges = source_ranges(service)
    rules = {
        Rule(row.protocol.replace("TLS", "TCP").lower(), row.node_port, row.node_port, each, f"{RULE}client={name}")
        for row in ports(service)
        for each in ranges
    }
    check = local_check_port(service)
    for port in {check} if check else {row.node_port for row in ports(service)}:
        rules |= {Rule("tcp", port, port, each, f"{RULE}health={name}") for each in subnet_ranges}
    return rules | {rule._replace(description=f"{RULE}mtu={name}") for rule in fragmentation(ranges)}


class NetworkBalancers:
    """NLBs of a cluster's Services."""

    def __init__(self, calls: Calls, config: AwsConfig, instances: AwsInstances, cluster: str) -> None:
        self._calls, self._config, self._cluster = calls, config, cluster
        self._groups = SecurityGroups(calls, cluster)
        self._places = Places(calls, config, instances, cluster)

    def get(self, service: Object) -> Object | None:
        """Return the balancer's status, None if there is none."""
        found = self._find(service)
        return status_of(found.get("DNSName", "")) if found is not None else None

    def ensure(self, service: Object, nodes: Sequence[Object]) -> Object:
        """Make the balancer, or bring it up to date.

        Raises:
            CloudFailed: the Service asks for what Amazon does not have.
        """
        asked.check(service)
        place = self._places.of(service, nodes)
        balancer = self._find(service)
        if balancer is not None and (balancer["Scheme"] == "internal") != place.internal:
            self._delete(service, balancer)
            balancer = None
        if balancer is None:
            balancer = self._create(service, place.subnets, internal=place.internal)
        self._set_attributes(balancer, service)
        groups = {row.group: self._target_group(service, row, place.vpc) for row in ports(service)}
        self._listen(balancer, service, groups)
        for arn in groups.values():
            self._register(arn, place.machines)
        self._drop_groups(service, keep=set(groups.values()))
        self._admit(service, place.machines, self._ranges(place.subnets))
        return status_of(balancer.get("DNSName", ""))

    def update(self, service: Object, nodes: Sequence[Object]) -> None:
        """Send an existing balancer's traffic to these nodes.

        Raises:
            CloudFailed: there is no balancer.
        """
        balancer = self._find(service)
        if balancer is None:
            raise CloudFailed(f"Load balancer not found: {balancer_name(service)}")
        machines = self._places.machines(service, nodes)
        for group in self._groups_of(service):
            self._register(group["TargetGroupArn"], machines)
        self._admit(service, machines, self._ranges([zone["SubnetId"] for zone in balancer["AvailabilityZones"]]))

    def ensure_deleted(self, service: Object) -> None:
        """Take everything away that was made for the Service; finishes what an earlier call has begun."""
        balancer = self._find(service)
        if balancer is not None:
            self._delete(service, balancer)
        self._drop_groups(service, keep=set())
        self._admit(service, [], [])

    def _create(self, service: Object, subnets: Sequence[str], *, internal: bool) -> Balancer:
        addresses = asked.names(service, "eip-allocations")
        if addresses and len(addresses) != len(subnets):
            raise CloudFailed(
                f"number of EIP allocations ({len(addresses)}) and subnets ({len(subnets)}) must be equal"
            )
        where: dict[str, Any] = {"Subnets": list(subnets)}
        if addresses:
            pairs = zip(subnets, addresses, strict=True)
            where = {"SubnetMappings": [{"SubnetId": subnet, "AllocationId": ident} for subnet, ident in pairs]}
        made = self._elb(
            "create_load_balancer",
            Name=balancer_name(service),
            Type="network",
            Scheme="internal" if internal else "internet-facing",
            Tags=as_list(tags_of(service, self._cluster)),
            **where,
        )
        found: Balancer = made["LoadBalancers"][0]
        return found

    def _set_attributes(self, balancer: Balancer, service: Object) -> None:
        crosses = asked.of(service, "cross-zone-load-balancing-enabled", "false")
        rows = [{"Key": "load_balancing.cross_zone.enabled", "Value": crosses}]
        self._elb("modify_load_balancer_attributes", LoadBalancerArn=balancer["LoadBalancerArn"], Attributes=rows)

    def _target_group(self, service: Object, row: Port, vpc: str) -> str:
        try:
            (found,) = self._elb("describe_target_groups", Names=[row.group])["TargetGroups"]
        except Refused as error:
            if error.code != "TargetGroupNotFound":
                raise
            made = self._elb(
                "create_target_group",
                Name=row.group,
                Protocol=row.group_protocol,
                Port=row.node_port,
                VpcId=vpc,
                TargetType="instance",
                Tags=as_list(tags_of(service, self._cluster)),
                **row.check,
            )
            return str(made["TargetGroups"][0]["TargetGroupArn"])
        changed = {key: value for key, value in row.check.items() if found.get(key) != value}
        if changed:
            self._elb("modify_target_group", TargetGroupArn=found["TargetGroupArn"], **changed)
        return str(found["TargetGroupArn"])

    def _listen(self, balancer: Balancer, service: Object, groups: Mapping[str, str]) -> None:
        arn = balancer["LoadBalancerArn"]
        held = {row["Port"]: row for row in self._calls.pages("elbv2", "describe_listeners", "Listeners",
                                                              LoadBalancerArn=arn)}  # fmt: skip
        wanted = {row.port: _listener(row, groups[row.group]) for row in ports(service)}
        for port, listener in held.items():
            if port not in wanted:
                self._elb("delete_listener", ListenerArn=listener["ListenerArn"])
        for port, row in wanted.items():
            if port not in held:
                self._elb("create_listener", LoadBalancerArn=arn, Port=port, **row)
            elif _differs(held[port], row):
                self._elb("modify_listener", ListenerArn=held[port]["ListenerArn"], Port=port, **row)

    def _register(self, group: str, machines: Sequence[Machine]) -> None:
        health = self._elb("describe_target_health", TargetGroupArn=group)["TargetHealthDescriptions"]
        held = {row["Target"]["Id"] for row in health if row["TargetHealth"].get("State") != "draining"}
        wanted = {machine["InstanceId"] for machine in machines}
        for operation, ids in (("register_targets", wanted - held), ("deregister_targets", held - wanted)):
            if ids:
                self._elb(operation, TargetGroupArn=group, Targets=[{"Id": ident} for ident in sorted(ids)])

    def _admit(self, service: Object, machines: Sequence[Machine], subnet_ranges: Sequence[str]) -> None:
        if self._config.disable_security_group_ingress:
            return
        name = balancer_name(service)
        among = frozenset(f"{RULE}{word}={name}" for word in ("client", "health", "mtu"))
        wanted = {self._groups.of_machine(machine) for machine in machines}
        for group in sorted(self._groups.describing(among) - wanted):
            self._groups.set_rules(group, set(), among=among)
        for group in sorted(wanted):
            self._groups.set_rules(group, machine_rules(service, subnet_ranges), among=among)

    def _ranges(self, subnets: Sequence[str]) -> list[str]:
        found = self._calls.pages("ec2", "describe_subnets", "Subnets", SubnetIds=list(subnets))
        return sorted(str(each["CidrBlock"]) for each in found)

    def _delete(self, service: Object, balancer: Balancer) -> None:
        arn = balancer["LoadBalancerArn"]
        for listener in self._calls.pages("elbv2", "describe_listeners", "Listeners", LoadBalancerArn=arn):
            self._elb("delete_listener", ListenerArn=listener["ListenerArn"])
        self._elb("delete_load_balancer", LoadBalancerArn=arn)

    def _drop_groups(self, service: Object, *, keep: set[str]) -> None:
        for group in self._groups_of(service):
            if group["TargetGroupArn"] not in keep:
                self._elb("delete_target_group", TargetGroupArn=group["TargetGroupArn"])

    def _groups_of(self, service: Object) -> list[Mapping[str, Any]]:
        """Return the Service's target groups: those named like it, of which tags say that they are."""
        stem = target_group_name(service, 0, 0, "", {}).rpartition("-")[0] + "-"
        groups = self._calls.pages("elbv2", "describe_target_groups", "TargetGroups")
        named = {each["TargetGroupArn"]: each for each in groups if each["TargetGroupName"].startswith(stem)}
        arns = sorted(named)
        ours: list[Mapping[str, Any]] = []
        for start in range(0, len(arns), _TAGS_AT_ONCE):
            told = self._elb("describe_tags", ResourceArns=arns[start : start + _TAGS_AT_ONCE])["TagDescriptions"]
            wanted = {SERVICE_TAG: service_name(service), **owned_by(self._cluster)}.items()
            ours += [named[row["ResourceArn"]] for row in told if wanted <= as_map(row.get("Tags")).items()]
        return ours

    def _find(self, service: Object) -> Balancer | None:
        try:
            found = self._elb("describe_load_balancers", Names=[balancer_name(service)])["LoadBalancers"]
        except Refused as error:
            if error.code != "LoadBalancerNotFound":
                raise
            return None
        return found[0] if found else None

    def _elb(self, operation: str, **arguments: Any) -> dict[str, Any]:
        return self._calls.call("elbv2", operation, **arguments)


def _listener(row: Port, group: str) -> dict[str, Any]:
    made: dict[str, Any] = {
        "Protocol": row.protocol,
        "DefaultActions": [{"Type": "forward", "TargetGroupArn": group}],
    }
    return {**made, "Certificates": [{"CertificateArn": row.certificate}]} if row.certificate else made


def _differs(held: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    actions = [action.get("TargetGroupArn") for action in held.get("DefaultActions") or ()]
    certificates = [row["CertificateArn"] for row in held.get("Certificates") or ()]
    return (
        held["Protocol"] != wanted["Protocol"]
        or actions != [action["TargetGroupArn"] for action in wanted["DefaultActions"]]
        or certificates[:1] != [row["CertificateArn"] for row in wanted.get("Certificates") or ()]
    )
