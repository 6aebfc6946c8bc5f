"""Services: addresses and node ports are given out once each."""

import importlib.util
from ipaddress import ip_network
from pathlib import Path

import pytest
from hyperkube_api.core.services.allocator import ServiceAllocator, node_ports
from hyperkube_api.core.services.strategy import ServiceStrategy

from hyperkube.hookspecs.api_services import ApiServices
from hyperkube.kinds.resources import IP_ADDRESSES, SERVICES
from hyperkube.machinery.errors import InternalError, Invalid

_spec = importlib.util.spec_from_file_location("calls", Path(__file__).parents[1] / "calls.py")
calls = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(calls)


def a_service(name="s", **spec):
    return {"metadata": {"name": name, "namespace": "ns"}, "spec": {"ports": [{"port": 80}], **spec}, "status": {}}


def create(strategy, stored, service, **more):
    call = calls.a_call(stored, resource=SERVICES, name=service["metadata"]["name"], **more)
    strategy.default(service)
    strategy.prepare_create(call, service)
    assert strategy.validate(call, service) == []
    finish = None if call.dry_run else strategy.begin_create(call, service)
    if finish is not None:
        stored.put(SERVICES, service)
        finish(True)
    return service


def ranges(text):
    return ApiServices(service_networks=tuple(ip_network(part) for part in text.split(",")))


@pytest.fixture
def stored():
    return calls.Stored()


@pytest.fixture
def strategy():
    return ServiceStrategy(ServiceAllocator())


def test_a_service_gets_an_address_with_an_object_of_its_own(strategy, stored):
    service = create(strategy, stored, a_service(), services=ranges("10.9.0.0/24"))

    address = service["spec"]["clusterIP"]
    assert address.startswith("10.9.0.")
    assert service["spec"]["clusterIPs"] == [address]
    assert stored.get(IP_ADDRESSES, address)["spec"]["parentRef"] == {
        "resource": "services",
        "namespace": "ns",
        "name": "s",
    }


def test_an_address_is_given_out_once(strategy, stored):
    create(strategy, stored, a_service(clusterIP="10.0.0.9"))

    with pytest.raises(Invalid) as refused:
        create(strategy, stored, a_service("t", clusterIP="10.0.0.9"))

    assert "failed to allocate IP 10.0.0.9: provided IP is already allocated" in refused.value.message


def test_a_full_range_is_used_to_the_last_address(strategy, stored):
    services = ranges("10.9.0.0/30")

    given = {create(strategy, stored, a_service(name), services=services)["spec"]["clusterIP"] for name in ("a", "b")}

    assert given == {"10.9.0.1", "10.9.0.2"}
    with pytest.raises(InternalError, match="failed to allocate a serviceIP: range is full"):
        create(strategy, stored, a_service("c"), services=services)


def test_a_dry_run_shows_an_address_and_takes_none(strategy, stored):
    service = create(strategy, stored, a_service(), dry_run=True)

    assert service["spec"]["clusterIP"]
    assert stored.list(IP_ADDRESSES) == []


def test_two_protocols_of_a_port_share_a_node_port(strategy, stored):
    ports = [{"name": "a", "port": 53, "protocol": "UDP"}, {"name": "b", "port": 53, "protocol": "TCP"}]

    service = create(strategy, stored, a_service(type="NodePort", ports=ports))

    first, second = service["spec"]["ports"]
    assert first["nodePort"] == second["nodePort"]
    assert 30000 <= first["nodePort"] <= 32767


def test_a_node_port_is_given_out_once(strategy, stored):
    create(strategy, stored, a_service(type="NodePort", ports=[{"port": 80, "nodePort": 30080}]))

    with pytest.raises(Invalid) as refused:
        create(strategy, stored, a_service("t", type="NodePort", ports=[{"port": 80, "nodePort": 30080}]))

    assert refused.value.causes[0]["message"] == "Invalid value: 30080: provided port is already allocated"


def test_what_was_not_stored_is_given_back(strategy, stored):
    call = calls.a_call(stored, resource=SERVICES, name="s")
    service = a_service(type="NodePort")
    strategy.default(service)
    strategy.prepare_create(call, service)

    strategy.begin_create(call, service)(False)

    assert stored.list(IP_ADDRESSES) == []
    create(strategy, stored, a_service("t", type="NodePort", ports=[{"port": 80, "nodePort": node_ports(service)[0]}]))


