"""Classic load balancers: made or brought up to date, listener by listener, and taken away with their groups.

Every step looks first and changes what differs, so that a half-made balancer is finished by the next call.
Source: kubernetes legacy-cloud-providers ``aws/aws_loadbalancer.go`` (ensureLoadBalancer …).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hyperkube_cloud.aws.calls import Calls, Refused
from hyperkube_cloud.aws.config import AwsConfig
from hyperkube_cloud.aws.instances import AwsInstances, Machine
from hyperkube_cloud.aws.load_balancers import annotations as asked
from hyperkube_cloud.aws.load_balancers.names import status_of, tags_of
from hyperkube_cloud.aws.load_balancers.places import Places
from hyperkube_cloud.aws.load_balancers.security_groups import Rule, SecurityGroups, fragmentation
from hyperkube_cloud.aws.tags import as_list
from hyperkube_lib.cloud_provider.services import balancer_name, service_name, source_ranges

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.machinery.objects import Object

PROXY_PROTOCOL = "k8s-proxyprotocol-enabled"
Balancer = Mapping[str, Any]


def group_name(service: Object) -> str:
    """Return the name of the security group that a balancer has of its own."""
    return f"k8s-elb-{balancer_name(service)}"


class ClassicBalancers:
    """Classic ELBs of a cluster's Services."""

    def __init__(self, calls: Calls, config: AwsConfig, instances: AwsInstances, cluster: str) -> None:
        self._calls, self._config, self._cluster = calls, config, cluster
        self._groups = SecurityGroups(calls, cluster)
        self._places = Places(calls, config, instances, cluster)

    def get(self, service: Object) -> Object | None:
        """Return the balancer's status, None if there is none."""
        found = self._find(balancer_name(service))
        return status_of(found.get("DNSName", "")) if found is not None else None

    def ensure(self, service: Object, nodes: Sequence[Object]) -> Object:
        """Make the balancer, or bring it up to date.

        Raises:
            CloudFailed: the Service asks for what Amazon does not have.
        """
        asked.check(service)
        place = self._places.of(service, nodes)
        groups = self._balancer_groups(service, place.vpc)
        name = balancer_name(service)
        balancer = self._find(name)
        if balancer is not None and (balancer.get("Scheme") == "internal") != place.internal:
            self._elb("delete_load_balancer", LoadBalancerName=name)
            balancer = None
        if balancer is None:
            self._create(service, place.subnets, groups, internal=place.internal)
            balancer = self._needed(name)
        self._attach(name, balancer, place.subnets, groups)
        self._listen(name, balancer, asked.listeners(service))
        self._set_proxy_protocol(name, balancer, service)
        self._set_health_check(name, balancer, asked.health_check(service))
        self._elb(
            "modify_load_balancer_attributes",
            LoadBalancerName=name,
            LoadBalancerAttributes=asked.attributes(service),
        )
        self._register(name, balancer, place.machines)
        self._admit(groups[0], place.machines)
        return status_of(self._needed(name).get("DNSName", ""))

    def update(self, service: Object, nodes: Sequence[Object]) -> None:
        """Send an existing balancer's traffic to these nodes.

        Raises:
            CloudFailed: there is no balancer.
        """
        name = balancer_name(service)
        balancer = self._needed(name)
        machines = self._places.machines(service, nodes)
        self._register(name, balancer, machines)
        self._admit(balancer["SecurityGroups"][0], machines)

    def ensure_deleted(self, service: Object) -> None:
        """Take everything away that was made for the Service; finishes what an earlier call has begun.

        Raises:
            CloudFailed: its security group is in use for a while yet.
        """
        name = balancer_name(service)
        own = self._groups.named(group_name(service))
        balancer = self._find(name)
        shared = (
            [] if balancer is None else [each for each in balancer.get("SecurityGroups", ())[:1] if each not in own]
        )
        for group in [*own, *shared]:
            if group != self._config.elb_security_group:
                self._admit(group, [])
        if balancer is not None:
            self._elb("delete_load_balancer", LoadBalancerName=name)
        if left := [group for group in own if not self._groups.delete(group)]:
            raise CloudFailed(f"security groups of {service_name(service)} are in use still: {', '.join(left)}")

    def _balancer_groups(self, service: Object, vpc: str) -> list[str]:
        """Return the balancer's groups; the first is the one that machines admit."""
        ranges, ports = source_ranges(service), {row.port for row in asked.listeners(service)}
        if given := asked.names(service, "security-groups"):
            return given
        extra = asked.names(service, "extra-security-groups")
        if self._config.elb_security_group:
            return [self._config.elb_security_group, *extra]
        name = balancer_name(service)
        text = f"Security group for Kubernetes ELB {name} ({service_name(service)})"
        group = self._groups.ensure(group_name(service), text, vpc, tags_of(service, self._cluster))
        rules = {Rule("tcp", port, port, each) for port in ports for each in ranges} | fragmentation(ranges)
        self._groups.set_rules(group, rules)
        return [group, *extra]

    def _create(self, service: Object, subnets: list[str], groups: list[str], *, internal: bool) -> None:
        self._elb(
            "create_load_balancer",
            LoadBalancerName=balancer_name(service),
            Listeners=[_listener(each) for each in asked.listeners(service)],
            Subnets=subnets,
            SecurityGroups=groups,
            Tags=as_list(tags_of(service, self._cluster)),
            **({"Scheme": "internal"} if internal else {}),
        )

    def _attach(self, name: str, balancer: Balancer, subnets: list[str], groups: list[str]) -> None:
        held = set(balancer.get("Subnets") or ())
        if gone := sorted(held - set(subnets)):
            self._elb("detach_load_balancer_from_subnets", LoadBalancerName=name, Subnets=gone)
        if new := sorted(set(subnets) - held):
            self._elb("attach_load_balancer_to_subnets", LoadBalancerName=name, Subnets=new)
        if set(balancer.get("SecurityGroups") or ()) != set(groups):
            self._elb("apply_security_groups_to_load_balancer", LoadBalancerName=name, SecurityGroups=groups)

    def _listen(self, name: str, balancer: Balancer, wanted: Sequence[asked.Listener]) -> None:
        rows = [row["Listener"] for row in balancer.get("ListenerDescriptions") or ()]
        held = {int(row["LoadBalancerPort"]): _signature(row) for row in rows}
        new = {each.port: _listener(each) for each in wanted}
        changed = {port for port, row in new.items() if held.get(port) != _signature(row)}
        if gone := sorted(held.keys() - (new.keys() - changed)):
            self._elb("delete_load_balancer_listeners", LoadBalancerName=name, LoadBalancerPorts=gone)
        if changed:
            listeners = [new[port] for port in sorted(changed)]
            self._elb("create_load_balancer_listeners", LoadBalancerName=name, Listeners=listeners)

    def _set_proxy_protocol(self, name: str, balancer: Balancer, service: Object) -> None:
        wanted = asked.wants_proxy_protocol(service)
        policies = (balancer.get("Policies") or {}).get("OtherPolicies") or ()
        if not wanted and PROXY_PROTOCOL not in policies:
            return
        if PROXY_PROTOCOL not in policies:
            self._elb(
                "create_load_balancer_policy",
                LoadBalancerName=name,
                PolicyName=PROXY_PROTOCOL,
                PolicyTypeName="ProxyProtocolPolicyType",
                PolicyAttributes=[{"AttributeName": "ProxyProtocol", "AttributeValue": "true"}],
            )
        held = {
            int(row["InstancePort"])
            for row in balancer.get("BackendServerDescriptions") or ()
            if PROXY_PROTOCOL in (row.get("PolicyNames") or ())
        }
        ports = {each.node_port for each in asked.listeners(service)} if wanted else set()
        for port in sorted(held ^ ports):
            self._elb(
                "set_load_balancer_policies_for_backend_server",
                LoadBalancerName=name,
                InstancePort=port,
                PolicyNames=[PROXY_PROTOCOL] if port in ports else [],
            )

    def _set_health_check(self, name: str, balancer: Balancer, wanted: asked.HealthCheck) -> None:
        check = {
            "Target": wanted.target, "Interval": wanted.interval, "Timeout": wanted.timeout,
            "HealthyThreshold": wanted.healthy, "UnhealthyThreshold": wanted.unhealthy,
        }  # fmt: skip
        if balancer.get("HealthCheck") != check:
            self._elb("configure_health_check", LoadBalancerName=name, HealthCheck=check)

    def _register(self, name: str, balancer: Balancer, machines: Sequence[Machine]) -> None:
        held = {row["InstanceId"] for row in balancer.get("Instances") or ()}
        wanted = {machine["InstanceId"] for machine in machines}
        for operation, ids in (
            ("register_instances_with_load_balancer", wanted - held),
            ("deregister_instances_from_load_balancer", held - wanted),
        ):
            if ids:
                self._elb(operation, LoadBalancerName=name, Instances=[{"InstanceId": ident} for ident in sorted(ids)])

    def _admit(self, group: str, machines: Sequence[Machine]) -> None:
        if not self._config.disable_security_group_ingress:
            self._groups.admit(group, machines)

    def _needed(self, name: str) -> Balancer:
        balancer = self._find(name)
        if balancer is None:
            raise CloudFailed(f"Load balancer not found: {name}")
        return balancer

    def _find(self, name: str) -> Balancer | None:
        try:
            found = self._elb("describe_load_balancers", LoadBalancerNames=[name])["LoadBalancerDescriptions"]
        except Refused as error:
            if error.code not in {"LoadBalancerNotFound", "AccessPointNotFound"}:
                raise
            return None
        return found[0] if found else None

    def _elb(self, operation: str, **arguments: Any) -> dict[str, Any]:
        return self._calls.call("elb", operation, **arguments)


def _listener(wanted: asked.Listener) -> dict[str, Any]:
    made: dict[str, Any] = {
        "Protocol": wanted.protocol, "LoadBalancerPort": wanted.port,
        "InstanceProtocol": wanted.instance_protocol, "InstancePort": wanted.node_port,
    }  # fmt: skip
    return {**made, "SSLCertificateId": wanted.certificate} if wanted.certificate else made


def _signature(row: Mapping[str, Any]) -> tuple[str, str, int, str]:
    protocols = str(row["Protocol"]).upper(), str(row.get("InstanceProtocol") or row["Protocol"]).upper()
    return *protocols, int(row["InstancePort"]), str(row.get("SSLCertificateId") or "")
