"""The endpointslice controller: conditions, and as few writes as possible."""

from hyperkube_controller.endpointslice import Endpointslice

from hyperkube.kinds.resources import ENDPOINT_SLICES, NODES, PODS, SERVICES
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

SERVICE = {
    "kind": "Service",
    "apiVersion": "v1",
    "metadata": {"name": "web", "namespace": "d", "uid": "u-web"},
    "spec": {"selector": {"app": "web"}, "clusterIP": "10.0.0.1", "ports": [{"port": 80, "targetPort": 8080}]},
}
NODE = {"kind": "Node", "metadata": {"name": "n1", "labels": {"topology.kubernetes.io/zone": "z1"}}}


def pod(number, *, ready=True, **meta):
    ip = f"10.1.{number // 250}.{number % 250}"
    condition = {"type": "Ready", "status": "True" if ready else "False"}
    name = f"p{number}"
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "d", "uid": f"u-{name}", "labels": {"app": "web"}, **meta},
        "spec": {"nodeName": "n1"},
        "status": {"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}], "conditions": [condition]},
    }


def rig(*pods, service=SERVICE):
    rig = ControllerRig(Endpointslice)
    rig.client.seed(NODES, NODE)
    rig.client.seed(SERVICES, service)
    rig.client.seed(PODS, *pods)
    rig.settle()
    return rig


class TestContract(ControllerContract):
    plugin = Endpointslice

    def populate(self, rig):
        rig.client.seed(SERVICES, SERVICE)
        rig.client.seed(PODS, pod(1))


def test_a_slice_belongs_to_its_service():
    (slice_,) = rig(pod(1)).client.objects(ENDPOINT_SLICES)

    assert slice_["metadata"]["name"].startswith("web-")
    assert slice_["metadata"]["labels"] == {
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }
    assert slice_["metadata"]["ownerReferences"][0]["uid"] == "u-web"
    assert slice_["addressType"] == "IPv4"
    assert slice_["ports"] == [{"name": "", "port": 8080, "protocol": "TCP"}]
    assert slice_["endpoints"] == [
        {
            "addresses": ["10.1.0.1"],
            "conditions": {"ready": True, "serving": True, "terminating": False},
            "targetRef": {"kind": "Pod", "namespace": "d", "name": "p1", "uid": "u-p1"},
            "nodeName": "n1",
            "zone": "z1",
        }
    ]


def test_conditions_tell_serving_from_ready():
    going = pod(2, deletionTimestamp="2030-01-01T00:00:00Z", finalizers=["x"])

    (slice_,) = rig(pod(1, ready=False), going).client.objects(ENDPOINT_SLICES)

    assert [entry["conditions"] for entry in slice_["endpoints"]] == [
        {"ready": False, "serving": False, "terminating": False},
        {"ready": False, "serving": True, "terminating": True},
    ]


def test_a_slice_holds_at_most_a_hundred():
    world = rig(*(pod(number) for number in range(1, 251)))

    sizes = sorted(len(entry["endpoints"]) for entry in world.client.objects(ENDPOINT_SLICES))
    assert sizes == [50, 100, 100]


def test_a_change_of_one_pod_writes_one_slice():
    world = rig(*(pod(number) for number in range(1, 151)))
    before = len(world.client.actions)
    world.client.seed(PODS, pod(200))

    world.settle()

    assert [action[:2] for action in world.client.actions[before:]] == [("update", "endpointslices")]


def test_a_service_without_pods_has_one_empty_slice():
    (slice_,) = rig().client.objects(ENDPOINT_SLICES)

    assert slice_["endpoints"] == []


def test_slices_that_got_empty_are_deleted():
    world = rig(*(pod(number) for number in range(1, 151)))
    for number in range(1, 151):
        world.client.delete(PODS, f"p{number}", "d", options={"gracePeriodSeconds": 0})

    world.settle()

    (slice_,) = world.client.objects(ENDPOINT_SLICES)
    assert slice_["endpoints"] == []


def test_both_families_have_slices_of_their_own():
    service = {**SERVICE, "spec": {**SERVICE["spec"], "ipFamilies": ["IPv4", "IPv6"]}}
    dual = pod(1)
    dual["status"]["podIPs"].append({"ip": "fd00::1"})

    slices = rig(dual, service=service).client.objects(ENDPOINT_SLICES)

    assert {entry["addressType"]: entry["endpoints"][0]["addresses"] for entry in slices} == {
        "IPv4": ["10.1.0.1"],
        "IPv6": ["fd00::1"],
    }
