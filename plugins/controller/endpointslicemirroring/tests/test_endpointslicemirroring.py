"""The endpointslicemirroring controller: slices say what hand-written endpoints say."""

import pytest
from hyperkube_controller.endpointslicemirroring import Endpointslicemirroring

from hyperkube.kinds.resources import ENDPOINT_SLICES, ENDPOINTS, EVENTS, SERVICES
from hyperkube.machinery.errors import UsageError
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

PORTS = [{"name": "sql", "port": 5432, "protocol": "TCP"}]


def service(**spec):
    return {"kind": "Service", "apiVersion": "v1", "metadata": {"name": "db", "namespace": "d"}, "spec": spec}


def endpoints(*addresses, labels=None, annotations=None):
    meta = {"name": "db", "namespace": "d", "labels": labels or {}, "annotations": annotations or {}}
    rows = [{"ip": address} for address in addresses or ["192.0.2.1"]]
    return {"kind": "Endpoints", "apiVersion": "v1", "metadata": meta, "subsets": [{"addresses": rows, "ports": PORTS}]}


class TestContract(ControllerContract):
    plugin = Endpointslicemirroring

    def populate(self, rig):
        rig.client.seed(SERVICES, service())
        rig.client.seed(ENDPOINTS, endpoints())


def run(written, of=None):
    rig = ControllerRig(Endpointslicemirroring)
    rig.client.seed(SERVICES, of or service())
    rig.client.seed(ENDPOINTS, written)
    rig.settle()
    return rig


def test_a_slice_is_made():
    (made,) = run(endpoints(labels={"team": "a"})).client.objects(ENDPOINT_SLICES)

    assert made["addressType"] == "IPv4"
    assert made["ports"] == PORTS
    assert made["endpoints"] == [{"addresses": ["192.0.2.1"], "conditions": {"ready": True}}]
    assert made["metadata"]["labels"] == {
        "team": "a",
        "kubernetes.io/service-name": "db",
        "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
    }
    assert made["metadata"]["ownerReferences"][0]["kind"] == "Endpoints"


def test_each_family_has_its_own():
    made = run(endpoints("192.0.2.1", "2001:db8::1")).client.objects(ENDPOINT_SLICES)

    assert sorted(each["addressType"] for each in made) == ["IPv4", "IPv6"]


def test_a_slice_follows():
    rig = run(endpoints())
    (before,) = rig.client.objects(ENDPOINT_SLICES)

    rig.client.patch(ENDPOINTS, "db", {"subsets": [{"notReadyAddresses": [{"ip": "192.0.2.9"}], "ports": PORTS}]}, "d")
    rig.settle()

    (after,) = rig.client.objects(ENDPOINT_SLICES)
    assert after["metadata"]["name"] == before["metadata"]["name"]
    assert after["endpoints"] == [{"addresses": ["192.0.2.9"], "conditions": {"ready": False}}]


@pytest.mark.parametrize(
    ("written", "of"),
    [
        (endpoints(), service(selector={"app": "db"})),
        (endpoints(labels={"endpointslice.kubernetes.io/skip-mirror": "true"}), service()),
        (endpoints(annotations={"control-plane.alpha.kubernetes.io/leader": "me"}), service()),
    ],
    ids=["selector", "skip", "leader"],
)
def test_others_have_none(written, of):
    assert run(written, of).client.objects(ENDPOINT_SLICES) == []


def test_slices_go_when_the_service_selects_pods():
    rig = run(endpoints())

    rig.client.patch(SERVICES, "db", {"spec": {"selector": {"app": "db"}}}, "d")
    rig.settle()

    assert rig.client.objects(ENDPOINT_SLICES) == []


def flush(rig):
    rig.plugins[0]._recorder.flush()
    return [(event["reason"], event["message"]) for event in rig.client.objects(EVENTS)]


def subset(*addresses, unready=(), port=5432):
    rows, others = ([{"ip": address} for address in group] for group in (addresses, unready))
    return {"addresses": rows, "notReadyAddresses": others, "ports": [{"port": port}]}


def test_ports_without_a_name_are_shown_with_an_empty_one():
    (made,) = run({**endpoints(), "subsets": [subset("192.0.2.1")]}).client.objects(ENDPOINT_SLICES)

    assert made["ports"] == [{"name": "", "port": 5432, "protocol": "TCP"}]


def test_subsets_with_equal_ports_are_one_slice():
    subsets = [subset("192.0.2.1"), subset("192.0.2.2"), subset("192.0.2.3", port=1)]

    made = run({**endpoints(), "subsets": subsets}).client.objects(ENDPOINT_SLICES)

    assert {each["ports"][0]["port"]: len(each["endpoints"]) for each in made} == {5432: 2, 1: 1}


