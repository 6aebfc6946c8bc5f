"""The endpointslice controller: conditions, and as few writes as possible."""

import pytest
from hyperkube_controller.endpointslice import Endpointslice
from hyperkube_controller.endpointslice.controller import MIN_SLICE_DELAY
from hyperkube_controller.endpointslice.reconciler import CONTROLLER
from hyperkube_lib.endpoints import HEADLESS, LAST_CHANGE_TRIGGER_TIME, MANAGED_BY, SERVICE_NAME, SPACING_SECONDS

from hyperkube.kinds.resources import ENDPOINT_SLICES, EVENTS, NODES, PODS, SERVICES
from hyperkube.machinery.errors import InternalError, UsageError
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

SERVICE = {
    "kind": "Service",
    "apiVersion": "v1",
    "metadata": {"name": "web", "namespace": "d", "uid": "u-web"},
    "spec": {"selector": {"app": "web"}, "clusterIP": "10.0.0.1", "ports": [{"port": 80, "targetPort": 8080}]},
}


def node(name, zone, *, cpu="4", ready="True", **labels):
    status = {"conditions": [{"type": "Ready", "status": ready}], "allocatable": {"cpu": cpu}}
    labels = labels | ({"topology.kubernetes.io/zone": zone} if zone else {})
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


NODE = node("n1", "z1")


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


def of_node(pod, name):
    return {**pod, "spec": {**pod["spec"], "nodeName": name}}


def names(slice_):
    return [entry["targetRef"]["name"] for entry in slice_["endpoints"]]


def flush(world):
    world.plugins[0]._recorder.flush()
    return sorted((event["reason"], event["message"]) for event in world.client.objects(EVENTS))


class TestContract(ControllerContract):
    plugin = Endpointslice

    def populate(self, rig):
        rig.client.seed(NODES, NODE)
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

    world.advance(SPACING_SECONDS)

    assert [action[:2] for action in world.client.actions[before:]] == [("update", "endpointslices")]


def test_a_slice_is_not_updated_again_before_its_last_update_is_seen():
    world = rig(pod(1))
    (controller,) = world.controllers
    pods, slices = world.plugins[0]._pods.informer, world.informers.informer(ENDPOINT_SLICES)
    before = len(world.client.actions)

    for number in (2, 3):
        world.client.seed(PODS, pod(number))
        pods.refresh()
        controller.drain()  # while the slices' own cache is behind
    assert names(world.client.objects(ENDPOINT_SLICES)[0]) == ["p1", "p2"]
    slices.refresh()
    controller.drain()

    assert names(world.client.objects(ENDPOINT_SLICES)[0]) == ["p1", "p2", "p3"]
    assert [action[:2] for action in world.client.actions[before:]] == [("update", "endpointslices")] * 2


def test_an_own_update_is_no_reason_to_look_again_and_one_of_others_is():
    world = rig(pod(1))
    world.advance(MIN_SLICE_DELAY)
    world.client.seed(PODS, pod(2))
    world.settle()
    looked = []
    world.plugins[0]._metrics.synced = looked.append
    world.advance(MIN_SLICE_DELAY)
    assert looked == []

    (slice_,) = world.client.objects(ENDPOINT_SLICES)
    world.client.update(ENDPOINT_SLICES, {**slice_, "endpoints": []}, "d")
    world.settle()
    world.advance(MIN_SLICE_DELAY)

    assert looked == ["success"]
    assert names(world.client.objects(ENDPOINT_SLICES)[0]) == ["p1", "p2"]


def test_a_service_without_pods_has_one_empty_slice():
    (slice_,) = rig().client.objects(ENDPOINT_SLICES)

    assert slice_["endpoints"] == slice_["ports"] == []


def test_slices_that_got_empty_are_deleted():
    world = rig(*(pod(number) for number in range(1, 151)))
    for number in range(1, 151):
        world.client.delete(PODS, f"p{number}", "d", options={"gracePeriodSeconds": 0})

    world.advance(SPACING_SECONDS)

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


