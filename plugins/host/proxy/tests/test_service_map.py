"""From Services and EndpointSlices to what a proxier must serve."""

from hyperkube_host.proxy.service_map import changed_services, node_port_hint, service_map

from hyperkube.hookspecs.proxier import Backend, ServicePortName


def service(name="web", **spec):
    ports = [{"name": "http", "port": 8080, "protocol": "TCP", "nodePort": 30080}]
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"clusterIP": "127.64.128.9", "clusterIPs": ["127.64.128.9"], "ports": ports, **spec},
    }


def endpoint_slice(*endpoints, owner="web", port=80):
    return {
        "metadata": {"namespace": "default", "labels": {"kubernetes.io/service-name": owner}},
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": port, "protocol": "TCP"}],
        "endpoints": list(endpoints),
    }


def endpoint(ip, node="here", **conditions):
    return {"addresses": [ip], "nodeName": node, "conditions": {"ready": True, **conditions}}


NAME = ServicePortName("default", "web", "http")


def test_ready_endpoints_become_backends_and_know_whether_they_are_local():
    ports = service_map([service()], [endpoint_slice(endpoint("127.64.0.2"), endpoint("127.64.0.3", "there"))], "here")

    assert ports[NAME].backends == (
        Backend("127.64.0.2", 80, True, True, "here"),
        Backend("127.64.0.3", 80, False, True, "there"),
    )
    assert ports[NAME].node_port == 30080


def test_an_unready_endpoint_is_left_out():
    ports = service_map([service()], [endpoint_slice(endpoint("127.64.0.2", ready=False))], "here")

    assert ports[NAME].backends == ()


def test_without_ready_ones_those_that_serve_while_terminating_are_used():
    leaving = endpoint("127.64.0.2", ready=False, serving=True, terminating=True)

    ports = service_map([service()], [endpoint_slice(leaving)], "here")

    assert [backend.ip for backend in ports[NAME].backends] == ["127.64.0.2"]


def test_headless_external_and_foreign_services_are_not_proxied():
    foreign = service("foreign")
    foreign["metadata"]["labels"] = {"service.kubernetes.io/service-proxy-name": "other"}
    services = [service("headless", clusterIP="None"), service("external", type="ExternalName"), foreign]

    assert service_map(services, [], "here") == {}


def test_affinity_has_three_hours_unless_it_says_otherwise():
    asked = {"clientIP": {"timeoutSeconds": 60}}

    plain = service_map([service(sessionAffinity="ClientIP")], [], "here")[NAME]
    short = service_map([service(sessionAffinity="ClientIP", sessionAffinityConfig=asked)], [], "here")[NAME]

    assert plain.affinity_seconds == 10800
    assert short.affinity_seconds == 60


def test_only_what_differs_counts_as_changed():
    before = service_map([service(), service("other")], [], "here")
    after = service_map([service(), service("other", sessionAffinity="ClientIP")], [], "here")

    assert changed_services(before, after) == {ServicePortName("default", "other", "http")}


def test_the_hint_names_the_node_port_or_how_to_get_one():
    assert node_port_hint(service(), "http") == "reach it at node port 30080"
    assert "type NodePort" in node_port_hint(service(ports=[{"name": "http", "port": 80}]), "http")
