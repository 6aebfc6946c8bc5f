"""The pv-protection controller: volumes wait for their claims."""

import pytest
from hyperkube_controller.pv_protection import PvProtection

from hyperkube.kinds.resources import PERSISTENT_VOLUMES
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig


def volume(phase="Available"):
    return {"kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": {}, "status": {"phase": phase}}


class TestContract(ControllerContract):
    plugin = PvProtection

    def populate(self, rig):
        rig.client.seed(PERSISTENT_VOLUMES, volume())


@pytest.mark.parametrize(("phase", "stays"), [("Bound", True), ("Released", False), ("Available", False)])
def test_a_deleted_volume_stays_while_it_is_bound(phase, stays):
    rig = ControllerRig(PvProtection)
    rig.client.seed(PERSISTENT_VOLUMES, volume(phase))
    rig.settle()
    assert rig.client.objects(PERSISTENT_VOLUMES)[0]["metadata"]["finalizers"] == ["kubernetes.io/pv-protection"]

    rig.client.delete(PERSISTENT_VOLUMES, "v")
    rig.settle()

    assert bool(rig.client.objects(PERSISTENT_VOLUMES)) == stays
