from hyperkube_admission.pod_topology_labels import PodTopologyLabels, project

from hyperkube.kinds.resources import NODES, PODS
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

ZONE = {"topology.kubernetes.io/zone": "z1", "topology.kubernetes.io/region": "r1"}
NODE = {"metadata": {"name": "n", "labels": {**ZONE, "kubernetes.io/os": "linux"}}}
BINDING = {"metadata": {"name": "p", "namespace": "ns"}, "target": {"kind": "Node", "name": "n"}}


class TestPromises(AdmissionContract):
    plugin = PodTopologyLabels

    def populate(self, rig):
        rig.client.seed(NODES, NODE)

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, BINDING, subresource="binding")]


def test_a_binding_carries_the_topology_of_the_node():
    rig = AdmissionRig(PodTopologyLabels)
    rig.seed(NODES, NODE)

    assert rig.create(PODS, BINDING, subresource="binding")["metadata"]["labels"] == ZONE


def test_a_pod_that_is_created_on_a_node_does_too():
    rig = AdmissionRig(PodTopologyLabels)
    rig.seed(NODES, NODE)
    pod = {"metadata": {"name": "p", "namespace": "ns", "labels": {"a": "b"}}, "spec": {"nodeName": "n"}}

    assert rig.create(PODS, pod)["metadata"]["labels"] == {"a": "b", **ZONE}


def test_an_unknown_node_and_the_gate_leave_it_alone():
    assert "labels" not in AdmissionRig(PodTopologyLabels).create(PODS, BINDING, subresource="binding")["metadata"]
    rig = AdmissionRig(PodTopologyLabels, gates={"PodTopologyLabelsAdmission": False})
    rig.seed(NODES, NODE)

    assert rig.create(PODS, BINDING, subresource="binding") == BINDING


def test_of_each_node_no_more_is_kept_than_that():
    images = [{"names": ["registry.example/app:1"], "sizeBytes": 1}]
    meta = {**NODE["metadata"], "uid": "u", "resourceVersion": "7", "annotations": {"a": "b"}}

    kept = project({"kind": "Node", "metadata": meta, "spec": {}, "status": {"images": images}})

    assert kept == {"metadata": {"name": "n", "uid": "u", "resourceVersion": "7", "labels": ZONE}}
    assert project({"metadata": {"name": "n"}}) == {"metadata": {"name": "n"}}