def test_a_pod_of_an_unknown_node_waits_for_it_and_the_others_do_not():
    world = rig(pod(1), of_node(pod(2), "n2"))
    (before,) = world.client.objects(ENDPOINT_SLICES)

    world.client.seed(NODES, node("n2", "z2"))
    world.advance(10)

    assert names(before) == ["p1"]
    assert flush(world) == [
        (
            "FailedToUpdateEndpointSlices",
            "Error updating Endpoint Slices for Service d/web: skipping Pod p2 for Service d/web: Node n2 Not Found",
        )
    ]
    assert names(world.client.objects(ENDPOINT_SLICES)[0]) == ["p1", "p2"]


def test_a_service_that_publishes_all_lists_pods_of_unknown_nodes():
    service = {**SERVICE, "spec": {**SERVICE["spec"], "publishNotReadyAddresses": True}}

    (slice_,) = rig(of_node(pod(1, ready=False), "gone"), service=service).client.objects(ENDPOINT_SLICES)

    assert slice_["endpoints"][0]["conditions"]["ready"] is True
    assert "zone" not in slice_["endpoints"][0]


def test_slices_of_an_earlier_service_of_the_name_are_deleted_not_reused():
    world = rig()
    (present,) = world.client.objects(ENDPOINT_SLICES)
    old = {**present, "metadata": {**present["metadata"], "name": "web-old", "uid": "u-old"}}
    old["metadata"]["ownerReferences"] = [{**present["metadata"]["ownerReferences"][0], "uid": "u-earlier"}]
    world.client.seed(ENDPOINT_SLICES, old)

    world.advance(1)

    assert [each["metadata"]["name"] for each in world.client.objects(ENDPOINT_SLICES)] == [present["metadata"]["name"]]


def test_changes_of_slices_are_answered_once_a_second_later():
    world = rig()
    name = world.client.objects(ENDPOINT_SLICES)[0]["metadata"]["name"]
    written = len(world.client.actions)

    for port in (7, 8):
        world.client.patch(ENDPOINT_SLICES, name, {"ports": [{"port": port}]}, "d")
        world.settle()
    before = [action for action in world.client.actions[written:] if action[0] == "update"]
    world.advance(1)

    assert before == []
    assert [action[0] for action in world.client.actions[written:]].count("update") == 1


def test_a_service_that_is_refused_is_dropped_after_fifteen_retries():
    world = rig(service={**SERVICE, "metadata": {**SERVICE["metadata"], "labels": {"x": "y"}}})
    queue = world.plugins[0]._loop.queue
    world.client.delete(ENDPOINT_SLICES, world.client.objects(ENDPOINT_SLICES)[0]["metadata"]["name"], "d")
    for _ in range(17):
        world.client.fail_next("create", "endpointslices", InternalError("no"))
    failures = []
    world.informers.refresh()
    for _ in range(17):
        world.clock.advance(1000)
        world.controllers[0].drain()
        failures.append(queue.failures("d/web"))

    world.client.patch(SERVICES, "web", {"metadata": {"labels": {"x": "z"}}}, "d")
    world.settle()

    assert failures == [*range(1, 16), 0, 0]
    assert queue.failures("d/web") == 1, "a change begins the count anew"


def test_a_placeholder_becomes_the_slice_of_the_first_pods():
    world = rig()
    (placeholder,) = world.client.objects(ENDPOINT_SLICES)
    world.client.seed(PODS, pod(1))

    world.settle()

    (slice_,) = world.client.objects(ENDPOINT_SLICES)
    assert slice_["metadata"]["name"] == placeholder["metadata"]["name"]
    assert slice_["ports"] == [{"name": "", "port": 8080, "protocol": "TCP"}]


def test_slices_bear_the_labels_of_their_service():
    service = {**SERVICE, "metadata": {**SERVICE["metadata"], "labels": {"team": "a", HEADLESS: "", MANAGED_BY: "me"}}}
    world = rig(pod(1), service=service)
    (before,) = world.client.objects(ENDPOINT_SLICES)

    world.client.patch(SERVICES, "web", {"metadata": {"labels": {"team": "b"}}}, "d")
    world.settle()

    (after,) = world.client.objects(ENDPOINT_SLICES)
    assert before["metadata"]["labels"] == {"team": "a", SERVICE_NAME: "web", MANAGED_BY: CONTROLLER}
    assert after["metadata"]["labels"] == {"team": "b", SERVICE_NAME: "web", MANAGED_BY: CONTROLLER}


