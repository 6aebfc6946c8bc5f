"""The cluster's place in Amazon, and a plain client to look at it."""

from __future__ import annotations

import logging

from hyperkube_cloud.aws import Aws

from hyperkube.hookspecs import cloud as specs
from hyperkube.plugin import PluginContext, PluginHost

CLUSTER = "testing"
ZONES = ("us-east-1a", "us-east-1b")
OWNED = [{"Key": f"kubernetes.io/cluster/{CLUSTER}", "Value": "owned"}]

logging.getLogger("werkzeug").setLevel(logging.ERROR)


def tagged(kind: str, *more: dict[str, str]) -> list[dict[str, object]]:
    return [{"ResourceType": kind, "Tags": [*OWNED, *more]}]


class Amazon:
    """A VPC of a cluster; `client` asks past the provider."""

    def __init__(self, endpoint, session, folder):
        self.endpoint, self.session, self.folder = endpoint, session, folder
        self.ec2, self.elb, self.elbv2 = (self.client(name) for name in ("ec2", "elb", "elbv2"))
        self.vpc = self.ec2.create_vpc(CidrBlock="10.0.0.0/16", TagSpecifications=tagged("vpc"))["Vpc"]["VpcId"]
        gateway = self.ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        self.ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=self.vpc)
        table = self.ec2.create_route_table(VpcId=self.vpc, TagSpecifications=tagged("route-table"))["RouteTable"]
        self.table = table["RouteTableId"]
        self.ec2.create_route(RouteTableId=self.table, DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway)
        self.subnets = [self._subnet(f"10.0.{index}.0/24", zone) for index, zone in enumerate(ZONES)]
        self.group = self.ec2.create_security_group(
            GroupName="nodes", Description="machines", VpcId=self.vpc, TagSpecifications=tagged("security-group")
        )["GroupId"]

    def client(self, service):
        return self.session.client(service, endpoint_url=self.endpoint or None)

    def _subnet(self, block, zone):
        made = self.ec2.create_subnet(
            VpcId=self.vpc, CidrBlock=block, AvailabilityZone=zone, TagSpecifications=tagged("subnet")
        )["Subnet"]["SubnetId"]
        self.ec2.associate_route_table(RouteTableId=self.table, SubnetId=made)
        return made

    def machine(self, subnet=0):
        """Run an instance and return its node."""
        made = self.ec2.run_instances(
            ImageId="ami-12c6146b", MinCount=1, MaxCount=1, InstanceType="m5.large", SubnetId=self.subnets[subnet],
            SecurityGroupIds=[self.group], TagSpecifications=tagged("instance"),
        )["Instances"][0]  # fmt: skip
        provider_id = f"aws:///{ZONES[subnet]}/{made['InstanceId']}"
        return node(made["PrivateDnsName"], provider_id)

    def built(self, **more):
        """Return the plugin, configured by a file."""
        config = self.folder / "cloud.ini"
        lines = ["[Global]", f"Zone = {ZONES[0]}", f"KubernetesClusterID = {CLUSTER}"]
        lines += [f"{key} = {value}" for key, value in more.items()]
        for index, service in enumerate(("ec2", "elasticloadbalancing") if self.endpoint else ()):
            lines += [f'[ServiceOverride "{index}"]', f"Service = {service}", f"URL = {self.endpoint}"]
        config.write_text("\n".join(lines))
        return Aws(PluginContext(name="aws", settings={"cloud_config": str(config)}))

    def provider(self, **more):
        """Return what the plugin offers."""
        return PluginHost("cloud", specs, [("aws", self.built(**more))]).hook.cloud_provider()

    def rules(self, group=None):
        """Return the sources and ports of a group's rules."""
        (found,) = self.ec2.describe_security_groups(GroupIds=[group or self.group])["SecurityGroups"]
        return sorted(
            (each["IpProtocol"], each.get("FromPort"), source.get("CidrIp") or source.get("GroupId"))
            for each in found["IpPermissions"]
            for source in [*each.get("IpRanges", ()), *each.get("UserIdGroupPairs", ())]
        )

    def everything(self):
        """Return what a Service leaves behind, if anything: balancers, target groups, security groups, rules."""
        found = self.ec2.describe_security_groups(Filters=[{"Name": "vpc-id", "Values": [self.vpc]}])["SecurityGroups"]
        names = {each["GroupId"]: each["GroupName"] for each in found}
        classic = self.elb.describe_load_balancers()["LoadBalancerDescriptions"]
        return {
            "classic": [each["LoadBalancerName"] for each in classic],
            "network": [each["LoadBalancerName"] for each in self.elbv2.describe_load_balancers()["LoadBalancers"]],
            "targets": [each["TargetGroupName"] for each in self.elbv2.describe_target_groups()["TargetGroups"]],
            "groups": sorted(names.values()),
            "rules": [(protocol, port, names.get(source, source)) for protocol, port, source in self.rules()],
        }


def node(name, provider_id=""):
    spec = {"providerID": provider_id} if provider_id else {}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": spec, "status": {}}


def service(name="web", *ports, annotations=None, **spec):
    rows = [{"port": port, "nodePort": 30000 + port, "protocol": "TCP"} for port in ports or (80,)]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": name, "namespace": "shop", "uid": f"11111111-2222-3333-4444-5555555{len(name):05}",
            "annotations": {f"service.beta.kubernetes.io/aws-load-balancer-{key}": value
                            for key, value in (annotations or {}).items()},
        },
        "spec": {"type": "LoadBalancer", "ports": rows} | spec,
        "status": {"loadBalancer": {}},
    }  # fmt: skip
