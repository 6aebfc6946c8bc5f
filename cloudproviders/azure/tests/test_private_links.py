"""Private link services: made, shared, changed by their owner, and deleted with their frontend."""

import pytest
from hyperkube_testing.rest_cloud import shape

from hyperkube.hookspecs.cloud import CloudFailed

PREFIX = "service.beta.kubernetes.io/azure-"
NETWORK = "/subscriptions/sub/resourceGroups/shop/providers/Microsoft.Network"
SUBNETS = f"{NETWORK}/virtualNetworks/net/subnets"


def linked(service="web", *ports, internal=True, spec=None, **words):
    told = {f"pls-{key.replace('_', '-')}": value for key, value in {"create": "true", **words}.items()}
    told |= {"load-balancer-internal": "true"} if internal else {}
    return shape(service, *ports, annotations={PREFIX + key: value for key, value in told.items()}, **(spec or {}))


def link(double, name="pls-auidweb"):
    return double.things[f"{NETWORK}/privateLinkServices/{name}".lower()]


def changes(double):
    return [(method, path) for method, path, _ in double.sent if double.changes(method, path)]


@pytest.fixture
def nodes(double):
    return [double.machine()]


def test_a_link_has_what_its_service_says(double, cloud, nodes):
    wanted = linked(
        ip_configuration_subnet="links", ip_configuration_ip_address_count="3", fqdns="a.example  b.example",
        ip_configuration_ip_address="10.241.0.7 10.241.0.9", proxy_protocol="true", visibility="*", auto_approval="s1 s2",
    )  # fmt: skip
    cloud.load_balancers.ensure("c", wanted, nodes)

    made = link(double)
    rows = [row["properties"] for row in made["properties"]["ipConfigurations"]]
    assert [row["name"] for row in made["properties"]["ipConfigurations"]] == [
        "links-pls-auidweb-static-10.241.0.7", "links-pls-auidweb-static-10.241.0.9", "links-pls-auidweb-dynamic-0",
    ]  # fmt: skip
    assert [row["primary"] for row in rows] == [True, False, False]
    assert {row["subnet"]["id"] for row in rows} == {f"{SUBNETS}/links"}
    assert made["properties"]["fqdns"] == ["a.example", "b.example"]
    assert made["properties"]["enableProxyProtocol"] is True
    assert made["properties"]["visibility"] == {"subscriptions": ["*"]}
    assert made["properties"]["autoApproval"] == {"subscriptions": ["s1", "s2"]}
    assert made["tags"] == {"k8s-azure-cluster-name": "c", "k8s-azure-owner-service": "default/web"}
    frontend = f"{NETWORK}/loadBalancers/c-internal/frontendIPConfigurations/auidweb"
    assert made["properties"]["loadBalancerFrontendIpConfigurations"] == [{"id": frontend}]


def test_nothing_is_asked_to_change_where_all_is_as_it_should_be(double, cloud, nodes):
    wanted = linked(ip_configuration_ip_address="10.241.0.7", fqdns="b a", ip_configuration_ip_address_count="2")
    cloud.load_balancers.ensure("c", wanted, nodes)
    double.sent.clear()

    cloud.load_balancers.ensure("c", wanted, nodes)

    assert changes(double) == []


@pytest.mark.parametrize(
    "words",
    [
        {"ip_configuration_subnet": "links"},
        {"ip_configuration_ip_address_count": "2"},
        {"ip_configuration_ip_address": "10.240.0.77"},
        {"fqdns": "a.example"},
        {"proxy_protocol": "true"},
        {"visibility": "s1"},
        {"auto_approval": "s1"},
    ],
    ids=lambda words: next(iter(words)),
)
def test_its_owner_changes_it_in_place(double, cloud, nodes, words):
    cloud.load_balancers.ensure("c", linked(**words), nodes)
    wanted = double.everything()
    cloud.load_balancers.ensure_deleted("c", linked())
    cloud.load_balancers.ensure("c", linked(), nodes)

    cloud.load_balancers.ensure("c", linked(**words), nodes)

    assert double.everything() == wanted
    double.sent.clear()
    cloud.load_balancers.ensure("c", linked(**words), nodes)
    assert changes(double) == []


def test_the_subnets_policy_is_switched_off_once(double, cloud, nodes):
    cloud.load_balancers.ensure("c", linked(), nodes)
    assert double.things[f"{SUBNETS}/nodes".lower()]["properties"]["privateLinkServiceNetworkPolicies"] == "Disabled"
    double.sent.clear()

    cloud.load_balancers.ensure("c", linked(fqdns="a"), nodes)

    assert [path.partition("?")[0].split("/")[-2] for _, path in changes(double)] == ["privateLinkServices"]


