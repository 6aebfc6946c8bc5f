"""The endpoint controller: which addresses, under which ports."""

import pytest
from hyperkube_controller.endpoint import Endpoint, truncate
from hyperkube_lib.endpoints import LAST_CHANGE_TRIGGER_TIME, SPACING_SECONDS

from hyperkube.kinds.resources import ENDPOINTS, PODS, SERVICES
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

SERVICE = {
    "kind": "Service",
    "apiVersion": "v1",
    "metadata": {"name": "web", "namespace": "d", "labels": {"team": "a"}},
    "spec": {
        "selector": {"app": "web"},
        "clusterIP": "10.0.0.1",
        "ports": [{"name": "http", "port": 80, "targetPort": "http", "protocol": "TCP"}],
    },
}


def pod(name, ip="10.1.0.1", *, ready=True, port=8080, phase="Running", **meta):
    condition = {"type": "Ready", "status": "True" if ready else "False"}
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "d", "uid": f"u-{name}", "labels": {"app": "web"}, **meta},
        "spec": {"nodeName": "n1", "containers": [{"ports": [{"name": "http", "containerPort": port}]}]},
        "status": {"phase": phase, "podIP": ip, "podIPs": [{"ip": ip}], "conditions": [condition]},
    }


def rig(*pods, service=SERVICE):
    rig = ControllerRig(Endpoint)
    rig.client.seed(SERVICES, service)
    rig.client.seed(PODS, *pods)
    rig.settle()
    return rig


class TestContract(ControllerContract):
    plugin = Endpoint

    def populate(self, rig):
        rig.client.seed(SERVICES, SERVICE)
        rig.client.seed(PODS, pod("a"))


