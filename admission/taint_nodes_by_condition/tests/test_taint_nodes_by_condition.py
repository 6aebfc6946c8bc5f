from hyperkube_admission.taint_nodes_by_condition import TaintNodesByCondition

from hyperkube.kinds.resources import NODES
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

TAINT = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


class TestPromises(AdmissionContract):
    plugin = TaintNodesByCondition

    def concerned(self, rig):
        return [rig.request("CREATE", NODES, {"metadata": {"name": "n"}})]


def test_a_new_node_is_tainted_beside_its_own_taints():
    own = {"key": "x", "effect": "NoSchedule"}

    node = AdmissionRig(TaintNodesByCondition).create(NODES, {"metadata": {"name": "n"}, "spec": {"taints": [own]}})

    assert node["spec"]["taints"] == [own, TAINT]


def test_an_old_node_is_left_alone():
    node = {"metadata": {"name": "n"}, "spec": {}}

    assert AdmissionRig(TaintNodesByCondition).update(NODES, node, node) == node