def test_a_link_goes_with_its_frontend_after_its_connections(double, cloud, nodes):
    before = double.everything()
    cloud.load_balancers.ensure("c", linked(), nodes)
    double.connect("pls-auidweb")

    cloud.load_balancers.ensure_deleted("c", linked())

    assert double.everything() == before
    gone = [path.partition("?")[0].split("/")[-2] for method, path, _ in double.sent if method == "DELETE"]
    assert gone == ["privateEndpointConnections", "privateLinkServices", "loadBalancers"]


def test_a_link_goes_when_its_frontend_is_made_anew(double, cloud, nodes):
    cloud.load_balancers.ensure("c", linked(), nodes)
    wanted = linked()
    wanted["metadata"]["annotations"][PREFIX + "load-balancer-internal-subnet"] = "links"

    cloud.load_balancers.ensure("c", wanted, nodes)

    assert double.made("privateLinkServices") == ["pls-auidweb-links"]


def test_a_link_that_is_not_wanted_any_more_stays_with_its_frontend(double, cloud, nodes):
    cloud.load_balancers.ensure("c", linked(), nodes)
    cloud.load_balancers.ensure("c", linked(create="false"), nodes)

    assert double.made("privateLinkServices") == ["pls-auidweb"]


def test_services_of_one_frontend_share_its_link_and_the_owner_may_go(double, cloud, nodes):
    first = cloud.load_balancers.ensure("c", linked("one"), nodes)
    before = link(double, "pls-auidone")
    address = {"loadBalancerIP": first["ingress"][0]["ip"]}
    second = linked("two", (443, "TCP"), spec=address)
    cloud.load_balancers.ensure("c", second, nodes)

    assert link(double, "pls-auidone") == before
    with pytest.raises(CloudFailed, match=r"already has existing private link service\(pls-auidone\) owned by service"):
        cloud.load_balancers.ensure("c", linked("two", (443, "TCP"), spec=address, fqdns="a"), nodes)
    cloud.load_balancers.ensure_deleted("c", linked("one"))
    assert double.made("privateLinkServices") == ["pls-auidone"]
    cloud.load_balancers.ensure_deleted("c", second)
    assert double.made("privateLinkServices") == []


def test_a_users_own_link_is_neither_used_nor_deleted(double, cloud, nodes):
    cloud.load_balancers.ensure("c", linked(), nodes)
    link(double)["tags"] = {"team": "shop"}

    with pytest.raises(CloudFailed, match="already has unmanaged private link service"):
        cloud.load_balancers.ensure("c", linked(), nodes)
    with pytest.raises(CloudFailed, match="InUseResourceCannotBeDeleted"):
        cloud.load_balancers.ensure_deleted("c", linked())
    assert double.made("privateLinkServices") == ["pls-auidweb"]


def test_a_link_that_has_failed_is_made_again(double, cloud, nodes):
    cloud.load_balancers.ensure("c", linked(), nodes)
    link(double)["properties"]["provisioningState"] = "Failed"
    double.sent.clear()

    cloud.load_balancers.ensure("c", linked(), nodes)

    assert [path.partition("?")[0].split("/")[-2] for _, path in changes(double)] == ["privateLinkServices"]


def test_its_name_does_not_change(double, cloud, nodes):
    cloud.load_balancers.ensure("c", linked(), nodes)
    with pytest.raises(
        CloudFailed, match=r"cannot change existing private link service name \(pls-auidweb\) to \(shop\)"
    ):
        cloud.load_balancers.ensure("c", linked(name="shop"), nodes)


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (linked(internal=False), "must be internal or disable floating ip"),
        (
            linked(ip_configuration_ip_address_count="0"),
            "minimum number of private link service ipConfig is 1, 0 provided",
        ),
        (
            linked(ip_configuration_ip_address_count="9"),
            "maximum number of private link service ipConfig is 8, 9 provided",
        ),
        (linked(ip_configuration_ip_address_count="two"), "failed to parse annotation .*ip-address-count: 'two'"),
        (linked(ip_configuration_ip_address="10.0.0.1 10.0.0.2"), "must be no smaller than number of static IPs"),
        (linked(ip_configuration_ip_address="here"), "here is not a valid IP address"),
        (linked(ip_configuration_ip_address="fd00::1"), "only supports IPv4, fd00::1 provided"),
        (linked(spec={"clusterIP": "fd00::9"}), "IPv6 is not supported for private link service"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_made(double, cloud, nodes, wanted, text):
    with pytest.raises(CloudFailed, match=text):
        cloud.load_balancers.ensure("c", wanted, nodes)
    assert changes(double) == []


def test_a_subnet_that_there_is_not_is_told(double, cloud, nodes):
    with pytest.raises(CloudFailed, match=r"failed to get private link service subnet\(none\) for service"):
        cloud.load_balancers.ensure("c", linked(ip_configuration_subnet="none"), nodes)
