"""Balancers that exist already, that are shared, that are slow, and what becomes of floating IPs."""

import pytest
from hyperkube_testing.rest_cloud import shape

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.cloud import CloudFailed, ImplementedElsewhere, RetryLater
from hyperkube.kinds.resources import SERVICES

PREFIX = "loadbalancer.openstack.org/"
NAME = "kube_service_shop_default_web"


def test_a_balancer_of_the_name_of_old_is_adopted_and_the_service_is_told_its_id(double, tmp_path):
    from openstack_stack import built, provider

    client = FakeClient()
    client.seed(SERVICES, shape("web"))
    balancers = provider(built(double, tmp_path, client=client)).load_balancers
    double.put(
        "loadbalancer", id="old", name="auidweb", tags=[], vip_address="10.0.9.9", vip_port_id="vip-old",
        vip_subnet_id="s-private", provisioning_status="ACTIVE",
    )  # fmt: skip

    balancers.ensure("shop", shape("web"), [double.machine()])

    (service,) = client.objects(SERVICES)
    assert service["metadata"]["annotations"] == {f"{PREFIX}load-balancer-id": "old"}
    assert len(double.all("loadbalancer")) == 1
    assert double.names("listener") == [f"listener_0_{NAME}"]
    balancers.ensure_deleted("shop", service)
    (service,) = client.objects(SERVICES)
    assert not service["metadata"].get("annotations")
    assert double.all("loadbalancer") == double.all("floatingip") == []


def test_nothing_is_asked_to_change_where_all_is_as_it_should_be(double, cloud):
    nodes = [double.machine()]
    wanted = shape("web", (80, "TCP"), (53, "UDP"), annotations={f"{PREFIX}enable-health-monitor": "true"})
    status = cloud.load_balancers.ensure("shop", wanted, nodes)
    double.sent.clear()

    assert cloud.load_balancers.ensure("shop", wanted, nodes) == status
    assert not [method for method, path, _ in double.sent if double.changes(method, path)]


def test_a_balancer_follows_its_service_and_its_nodes(double, cloud):
    first, second = double.machine("node-1"), double.machine("node-2")
    status = cloud.load_balancers.ensure("shop", shape("web", (80, "TCP"), (443, "TCP")), [first])

    changed = shape(
        "web", (443, "TCP"), (8080, "TCP"), sessionAffinity="ClientIP", loadBalancerSourceRanges=["192.0.2.0/24"],
        annotations={f"{PREFIX}x-forwarded-for": "true"},
    )  # fmt: skip
    assert cloud.load_balancers.ensure("shop", changed, [first]) == status
    cloud.load_balancers.update("shop", changed, [first, second])

    listeners = {row["protocol_port"]: row for row in double.all("listener")}
    assert sorted(listeners) == [443, 8080]
    assert listeners[443]["protocol"] == "HTTP"
    assert listeners[8080]["allowed_cidrs"] == ["192.0.2.0/24"]
    assert [len(pool["members"]) for pool in double.all("pool")] == [2, 2]
    assert {pool["session_persistence"]["type"] for pool in double.all("pool")} == {"SOURCE_IP"}


def test_two_services_share_a_balancer_and_the_last_takes_it_along(double, cloud):
    nodes = [double.machine()]
    cloud.load_balancers.ensure("shop", shape("web"), nodes)
    (balancer,) = double.all("loadbalancer")
    sharing = {f"{PREFIX}load-balancer-id": balancer["id"]}
    other = shape("api", (8443, "TCP"), annotations=sharing)

    cloud.load_balancers.ensure("shop", other, nodes)
    with pytest.raises(CloudFailed, match="the listener port 80 already exists"):
        cloud.load_balancers.ensure("shop", shape("api", (80, "TCP"), annotations=sharing), nodes)
    with pytest.raises(CloudFailed, match="already shared with 2 Services"):
        cloud.load_balancers.ensure("shop", shape("third", (8444, "TCP"), annotations=sharing), nodes)
    cloud.load_balancers.ensure_deleted("shop", other)
    left = double.names("listener"), balancer["tags"]
    cloud.load_balancers.ensure_deleted("shop", shape("web"))

    assert left == ([f"listener_0_{NAME}"], [NAME])
    assert double.all("loadbalancer") == double.all("pool") == double.all("floatingip") == []


def test_an_owner_that_goes_first_leaves_the_balancer_to_the_others(double, cloud):
    nodes = [double.machine()]
    cloud.load_balancers.ensure("shop", shape("web"), nodes)
    (balancer,) = double.all("loadbalancer")
    cloud.load_balancers.ensure(
        "shop", shape("api", (8443, "TCP"), annotations={f"{PREFIX}load-balancer-id": balancer["id"]}), nodes
    )

    cloud.load_balancers.ensure_deleted("shop", shape("web"))

    assert balancer["tags"] == ["kube_service_shop_default_api"]
    assert double.names("listener") == ["listener_0_kube_service_shop_default_api"]


