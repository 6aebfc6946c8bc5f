"""The endpoint controller: which addresses, under which ports."""

from hyperkube_controller.endpoint import Endpoint

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
