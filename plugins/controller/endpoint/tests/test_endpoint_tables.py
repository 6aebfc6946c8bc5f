"""The endpoint controller, case by case as kubernetes ``endpoints_controller_test.go`` has them."""

import pytest
from hyperkube_controller.endpoint import MAX_ADDRESSES, Endpoint, decide, subsets_of
from hyperkube_lib.endpoints import EndpointPod

from hyperkube.kinds.resources import ENDPOINTS, PODS, SERVICES
from hyperkube.testing.controller_rig import ControllerRig

OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity"
MANAGED = {"endpoints.kubernetes.io/managed-by": "endpoint-controller"}
V4, V6 = "1.2.3.{}", "2000::{}"


def pod(number=0, *, ready=True, phase="Running", ips=(V4,), going=False, **status):
    addresses = [{"ip": address.format(4 + number)} for address in ips]
    meta = {"name": f"pod{number}", "namespace": "ns", "uid": f"u{number}", "labels": {"foo": "bar"}}
    ready_condition = {"type": "Ready", "status": "True" if ready else "False"}
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": meta | ({"deletionTimestamp": "2030-01-01T00:00:00Z"} if going else {}),
        "spec": {"containers": [{"ports": [{"name": "port0", "containerPort": 8080}]}]},
        "status": {
            "phase": phase,
            "podIP": addresses[0]["ip"],
            "podIPs": addresses,
            "conditions": [ready_condition],
            **status,
        },
    }


def listed_pod(*args, **more):
    """Return what endpoints are made of."""
    return EndpointPod(pod(*args, **more))


def service(labels=None, **spec):
    port = {"port": 80, "protocol": "TCP", "targetPort": 8080}
    return {
        "kind": "Service",
        "apiVersion": "v1",
        "metadata": {"name": "foo", "namespace": "ns", "labels": labels or {}},
        "spec": {"selector": {"foo": "bar"}, "clusterIP": "10.0.0.1", "ports": [port], **spec},
    }


def counts(subsets):
    return tuple(sum(len(subset.get(kind, ())) for subset in subsets) for kind in ("addresses", "notReadyAddresses"))


@pytest.mark.parametrize("protocol", ["TCP", "UDP", "SCTP"])
def test_protocols_are_taken_over(protocol):
    port = {"port": 80, "targetPort": 8080, "protocol": protocol, "appProtocol": "http"}

    (subset,) = subsets_of(service(ports=[port]), [listed_pod()])

    assert subset["ports"] == [{"port": 8080, "protocol": protocol, "appProtocol": "http"}]


def test_pods_and_ports_stand_together():
    ports = [{"name": f"port{at}", "port": 80 + at, "targetPort": 8080 + at, "protocol": "TCP"} for at in (0, 8)]

    (subset,) = subsets_of(service(ports=ports), [listed_pod(2), listed_pod(0), listed_pod(1)])

    assert [entry["targetRef"]["name"] for entry in subset["addresses"]] == ["pod0", "pod1", "pod2"]
    assert [(row["name"], row["port"]) for row in subset["ports"]] == [("port0", 8080), ("port8", 8088)]


@pytest.mark.parametrize("phase", ["Running", "Unknown", "Pending"])
@pytest.mark.parametrize(
    ("ready", "going", "tolerates", "listed"),
    [
        (True, False, False, (1, 0)),
        (True, True, False, (0, 0)),
        (False, False, False, (0, 1)),
        (False, False, True, (1, 0)),
        (False, True, True, (1, 0)),
    ],
)
def test_which_pods_are_listed(phase, ready, going, tolerates, listed):
    given = service(publishNotReadyAddresses=tolerates)

    assert counts(subsets_of(given, [listed_pod(ready=ready, phase=phase, going=going)])) == listed


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
@pytest.mark.parametrize("tolerates", [True, False])
def test_pods_that_ended_are_never_listed(phase, tolerates):
    assert subsets_of(service(publishNotReadyAddresses=tolerates), [listed_pod(ready=False, phase=phase)]) == []


@pytest.mark.parametrize(
    ("ips", "spec", "listed"),
    [
        ((V4,), {"clusterIP": "10.0.0.1"}, "1.2.3.4"),
        ((V4, V6), {"clusterIP": "10.0.0.1"}, "1.2.3.4"),
        ((V6, V4), {"clusterIP": "10.0.0.1"}, "1.2.3.4"),
        ((V4,), {"clusterIP": "None"}, "1.2.3.4"),
        ((V4, V6), {"clusterIP": "None", "ipFamilies": ["IPv4"]}, "1.2.3.4"),
        ((V4, V6), {"clusterIP": "None"}, "1.2.3.4"),
        ((V6, V4), {"clusterIP": "None"}, "2000::4"),
        ((V6,), {"clusterIP": "3000::1"}, "2000::4"),
        ((V4, V6), {"clusterIP": "3000::1"}, "2000::4"),
        ((V6,), {"clusterIP": "None"}, "2000::4"),
        ((V4, V6), {"clusterIP": "None", "ipFamilies": ["IPv6"]}, "2000::4"),
        ((V4,), {"clusterIP": "3000::1"}, None),
    ],
)
def test_an_address_is_of_the_services_family(ips, spec, listed):
    found = subsets_of(service(**spec), [listed_pod(ips=ips)])

    assert [entry["ip"] for subset in found for entry in subset["addresses"]] == ([listed] if listed else [])


