"""The writes of a sync: their order, what one that is refused holds up, and what is told of it.

Source of the cases: kubernetes ``staging/src/k8s.io/endpointslice/reconciler_test.go`` (TestReconcilerFinalize).
"""

import pytest
from hyperkube_controller.endpointslice import Endpointslice
from hyperkube_controller.endpointslice.metrics import PREFIX
from hyperkube_controller.endpointslice.reconciler import CONTROLLER
from hyperkube_lib.endpoints import MANAGED_BY, SERVICE_NAME, SPACING_SECONDS
from prometheus_client import CollectorRegistry

from hyperkube.kinds.resources import ENDPOINT_SLICES, EVENTS, NODES, PODS, SERVICES
from hyperkube.machinery.errors import Forbidden, InternalError
from hyperkube.testing.controller_rig import ControllerRig

GOING = {"deletionTimestamp": "2030-01-01T00:00:00Z", "finalizers": ["x"]}
OTHER_PORT = [{"port": 80, "targetPort": 9}]


def service(*, families=("IPv4",), ports=None, **meta):
    spec = {"selector": {"app": "web"}, "clusterIP": "10.0.0.1", "ipFamilies": list(families)}
    spec["ports"] = ports or [{"port": 80, "targetPort": 8080}]
    meta = {"name": "web", "namespace": "d", "uid": "u-web", **meta}
    return {"kind": "Service", "apiVersion": "v1", "metadata": meta, "spec": spec}


def pod(number):
    status = {"phase": "Running", "podIPs": [{"ip": f"10.1.0.{number}"}, {"ip": f"fd00::{number}"}]}
    status["conditions"] = [{"type": "Ready", "status": "True"}]
    meta = {"name": f"p{number}", "namespace": "d", "uid": f"u{number}", "labels": {"app": "web"}}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": {"nodeName": "n1"}, "status": status}


def slice_of(name, *, port=8080, family="IPv4", uid="u-web"):
    owner = {"apiVersion": "v1", "kind": "Service", "name": "web", "uid": uid, "controller": True}
    labels = {SERVICE_NAME: "web", MANAGED_BY: CONTROLLER}
    meta = {"name": name, "namespace": "d", "labels": labels, "ownerReferences": [owner]}
    ports = [{"name": "", "port": port, "protocol": "TCP"}]
    return {"metadata": meta, "addressType": family, "ports": ports, "endpoints": []}


def world(of, *slices, failures=(), pods=(1,)):
    rig = ControllerRig(Endpointslice)
    rig.client.seed(NODES, {"kind": "Node", "metadata": {"name": "n1"}})
    rig.client.seed(SERVICES, of)
    rig.client.seed(PODS, *map(pod, pods))
    rig.client.seed(ENDPOINT_SLICES, *slices)
    for verb, error in failures:
        rig.client.fail_next(verb, "endpointslices", error)
    rig.settle()
    return rig


def writes(rig):
    return [action[0] for action in rig.client.actions if action[1] == "endpointslices"]


def families(rig):
    return [each["addressType"] for each in rig.client.objects(ENDPOINT_SLICES)]


def events(rig):
    rig.plugins[0]._recorder.flush()
    return [event["message"] for event in rig.client.objects(EVENTS)]


def metric(rig, name, **labels):
    registry = CollectorRegistry()
    registry.register(rig.plugins[0]._metrics)
    return registry.get_sample_value(PREFIX + name, labels)


@pytest.mark.parametrize(
    ("meta", "slices", "made"),
    [
        ({}, [slice_of("web-a", uid="gone")], ["create", "delete"]),
        (GOING, [slice_of("web-a", uid="gone")], ["delete"]),
        ({}, [slice_of("web-a", port=7)], ["update"]),
        (GOING, [slice_of("web-a", port=7)], ["update"]),
        (GOING, [slice_of("web-a"), slice_of("web-b", port=7)], ["update", "delete"]),
    ],
    ids=["create-first", "none-is-created", "overwritten", "overwritten-in-the-end", "updated-and-deleted"],
)
def test_a_service_that_goes_gets_no_new_slices_and_the_others_change(meta, slices, made):
    assert writes(world(service(**meta), *slices)) == made


@pytest.mark.parametrize(
    ("verb", "slices", "text"),
    [
        ("create", [], "failed to create EndpointSlice for Service d/web: no"),
        ("update", [slice_of("web-a")], "failed to update web-a EndpointSlice for Service d/web: no"),
        ("delete", [slice_of("web-a", uid="gone")], "failed to delete web-a EndpointSlice for Service d/web: no"),
        ("delete", [slice_of("web-a", family="IPv6")], "error deleting web-a EndpointSlice for Service d/web: no"),
    ],
    ids=["create", "update", "delete", "other-family"],
)
def test_a_refusal_is_told_and_tried_again(verb, slices, text):
    rig = world(service(), *slices, failures=[(verb, InternalError("no"))])
    told = events(rig)

    rig.advance(2)

    assert told == [f"Error updating Endpoint Slices for Service d/web: {text}"]
    assert families(rig) == ["IPv4"]
    assert metric(rig, "syncs", result="error") == 1


def test_a_refusal_of_one_address_type_does_not_hold_up_the_other():
    rig = world(service(families=["IPv4", "IPv6"]), failures=[("create", InternalError("no"))])

    told = "failed to create EndpointSlice for Service d/web: no"
    assert families(rig) == ["IPv6"]
    rig.advance(1)
    assert families(rig) == ["IPv6", "IPv4"], "the one that was not refused came first"
    assert events(rig) == [f"Error updating Endpoint Slices for Service d/web: {told}"]


def test_a_namespace_that_goes_is_no_failure():
    going = Forbidden("is being terminated", details={"causes": [{"reason": "NamespaceTerminating"}]})

    rig = world(service(), failures=[("create", going)])

    assert events(rig) == []
    assert metric(rig, "syncs", result="success") == 1
    assert metric(rig, "syncs", result="error") is None


def test_each_address_type_is_a_sync_of_its_own_in_the_metrics():
    rig = world(service(families=["IPv4", "IPv6"]))

    changed = "endpointslices_changed_per_sync"
    syncs = metric(rig, "syncs", result="success")
    assert metric(rig, f"{changed}_sum", topology="Disabled", traffic_distribution="") == 2
    assert metric(rig, f"{changed}_count", topology="Disabled", traffic_distribution="") == 2 * syncs
    assert metric(rig, "changes", operation="create") == 2
    assert metric(rig, "endpoints_added_per_sync_sum") == 2


def test_endpoints_that_go_are_counted():
    rig = world(service(), pods=range(1, 21))
    for number in range(1, 11):
        rig.client.delete(PODS, f"p{number}", "d", options={"gracePeriodSeconds": 0})

    rig.advance(SPACING_SECONDS)

    assert metric(rig, "endpoints_desired") == 10
    assert metric(rig, "endpoints_removed_per_sync_sum") == 10
    assert metric(rig, "changes", operation="update") == 1