def test_becoming_an_alias_gives_the_address_back(strategy, stored):
    old = create(strategy, stored, a_service(clusterIP="10.0.0.9"))
    new = {**old, "spec": {**old["spec"], "type": "ExternalName", "externalName": "x.example.com"}}
    call = calls.a_call(stored, resource=SERVICES, name="s", verb="update")

    strategy.prepare_update(call, new, old)
    strategy.begin_update(call, new, old)(True)

    assert "clusterIP" not in new["spec"]
    assert stored.list(IP_ADDRESSES) == []


def test_an_address_may_not_change_once_set(strategy, stored):
    old = create(strategy, stored, a_service(clusterIP="10.0.0.9"))
    new = {**old, "spec": {**old["spec"], "clusterIP": "10.0.0.10", "clusterIPs": ["10.0.0.10"]}}
    call = calls.a_call(stored, resource=SERVICES, name="s", verb="update")

    strategy.prepare_update(call, new, old)

    (error,) = strategy.validate_update(call, new, old)
    assert str(error) == 'spec.clusterIPs[0]: Invalid value: ["10.0.0.10"]: may not change once set'


def test_dual_stack_needs_a_cluster_that_has_it(strategy, stored):
    with pytest.raises(Invalid) as refused:
        create(strategy, stored, a_service(ipFamilyPolicy="RequireDualStack"))

    assert "this cluster is not configured for dual-stack services" in refused.value.message


def test_a_dual_stack_service_gets_an_address_of_each_family(strategy, stored):
    services = ranges("10.9.0.0/24,fd00:9::/120")

    service = create(strategy, stored, a_service(ipFamilyPolicy="PreferDualStack"), services=services)

    assert service["spec"]["ipFamilies"] == ["IPv4", "IPv6"]
    assert len(service["spec"]["clusterIPs"]) == 2


DUAL = ranges("10.9.0.0/24,fd00:9::/120")
MULTIPLE = "must be 'RequireDualStack' or 'PreferDualStack' when multiple {} are specified"
BOTH = {"clusterIP": "10.9.0.9", "clusterIPs": ["10.9.0.9", "fd00:9::9"]}


@pytest.mark.parametrize(
    ("spec", "services", "said"),
    [
        (BOTH, DUAL, [MULTIPLE.format("cluster IPs")]),
        ({"ipFamilies": ["IPv4", "IPv6"]}, DUAL, [MULTIPLE.format("IP families")]),
        ({"clusterIP": "fd00::9"}, ApiServices(), ["IPv6 is not configured on this cluster"]),
        ({"ipFamilies": ["IPv6"]}, ApiServices(), ["not configured on this cluster"]),
        ({"clusterIPs": ["10.0.0.9"]}, ApiServices(), ["must be empty when `clusterIP` is not specified"]),
    ],
    ids=["addresses", "families", "address", "family", "no-first"],
)
def test_addresses_and_families_fit_the_policy_and_the_cluster(strategy, stored, spec, services, said):
    with pytest.raises(Invalid) as refused:
        create(strategy, stored, a_service(**spec), services=services)

    assert [cause["message"].partition(": ")[2].partition(": ")[2] for cause in refused.value.details["causes"]] == said


def updated(strategy, stored, old, **spec):
    new = {**old, "spec": {**old["spec"], **spec}}
    strategy.prepare_update(calls.a_call(stored, resource=SERVICES, name="s", verb="update", services=DUAL), new, old)
    return new["spec"]


def test_the_second_address_goes_only_from_a_service_of_one_family(strategy, stored):
    old = create(strategy, stored, a_service(ipFamilyPolicy="RequireDualStack"), services=DUAL)
    first = old["spec"]["clusterIPs"][:1]

    single = updated(strategy, stored, old, ipFamilyPolicy="SingleStack")
    with pytest.raises(Invalid) as refused:
        updated(strategy, stored, old, clusterIPs=first, ipFamilies=["IPv4"])

    assert (single["clusterIPs"], single["ipFamilies"]) == (first, ["IPv4"])
    said = ["must be 'SingleStack' to release the secondary " + what for what in ("cluster IP", "IP family")]
    assert [text in refused.value.message for text in said] == [True, True]


def test_a_service_that_prefers_two_families_keeps_the_one_it_got(strategy, stored):
    old = create(
        strategy,
        stored,
        a_service(ipFamilyPolicy="PreferDualStack"),
        services=ranges("10.9.0.0/24"),
    )

    assert updated(strategy, stored, old, sessionAffinity="ClientIP")["clusterIPs"] == old["spec"]["clusterIPs"]