def test_ready_addresses_come_first_and_the_rest_is_reported():
    rig = ControllerRig(Endpointslicemirroring, settings={"mirroring_max_endpoints_per_subset": 2})
    rig.client.seed(SERVICES, service())
    subsets = [subset("192.0.2.1", unready=("2001:db8::1", "192.0.2.2", "192.0.2.3"))]
    rig.client.seed(ENDPOINTS, {**endpoints(), "subsets": subsets})

    rig.settle()

    made = {each["addressType"]: each["endpoints"] for each in rig.client.objects(ENDPOINT_SLICES)}
    assert made == {
        "IPv4": [{"addresses": ["192.0.2.1"], "conditions": {"ready": True}}],
        "IPv6": [{"addresses": ["2001:db8::1"], "conditions": {"ready": False}}],
    }
    text = "A max of 2 addresses can be mirrored to EndpointSlices per Endpoints subset. 2 addresses were skipped"
    assert flush(rig) == [("TooManyAddressesToMirror", text)]


def test_what_is_no_address_is_reported_and_left_out():
    rig = run({**endpoints(), "subsets": [subset("192.0.2.1", "300.1.1.1")]})

    assert [len(each["endpoints"]) for each in rig.client.objects(ENDPOINT_SLICES)] == [1]
    text = "Skipped 1 invalid IP addresses when mirroring to EndpointSlices"
    assert flush(rig) == [("InvalidIPAddress", text)]


def test_annotations_are_shown_but_for_the_ones_of_other_tools():
    hidden = {
        "endpoints.kubernetes.io/last-change-trigger-time": "2030-01-01T00:00:00Z",
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
    }
    rig = run(endpoints(annotations={"team": "a", **hidden}))
    (made,) = rig.client.objects(ENDPOINT_SLICES)

    rig.client.patch(ENDPOINTS, "db", {"metadata": {"annotations": {"team": "b"}}}, "d")
    rig.settle()

    (changed,) = rig.client.objects(ENDPOINT_SLICES)
    assert made["metadata"]["annotations"] == {"team": "a"}
    assert changed["metadata"]["annotations"] == {"team": "b"}


def test_slices_go_with_the_endpoints():
    rig = run(endpoints())

    rig.client.delete(ENDPOINTS, "db", "d")
    rig.settle()

    assert rig.client.objects(ENDPOINT_SLICES) == []


def test_a_slice_taken_from_the_controller_is_made_again():
    rig = run(endpoints())
    (before,) = rig.client.objects(ENDPOINT_SLICES)

    label = {"endpointslice.kubernetes.io/managed-by": "me"}
    rig.client.patch(ENDPOINT_SLICES, before["metadata"]["name"], {"metadata": {"labels": label}}, "d")
    rig.settle()

    assert len(rig.client.objects(ENDPOINT_SLICES)) == 2


TRIGGER = {"endpoints.kubernetes.io/last-change-trigger-time": "date"}


@pytest.mark.parametrize(
    ("labels", "annotations"),
    [
        ({}, {}),
        ({}, {"foo": "bar"}),
        ({"foo": "bar"}, {}),
        ({"foo": "bar"}, {"foo2": "bar2"}),
        ({"foo": "bar"}, {"foo2": "bar2", **TRIGGER}),
    ],
    ids=["plain", "annotations", "labels", "both", "trigger-time"],
)
def test_labels_and_annotations_are_shown(labels, annotations):
    """Source: kubernetes ``pkg/controller/endpointslicemirroring/utils_test.go``."""
    written = endpoints(labels=labels, annotations=annotations)
    (made,) = run(written).client.objects(ENDPOINT_SLICES)

    meta = made["metadata"]
    managed = {
        "kubernetes.io/service-name": "db",
        "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
    }
    assert meta["labels"] == {**labels, **managed}
    assert meta.get("annotations", {}) == {key: annotations[key] for key in annotations if key not in TRIGGER}
    assert meta["name"].startswith("db-")
    (owner,) = meta["ownerReferences"]
    assert (owner["apiVersion"], owner["kind"], owner["name"], owner["controller"]) == ("v1", "Endpoints", "db", True)
    assert written["metadata"]["labels"] == labels


def test_what_is_said_of_an_address_is_shown():
    target = {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": "foo"}
    address = {"ip": "10.1.2.3", "hostname": "foo", "nodeName": "node-abc", "targetRef": target}
    (made,) = run({**endpoints(), "subsets": [{"addresses": [address], "ports": PORTS}]}).client.objects(
        ENDPOINT_SLICES
    )

    assert made["endpoints"] == [
        {
            "addresses": ["10.1.2.3"],
            "hostname": "foo",
            "conditions": {"ready": True},
            "targetRef": target,
            "nodeName": "node-abc",
        }
    ]


@pytest.mark.parametrize(
    ("flag", "value", "message"),
    [
        ("mirroring-concurrent-service-endpoint-syncs", 0, "must not be less than 1, but got 0"),
        ("mirroring-max-endpoints-per-subset", 1001, "must not be more than 1000, but got 1001"),
    ],
)
def test_a_flag_out_of_its_bounds_is_refused(flag, value, message):
    with pytest.raises(UsageError, match=f"^{flag} {message}$"):
        ControllerRig(Endpointslicemirroring, settings={flag.replace("-", "_"): value})
