"""Balancers of both kinds on an Amazon that keeps what it is told: made, changed, finished after a crash, taken away."""

import pytest
from hyperkube_cloud.aws.load_balancers import AwsLoadBalancers
from hyperkube_cloud.aws.load_balancers import annotations as asked
from hyperkube_testing.beside import module_beside

from hyperkube.hookspecs.cloud import CloudFailed, ImplementedElsewhere

service = module_beside(__file__, "amazon").service

ANYWHERE = "0.0.0.0/0"


def classic(cloud):
    (found,) = cloud.elb.describe_load_balancers()["LoadBalancerDescriptions"]
    return found


def test_a_service_becomes_a_classic_balancer_with_all_that_belongs_to_it(cloud):
    nodes = [cloud.machine(), cloud.machine(subnet=1)]

    status = cloud.provider().load_balancers.ensure("kubernetes", service("web", 80, 443), nodes)

    made = classic(cloud)
    (group,) = made["SecurityGroups"]
    assert status == {"ingress": [{"hostname": made["DNSName"]}]}
    assert made["LoadBalancerName"] == "a1111111122223333444455555550000"
    assert made["Scheme"] == "internet-facing"
    assert sorted(made["Subnets"]) == sorted(cloud.subnets)
    assert sorted(row["InstanceId"] for row in made["Instances"]) == sorted(
        node["spec"]["providerID"].rpartition("/")[2] for node in nodes
    )
    assert [(row["Listener"]["LoadBalancerPort"], row["Listener"]["InstancePort"])
            for row in made["ListenerDescriptions"]] == [(80, 30080), (443, 30443)]  # fmt: skip
    assert made["HealthCheck"] == {
        "Target": "TCP:30080", "Interval": 10, "Timeout": 5, "HealthyThreshold": 2, "UnhealthyThreshold": 6
    }  # fmt: skip
    assert cloud.rules(group) == [("icmp", 3, ANYWHERE), ("tcp", 80, ANYWHERE), ("tcp", 443, ANYWHERE)]
    assert cloud.rules() == [("-1", None, group)]


def test_the_configuration_leads_to_another_endpoint(served):
    balancers = served.provider().load_balancers

    status = balancers.ensure("kubernetes", service(), [served.machine()])

    assert status == {"ingress": [{"hostname": classic(served)["DNSName"]}]}


def test_a_balancer_follows_its_service_and_its_nodes(cloud):
    first, second = cloud.machine(), cloud.machine()
    balancers = cloud.provider().load_balancers
    balancers.ensure("kubernetes", service("web", 80, 443), [first])

    changed = service(
        "web", 443, 8080,
        loadBalancerSourceRanges=["192.0.2.0/24"], externalTrafficPolicy="Local", healthCheckNodePort=31234,
    )  # fmt: skip
    balancers.ensure("kubernetes", changed, [first])
    balancers.update("kubernetes", changed, [second])

    made = classic(cloud)
    assert [row["Listener"]["LoadBalancerPort"] for row in made["ListenerDescriptions"]] == [443, 8080]
    assert made["HealthCheck"]["Target"] == "HTTP:31234/healthz"
    assert [row["InstanceId"] for row in made["Instances"]] == [second["spec"]["providerID"].rpartition("/")[2]]
    assert cloud.rules(made["SecurityGroups"][0]) == [
        ("icmp", 3, "192.0.2.0/24"), ("tcp", 443, "192.0.2.0/24"), ("tcp", 8080, "192.0.2.0/24")
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["", "nlb"], ids=["classic", "network"])
def test_nothing_is_left_behind(cloud, kind):
    node = cloud.machine()
    wanted = service("web", 80, 443, annotations={"type": kind} if kind else {})
    balancers = cloud.provider().load_balancers
    before = cloud.everything()
    balancers.ensure("kubernetes", wanted, [node])
    assert cloud.everything() != before

    balancers.ensure_deleted("kubernetes", wanted)

    assert cloud.everything() == before


def test_a_network_balancer_lets_clients_reach_the_node_ports(cloud):
    node = cloud.machine()
    wanted = service("web", 80, annotations={"type": "nlb"}, loadBalancerSourceRanges=["192.0.2.0/24"])

    status = cloud.provider().load_balancers.ensure("kubernetes", wanted, [node])

    (made,) = cloud.elbv2.describe_load_balancers()["LoadBalancers"]
    (listener,) = cloud.elbv2.describe_listeners(LoadBalancerArn=made["LoadBalancerArn"])["Listeners"]
    (group,) = cloud.elbv2.describe_target_groups()["TargetGroups"]
    (target,) = cloud.elbv2.describe_target_health(TargetGroupArn=group["TargetGroupArn"])["TargetHealthDescriptions"]
    assert status == {"ingress": [{"hostname": made["DNSName"]}]}
    assert (made["Type"], listener["Port"], listener["Protocol"], group["Port"]) == ("network", 80, "TCP", 30080)
    assert target["Target"]["Id"] == node["spec"]["providerID"].rpartition("/")[2]
    assert ("tcp", 30080, "192.0.2.0/24") in cloud.rules()
    assert ("tcp", 30080, "10.0.0.0/24") in cloud.rules()  # health is asked for from the balancer's subnets


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (service(loadBalancerIP="192.0.2.1"), "LoadBalancerIP cannot be specified for AWS ELB"),
        (service(sessionAffinity="ClientIP"), "unsupported load balancer affinity: ClientIP"),
        (service(ports=[]), "requested load balancer with no ports"),
        (service(ports=[{"port": 53, "nodePort": 30053, "protocol": "UDP"}]), "Only TCP LoadBalancer is supported"),
    ],
)
def test_what_amazon_does_not_have_is_refused_in_kubernetes_words(wanted, message):
    with pytest.raises(CloudFailed, match=message):
        asked.check(wanted)


def test_an_annotation_that_cannot_be_read_is_named():
    with pytest.raises(CloudFailed, match="the only value supported is"):
        asked.wants_proxy_protocol(service(annotations={"proxy-protocol": "v2"}))
    with pytest.raises(CloudFailed, match=r"error parsing service annotation: .*connection-idle-timeout=long"):
        asked.attributes(service(annotations={"connection-idle-timeout": "long"}))


def test_a_subnet_that_is_not_there_is_told(cloud):
    with pytest.raises(CloudFailed, match="subnets not found: none-such"):
        cloud.provider().load_balancers.ensure(
            "kubernetes", service(annotations={"subnets": "none-such"}), [cloud.machine()]
        )


@pytest.mark.parametrize("kind", ["external", "nlb-ip"])
def test_other_controllers_balancers_are_left_to_them(kind):
    with pytest.raises(ImplementedElsewhere):
        AwsLoadBalancers(None, None).ensure("kubernetes", service(annotations={"type": kind}), [])