@pytest.mark.parametrize(("keep", "left"), [("true", 1), ("false", 0)])
def test_a_floating_ip_stays_where_the_service_says_so(double, cloud, keep, left):
    wanted = shape("web", annotations={f"{PREFIX}keep-floatingip": keep})
    cloud.load_balancers.ensure("shop", wanted, [double.machine()])

    cloud.load_balancers.ensure_deleted("shop", wanted)

    assert len(double.all("floatingip")) == left


def test_the_users_floating_ip_is_used_and_stays_and_one_in_use_is_refused(double, cloud):
    double.put("floatingip", id="f-1", name="", floating_ip_address="203.0.113.99", port_id=None, description="mine")
    wanted = shape("web", loadBalancerIP="203.0.113.99")

    assert cloud.load_balancers.ensure("shop", wanted, [double.machine()]) == {"ingress": [{"ip": "203.0.113.99"}]}
    with pytest.raises(CloudFailed, match=r"floating IP 203.0.113.99 is not available"):
        cloud.load_balancers.ensure(
            "shop", shape("api", (81, "TCP"), loadBalancerIP="203.0.113.99"), [double.machine("n2")]
        )
    cloud.load_balancers.ensure_deleted("shop", wanted)

    assert [each["id"] for each in double.all("floatingip")] == ["f-1"]


def test_a_balancer_that_is_slow_is_asked_for_again_and_one_in_error_is_told(double, cloud):
    nodes = [double.machine()]
    cloud.load_balancers.ensure("shop", shape("web"), nodes)
    (balancer,) = double.all("loadbalancer")
    play = double.play

    def stuck(method, path, query, body):
        status, content = play(method, path, query, body)
        return status, {
            "loadbalancer": content["loadbalancer"] | {"provisioning_status": state}
        } if "loadbalancer" in content else content

    double.play, state = stuck, "PENDING_UPDATE"
    with pytest.raises(RetryLater, match="is not ACTIVE yet"):
        cloud.load_balancers.ensure("shop", shape("web"), nodes)
    state = "ERROR"
    with pytest.raises(CloudFailed, match="is in state ERROR"):
        cloud.load_balancers.ensure("shop", shape("web"), nodes)
    assert balancer["id"]


def second(double, **more):
    """Put a younger balancer beside the one that there is, with a floating IP."""
    (first,) = double.all("loadbalancer")
    told = {"id": "younger", "vip_port_id": "vip-younger", "created_at": "2027-01-01T00:00:00", **more}
    double.put("loadbalancer", **(first | told))
    double.put(
        "floatingip", id="f-2", name="", floating_ip_address="203.0.113.98", port_id="vip-younger",
        description="Floating IP for Kubernetes external service default/web from cluster shop",
    )  # fmt: skip


@pytest.mark.parametrize("goes", ["ensure", "ensure_deleted"])
def test_a_balancer_that_a_killed_manager_made_second_goes_with_its_floating_ip(double, cloud, goes):
    nodes = [double.machine()]
    status = cloud.load_balancers.ensure("shop", shape("web"), nodes)
    (first,), (address,) = double.all("loadbalancer"), double.all("floatingip")
    second(double)

    if goes == "ensure":
        assert cloud.load_balancers.ensure("shop", shape("web"), nodes) == status
        assert (double.all("loadbalancer"), double.all("floatingip")) == ([first], [address])
    else:
        cloud.load_balancers.ensure_deleted("shop", shape("web"))
        assert double.all("loadbalancer") == double.all("floatingip") == double.all("listener") == []


def test_a_balancer_that_is_not_surely_the_services_stays(double, cloud):
    nodes = [double.machine()]
    cloud.load_balancers.ensure("shop", shape("web"), nodes)
    (first,) = double.all("loadbalancer")

    second(double, tags=[NAME, "kube_service_shop_default_api"])
    cloud.load_balancers.ensure("shop", shape("web"), nodes)
    second_of_two = double.things.pop(("loadbalancer", "younger"))
    second(double, description="by hand")
    with pytest.raises(CloudFailed, match=f"multiple load balancers are named '{NAME}'"):
        cloud.load_balancers.ensure("shop", shape("web"), nodes)
    cloud.load_balancers.ensure_deleted("shop", shape("web", annotations={f"{PREFIX}load-balancer-id": first["id"]}))

    assert second_of_two["id"] == "younger"
    assert [each["id"] for each in double.all("loadbalancer")] == ["younger"]


def test_balancers_that_are_switched_off_are_left_to_others(double, tmp_path):
    from openstack_stack import built, provider

    balancers = provider(built(double, tmp_path, "[LoadBalancer]\nenabled = false\n")).load_balancers

    with pytest.raises(ImplementedElsewhere):
        balancers.ensure("shop", shape("web"), [double.machine()])
    balancers.ensure_deleted("shop", shape("web"))
    assert double.sent == []