def present(pods, **meta):
    subsets = subsets_of(service(), pods)
    meta = {"name": "foo", "namespace": "ns", "labels": MANAGED, "annotations": {}, "resourceVersion": "1", **meta}
    return {"kind": "Endpoints", "apiVersion": "v1", "metadata": meta, "subsets": subsets}


def test_what_is_as_it_should_be_is_left_so_whatever_versions_its_pods_have():
    pods = [listed_pod(0), listed_pod(1, ready=False)]
    found = present(pods)
    assert decide(service(), pods, found) == []

    for subset in found["subsets"]:
        for entry in (*subset["addresses"], *subset["notReadyAddresses"]):
            entry["targetRef"]["resourceVersion"] = "3"

    assert decide(service(), pods, found) == []


@pytest.mark.parametrize("change", ["gone", "ip", "not ready", "port"])
def test_what_is_not_is_written(change):
    pods = [listed_pod(0), listed_pod(1)]
    now = {
        "gone": [pods[0]],
        "ip": [pods[0], listed_pod(7)],
        "not ready": [pods[0], listed_pod(1, ready=False)],
        "port": pods,
    }[change]
    given = service(ports=[{"port": 80, "targetPort": 8082, "protocol": "TCP"}]) if change == "port" else service()

    (action,) = decide(given, now, present(pods))

    assert action.object["subsets"] == subsets_of(given, now)


@pytest.mark.parametrize("headless", [True, False])
def test_labels_are_the_services_own(headless):
    given = service({"baz": "blah"}, clusterIP="None" if headless else "10.0.0.1")
    label = {"service.kubernetes.io/headless": ""} if headless else {}

    (action,) = decide(
        given, [listed_pod()], present([listed_pod()], labels={"foo": "bar", "service.kubernetes.io/headless": ""})
    )

    assert action.object["metadata"]["labels"] == {"baz": "blah", **MANAGED, **label}


@pytest.mark.parametrize("ports", [[{"port": 80}], []])
@pytest.mark.parametrize("selector", [{"foo": "bar"}, None])
def test_an_external_name_gets_no_endpoints(ports, selector):
    rig = ControllerRig(Endpoint)
    rig.client.seed(SERVICES, service(type="ExternalName", selector=selector, ports=ports))
    rig.client.seed(PODS, pod())

    rig.settle()

    assert rig.client.objects(ENDPOINTS) == []


@pytest.mark.parametrize(
    ("said", "existing", "ready", "unready", "kept", "cut"),
    [
        (None, -MAX_ADDRESSES, -MAX_ADDRESSES, 0, (-MAX_ADDRESSES, 0), False),
        (None, -1, -3, 4, (-3, 3), True),
        (None, -1, 0, 10, (0, 0), True),
        ("truncated", -1, -1, 0, (-1, 0), False),
        ("warning", 0, 0, 0, (0, 0), False),
        ("warning", 1, 1, 0, (0, 0), True),
        ("truncated", 0, 0, 0, (0, 0), False),
        ("invalid", 1, 1, 0, (0, 0), True),
    ],
)
def test_the_annotation_tells_whether_addresses_are_cut(said, existing, ready, unready, kept, cut):
    pods = [listed_pod(number) for number in range(MAX_ADDRESSES + ready)]
    pods += [listed_pod(MAX_ADDRESSES + ready + number, ready=False) for number in range(unready)]
    annotations = {OVER_CAPACITY: said} if said else {}
    found = present([listed_pod(number) for number in range(MAX_ADDRESSES + existing)], annotations=annotations)

    after = next((action.object for action in decide(service(), pods, found)), found)

    assert counts(after["subsets"]) == (MAX_ADDRESSES + kept[0], kept[1])
    assert (after["metadata"].get("annotations") or {}).get(OVER_CAPACITY) == ("truncated" if cut else None)


def test_addresses_that_stay_cut_are_not_written_again():
    pods = [listed_pod(number) for number in range(MAX_ADDRESSES + 1)]
    (action,) = decide(service(), pods, present([]))

    assert decide(service(), pods, action.object) == []


def test_a_pod_that_is_ready_again_before_its_endpoints_are_seen_is_not_left_out():
    rig = ControllerRig(Endpoint)
    rig.client.seed(SERVICES, service())
    rig.client.seed(PODS, pod())
    rig.settle()
    (controller,) = rig.controllers
    pods, written = rig.plugins[0]._pods.informer, rig.plugins[0]._endpoints

    for status in ("False", "True"):
        ready = {"status": {"conditions": [{"type": "Ready", "status": status}]}}
        rig.client.patch(PODS, "pod0", ready, "ns", subresource="status")
        pods.refresh()
        controller.drain()  # while the endpoints' own cache is behind
    assert counts(rig.client.objects(ENDPOINTS)[0]["subsets"]) == (0, 1)
    written.refresh()
    rig.advance(1)

    assert counts(rig.client.objects(ENDPOINTS)[0]["subsets"]) == (1, 0)


def test_endpoints_that_are_deleted_come_back():
    rig = ControllerRig(Endpoint)
    rig.client.seed(SERVICES, service())
    rig.client.seed(PODS, pod())
    rig.settle()

    rig.client.delete(ENDPOINTS, "foo", "ns")
    rig.settle()

    assert counts(rig.client.objects(ENDPOINTS)[0]["subsets"]) == (1, 0)
