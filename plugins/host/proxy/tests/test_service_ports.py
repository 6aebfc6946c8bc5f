"""From Services and EndpointSlices to what a proxier must serve."""

import pytest
from hyperkube_host.proxy.change_tracker import ChangeTracker, ServiceKey
from hyperkube_host.proxy.service_ports import node_port_hint, service_ports, source_ranges

from hyperkube.hookspecs.proxier import Endpoint, ServicePortName

NAME = ServicePortName("default", "web", "http")


def service(name="web", status=None, **spec):
    ports = [{"name": "http", "port": 8080, "protocol": "TCP", "nodePort": 30080}]
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"clusterIP": "127.64.128.9", "clusterIPs": ["127.64.128.9"], "ports": ports, **spec},
        "status": status or {},
    }


def endpoint_slice(*endpoints, name="web-1", owner="web", port=80, family="IPv4", protocol="TCP"):
    return {
        "metadata": {"name": name, "namespace": "default", "labels": {"kubernetes.io/service-name": owner}},
        "addressType": family,
        "ports": [{"name": "http", "port": port, "protocol": protocol}],
        "endpoints": list(endpoints),
    }


def endpoint(ip, node="here", hints=None, **conditions):
    return {"addresses": [ip], "nodeName": node, "conditions": {"ready": True, **conditions}, "hints": hints}


def port_of(a_service, *slices, family="IPv4"):
    return next(iter(service_ports(a_service, slices, family, "here")), None)


def test_endpoints_know_whether_they_are_local_and_their_conditions():
    hints = {"forZones": [{"name": "a"}], "forNodes": [{"name": "here"}]}
    leaving = endpoint("127.64.0.4", ready=False, serving=True, terminating=True)

    port = port_of(
        service(), endpoint_slice(endpoint("127.64.0.3", "there"), endpoint("127.64.0.2", hints=hints), leaving)
    )

    assert port.endpoints == (
        Endpoint("127.64.0.2", 80, local=True, zone_hints=("a",), node_hints=("here",)),
        Endpoint("127.64.0.3", 80, local=False),
        Endpoint("127.64.0.4", 80, local=True, ready=False, serving=True, terminating=True),
    )
    assert port.node_port == 30080
    assert str(port.name) == "default/web:http"


@pytest.mark.parametrize("first", [True, False])
def test_an_address_in_two_slices_counts_once_and_as_ready(first):
    gone = endpoint("127.64.0.2", ready=False, terminating=True)
    slices = [endpoint_slice(gone, name="web-1"), endpoint_slice(endpoint("127.64.0.2"), name="web-2")]

    port = port_of(service(), *(slices if first else reversed(slices)))

    assert port.endpoints == (Endpoint("127.64.0.2", 80, local=True),)


def test_slices_of_another_family_or_protocol_are_none_of_a_ports():
    other = endpoint_slice(endpoint("127.64.0.2"), protocol="UDP")
    six = endpoint_slice(endpoint("fd00::1"), family="IPv6")

    assert port_of(service(), other, six).endpoints == ()


def test_each_family_has_its_own_addresses():
    dual = service(
        clusterIPs=["127.64.128.9", "fd00::9"], externalIPs=["192.0.2.1", "2001:db8::1"],
        status={"loadBalancer": {"ingress": [{"ip": "2001:db8::2"}, {"ip": "2001:db8::3", "ipMode": "Proxy"}]}},
    )  # fmt: skip

    four, six = port_of(dual), port_of(dual, family="IPv6")

    assert (four.cluster_ip, four.external_ips, four.load_balancer_ips) == ("127.64.128.9", ("192.0.2.1",), ())
    assert (six.cluster_ip, six.external_ips, six.load_balancer_ips) == ("fd00::9", ("2001:db8::1",), ("2001:db8::2",))
    assert port_of(service(), family="IPv6") is None


def test_an_address_is_known_by_one_form_however_it_was_written():
    ingress = [{"ip": "2001:DB8::2"}, {"ip": "2001:db8:0::2"}]
    six = port_of(
        service(
            clusterIPs=["fd00:0:0::9"], externalIPs=["2001:db8:0::1", "2001:db8::1", "2001:db8::zz", "192.0.2.1"],
            status={"loadBalancer": {"ingress": ingress}},
        ),
        family="IPv6",
    )  # fmt: skip

    assert (six.cluster_ip, six.external_ips, six.load_balancer_ips) == ("fd00::9", ("2001:db8::1",), ("2001:db8::2",))


def test_the_external_policy_counts_where_there_is_something_external():
    inside = port_of(service(type="ClusterIP", externalTrafficPolicy="Local"))
    outside = port_of(service(type="LoadBalancer", externalTrafficPolicy="Local", healthCheckNodePort=32001))
    by_node_port = port_of(service(type="NodePort", externalTrafficPolicy="Local", healthCheckNodePort=32001))

    assert not inside.external_local
    assert (outside.external_local, outside.health_check_node_port) == (True, 32001)
    assert (by_node_port.external_local, by_node_port.health_check_node_port) == (True, 0)


@pytest.mark.parametrize(
    ("ranges", "family", "wanted"),
    [
        (["10.0.0.1/8", " 2001:db8::/32", "nonsense"], "IPv4", ("10.0.0.0/8",)),
        (["10.0.0.0/8", "2001:db8::/32"], "IPv6", ("2001:db8::/32",)),
        (["10.0.0.0/8", "0.0.0.0/0"], "IPv4", ()),
    ],
)
def test_source_ranges_are_networks_of_the_family_unless_all_may(ranges, family, wanted):
    assert source_ranges(ranges, family) == wanted


def test_headless_external_and_foreign_services_are_not_proxied():
    foreign = service("foreign")
    foreign["metadata"]["labels"] = {"service.kubernetes.io/service-proxy-name": "other"}

    for each in (service("headless", clusterIP="None"), service("external", type="ExternalName"), foreign):
        assert port_of(each) is None


def test_affinity_has_three_hours_unless_it_says_otherwise():
    asked = {"clientIP": {"timeoutSeconds": 60}}

    assert port_of(service(sessionAffinity="ClientIP")).affinity_seconds == 10800
    assert port_of(service(sessionAffinity="ClientIP", sessionAffinityConfig=asked)).affinity_seconds == 60


def test_changes_are_kept_until_they_are_applied():
    objects = {"web": service(), "other": service("other")}
    tracker = ChangeTracker("IPv4", "here")

    def look(*names):
        keys = [ServiceKey("default", name) for name in names]
        tracker.update(keys, lambda _namespace, name: objects.get(name), lambda _key: [])
        return {name.name for name in tracker.changed}

    assert look("web", "other") == {"web", "other"}
    tracker.applied()
    assert look("web", "other") == set()
    objects["other"] = service("other", sessionAffinity="ClientIP")
    del objects["web"]
    assert look("other") == {"other"}
    assert look("web") == {"other", "web"}
    assert [name.name for name in tracker.services] == ["other"]


def test_the_hint_names_the_node_port_or_how_to_get_one():
    assert node_port_hint(service(), "http") == "reach it at node port 30080"
    assert "type NodePort" in node_port_hint(service(ports=[{"name": "http", "port": 80}]), "http")