def test_ready_pods_and_others_are_told_apart():
    (endpoints,) = rig(pod("b", "10.1.0.2"), pod("a"), pod("c", "10.1.0.3", ready=False)).client.objects(ENDPOINTS)

    (subset,) = endpoints["subsets"]
    assert [entry["ip"] for entry in subset["addresses"]] == ["10.1.0.1", "10.1.0.2"]
    assert [entry["ip"] for entry in subset["notReadyAddresses"]] == ["10.1.0.3"]
    assert subset["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]
    assert subset["addresses"][0] == {
        "ip": "10.1.0.1",
        "nodeName": "n1",
        "targetRef": {"kind": "Pod", "namespace": "d", "name": "a", "uid": "u-a"},
    }
    assert endpoints["metadata"]["labels"] == {
        "team": "a",
        "endpoints.kubernetes.io/managed-by": "endpoint-controller",
    }


def test_a_port_name_may_mean_another_number_in_another_pod():
    (endpoints,) = rig(pod("a"), pod("b", "10.1.0.2", port=9090)).client.objects(ENDPOINTS)

    assert {subset["ports"][0]["port"]: len(subset["addresses"]) for subset in endpoints["subsets"]} == {
        8080: 1,
        9090: 1,
    }


def test_pods_that_ended_or_go_are_left_out():
    going = pod("b", "10.1.0.2", deletionTimestamp="2030-01-01T00:00:00Z", finalizers=["x"])

    (endpoints,) = rig(pod("a", phase="Succeeded"), going).client.objects(ENDPOINTS)

    assert "subsets" not in endpoints


def test_endpoints_follow_their_pods():
    world = rig(pod("a"))
    world.client.delete(PODS, "a", "d", options={"gracePeriodSeconds": 0})

    world.settle()

    assert "subsets" not in world.client.objects(ENDPOINTS)[0]


def test_endpoints_go_with_their_service():
    world = rig(pod("a"))
    world.client.delete(SERVICES, "web", "d")

    world.settle()

    assert world.client.objects(ENDPOINTS) == []


def test_a_service_without_a_selector_is_left_to_others():
    assert rig(service={**SERVICE, "spec": {"ports": []}}).client.objects(ENDPOINTS) == []


def test_a_headless_service_says_so():
    (endpoints,) = rig(service={**SERVICE, "spec": {**SERVICE["spec"], "clusterIP": "None"}}).client.objects(ENDPOINTS)

    assert endpoints["metadata"]["labels"]["service.kubernetes.io/headless"] == ""


def test_a_headless_service_without_ports_lists_its_pods():
    bare = {"selector": {"app": "web"}, "clusterIP": "None"}

    (headless,) = rig(pod("a"), service={**SERVICE, "spec": bare}).client.objects(ENDPOINTS)
    (other,) = rig(pod("a"), service={**SERVICE, "spec": {**bare, "clusterIP": "10.0.0.1"}}).client.objects(ENDPOINTS)

    assert [list(subset) for subset in headless["subsets"]] == [["addresses"]]
    assert "subsets" not in other


def test_ports_that_all_pods_offer_stay_together():
    named = [{"name": "http", "port": 80, "targetPort": 8000}, {"name": "debug", "port": 81, "targetPort": "http"}]
    service = {**SERVICE, "spec": {**SERVICE["spec"], "ports": named}}

    (endpoints,) = rig(pod("a"), pod("b", "10.1.0.2", port=9090), service=service).client.objects(ENDPOINTS)

    found = {
        tuple(port["port"] for port in subset["ports"]): [entry["ip"] for entry in subset["addresses"]]
        for subset in endpoints["subsets"]
    }
    assert found == {(8000,): ["10.1.0.1", "10.1.0.2"], (8080,): ["10.1.0.1"], (9090,): ["10.1.0.2"]}


@pytest.mark.parametrize(
    ("families", "ip"), [(["IPv4"], "10.1.0.1"), (["IPv6", "IPv4"], "fd00::1"), (None, "10.1.0.1")]
)
def test_the_first_family_of_the_service_counts(families, ip):
    dual = pod("a")
    dual["status"]["podIPs"].append({"ip": "fd00::1"})
    spec = SERVICE["spec"] | ({"ipFamilies": families} if families else {})

    (endpoints,) = rig(dual, service={**SERVICE, "spec": spec}).client.objects(ENDPOINTS)

    assert [entry["ip"] for entry in endpoints["subsets"][0]["addresses"]] == [ip]


def test_endpoints_tell_when_the_change_happened_that_they_answer_to():
    world = rig(pod("a", ready=False))
    (made,) = world.client.objects(ENDPOINTS)
    since = "2030-01-01T00:05:00Z"
    ready = [{"type": "Ready", "status": "True", "lastTransitionTime": since}]
    world.client.patch(PODS, "a", {"status": {"conditions": ready}}, "d", subresource="status")
    world.settle()
    (changed,) = world.client.objects(ENDPOINTS)

    world.client.seed(PODS, pod("b", "10.1.0.2"))
    world.settle()

    (last,) = world.client.objects(ENDPOINTS)
    created = world.client.objects(SERVICES)[0]["metadata"]["creationTimestamp"]
    assert made["metadata"]["annotations"] == {LAST_CHANGE_TRIGGER_TIME: created}
    assert changed["metadata"]["annotations"] == {LAST_CHANGE_TRIGGER_TIME: since}
    assert "annotations" not in last["metadata"]


def test_endpoints_written_by_hand_go_with_their_service_and_stay_without_one():
    plain = {**SERVICE, "spec": {"ports": []}}
    by_hand = {"kind": "Endpoints", "apiVersion": "v1", "metadata": {"name": "web", "namespace": "d"}}
    world = ControllerRig(Endpoint)
    world.client.seed(ENDPOINTS, by_hand, {**by_hand, "metadata": {"name": "other", "namespace": "d"}})
    world.client.seed(SERVICES, plain)
    world.settle()

    world.client.delete(SERVICES, "web", "d")
    world.settle()

    assert [each["metadata"]["name"] for each in world.client.objects(ENDPOINTS)] == ["other"]


def test_leftovers_go():
    managed = {"endpoints.kubernetes.io/managed-by": "endpoint-controller"}
    left = {"kind": "Endpoints", "apiVersion": "v1", "metadata": {"name": "x", "namespace": "d", "labels": managed}}
    world = ControllerRig(Endpoint)
    world.client.seed(ENDPOINTS, left)

    world.settle()

    assert world.client.objects(ENDPOINTS) == []


def test_more_than_a_thousand_addresses_are_cut_and_said_to_be():
    world = rig(*(pod(f"p{number}", f"10.1.{number // 250}.{number % 250}") for number in range(1, 1003)))
    (before,) = world.client.objects(ENDPOINTS)

    for number in (1, 2):
        world.client.delete(PODS, f"p{number}", "d", options={"gracePeriodSeconds": 0})
    world.advance(SPACING_SECONDS)

    (after,) = world.client.objects(ENDPOINTS)
    over_capacity = "endpoints.kubernetes.io/over-capacity"
    assert len(before["subsets"][0]["addresses"]) == len(after["subsets"][0]["addresses"]) == 1000
    assert before["metadata"]["annotations"][over_capacity] == "truncated"
    assert over_capacity not in after["metadata"].get("annotations", {})


@pytest.mark.parametrize(
    ("ready", "unready", "kept_ready", "kept_unready", "cut"),
    [
        ([500], [500], [500], [500], False),
        ([1001], [0], [1000], [0], True),
        ([1001], [500], [1000], [0], True),
        ([700], [400], [700], [300], True),
        ([600, 600], [10, 10], [500, 500], [0, 0], True),
        ([500, 501], [0, 500], [500, 500], [0, 0], True),
        ([400, 400], [150, 250], [400, 400], [75, 125], True),
    ],
)
def test_subsets_share_the_capacity(ready, unready, kept_ready, kept_unready, cut):
    subsets = [
        {"addresses": [{"ip": "a"}] * count, "notReadyAddresses": [{"ip": "b"}] * others}
        for count, others in zip(ready, unready, strict=True)
    ]

    kept, truncated = truncate(subsets)

    assert truncated is cut
    assert [len(subset.get("addresses", ())) for subset in kept] == kept_ready
    assert [len(subset.get("notReadyAddresses", ())) for subset in kept] == kept_unready