def test_a_service_without_a_cluster_address_marks_its_slices():
    service = {**SERVICE, "spec": {**SERVICE["spec"], "clusterIP": "None"}}

    slices = rig(pod(1), service=service).client.objects(ENDPOINT_SLICES)

    assert {each["addressType"]: each["metadata"]["labels"][HEADLESS] for each in slices} == {"IPv4": "", "IPv6": ""}


def test_no_slice_is_made_for_a_service_that_is_being_deleted():
    going = {"deletionTimestamp": "2030-01-01T00:00:00Z", "finalizers": ["x"]}

    world = rig(pod(1), service={**SERVICE, "metadata": {**SERVICE["metadata"], **going}})

    assert world.client.objects(ENDPOINT_SLICES) == []


def test_pods_with_other_ports_have_slices_of_their_own():
    ports = [{"name": "http", "port": 80, "targetPort": "http", "protocol": "TCP"}]
    service = {**SERVICE, "spec": {**SERVICE["spec"], "ports": ports}}
    one, two = pod(1), pod(2)
    for each, number in ((one, 8080), (two, 8081)):
        each["spec"]["containers"] = [{"ports": [{"name": "http", "containerPort": number}]}]

    slices = rig(one, two, service=service).client.objects(ENDPOINT_SLICES)

    assert {each["ports"][0]["port"]: names(each) for each in slices} == {8080: ["p1"], 8081: ["p2"]}


def test_an_ended_pod_is_not_listed():
    ended = pod(1)
    ended["status"]["phase"] = "Succeeded"

    (slice_,) = rig(ended).client.objects(ENDPOINT_SLICES)

    assert slice_["endpoints"] == []


def test_slices_tell_when_the_change_happened_that_they_answer_to():
    world = rig(pod(1, ready=False))
    (made,) = world.client.objects(ENDPOINT_SLICES)
    since = "2030-01-01T00:05:00Z"
    conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": since}]
    world.client.patch(PODS, "p1", {"status": {"conditions": conditions}}, "d", subresource="status")

    world.settle()

    (changed,) = world.client.objects(ENDPOINT_SLICES)
    created = world.client.objects(SERVICES)[0]["metadata"]["creationTimestamp"]
    assert made["metadata"]["annotations"] == {LAST_CHANGE_TRIGGER_TIME: created}
    assert changed["metadata"]["annotations"] == {LAST_CHANGE_TRIGGER_TIME: since}


def test_changes_of_pods_are_gathered_for_the_batch_period():
    world = ControllerRig(Endpointslice, settings={"endpointslice_updates_batch_period": 30.0})
    world.client.seed(NODES, NODE)
    world.client.seed(SERVICES, SERVICE)
    world.settle()
    world.client.seed(PODS, pod(1))
    world.settle()
    (before,) = world.client.objects(ENDPOINT_SLICES)

    world.advance(30)

    assert before["endpoints"] == []
    assert names(world.client.objects(ENDPOINT_SLICES)[0]) == ["p1"]


@pytest.mark.parametrize(
    ("flag", "value", "message"),
    [
        ("concurrent-service-endpoint-syncs", 0, "must not be less than 1, but got 0"),
        ("concurrent-service-endpoint-syncs", 51, "must not be more than 50, but got 51"),
        ("max-endpoints-per-slice", 0, "must not be less than 1, but got 0"),
        ("max-endpoints-per-slice", 1001, "must not be more than 1000, but got 1001"),
    ],
)
def test_a_flag_out_of_its_bounds_is_refused(flag, value, message):
    with pytest.raises(UsageError, match=f"^{flag} {message}$"):
        ControllerRig(Endpointslice, settings={flag.replace("-", "_"): value})
