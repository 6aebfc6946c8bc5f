"""The replicationcontroller controller on the bench."""

from hyperkube_controller.replicationcontroller import Replicationcontroller, selector_of

from hyperkube.kinds.resources import PODS, REPLICATION_CONTROLLERS
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

RC = {
    "kind": "ReplicationController",
    "apiVersion": "v1",
    "metadata": {"name": "web", "namespace": "d"},
    "spec": {"replicas": 2, "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}}},
}


class TestContract(ControllerContract):
    plugin = Replicationcontroller

    def populate(self, rig):
        rig.client.seed(REPLICATION_CONTROLLERS, RC)


def test_it_makes_pods_and_counts_them():
    rig = ControllerRig(Replicationcontroller)
    rig.client.seed(REPLICATION_CONTROLLERS, RC)

    rig.settle()

    assert len(rig.client.objects(PODS)) == 2
    assert rig.client.objects(REPLICATION_CONTROLLERS)[0]["status"]["replicas"] == 2


def test_the_selector_defaults_to_the_templates_labels():
    assert selector_of(RC).matches({"app": "web", "x": "y"})
    assert not selector_of({"spec": {}}).matches({"app": "web"})
