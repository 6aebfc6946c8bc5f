"""The endpointslicemirroring controller: slices say what hand-written endpoints say."""

import pytest
from hyperkube_controller.endpointslicemirroring import Endpointslicemirroring

from hyperkube.kinds.resources import ENDPOINT_SLICES, ENDPOINTS, SERVICES
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
