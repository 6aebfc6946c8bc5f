"""The pvc-protection controller: claims wait for their pods."""

import pytest
from hyperkube_controller.pvc_protection import PvcProtection

from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PODS
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

FINALIZER = "kubernetes.io/pvc-protection"


def claim(name="data"):
    return {"kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "d"}, "spec": {}}


def pod(node="n", volume=None):
    volume = volume or {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}
    spec = {"volumes": [volume]} | ({"nodeName": node} if node else {})
    return {"kind": "Pod", "metadata": {"name": "p", "namespace": "d"}, "spec": spec}


class TestContract(ControllerContract):
    plugin = PvcProtection

    def populate(self, rig):
        rig.client.seed(PERSISTENT_VOLUME_CLAIMS, claim())


def run(*pods, name="data"):
    rig = ControllerRig(PvcProtection)
    rig.client.seed(PERSISTENT_VOLUME_CLAIMS, claim(name))
    rig.client.seed(PODS, *pods)
    rig.settle()
    return rig


def test_a_claim_is_held():
    (found,) = run().client.objects(PERSISTENT_VOLUME_CLAIMS)

    assert found["metadata"]["finalizers"] == [FINALIZER]


@pytest.mark.parametrize("pods", [(), (pod(node=""),)], ids=["no pod", "not on a node"])
def test_a_deleted_claim_that_nobody_uses_goes(pods):
    rig = run(*pods)

    rig.client.delete(PERSISTENT_VOLUME_CLAIMS, "data", "d")
    rig.settle()

    assert rig.client.objects(PERSISTENT_VOLUME_CLAIMS) == []


def test_a_deleted_claim_waits_for_its_pod():
    rig = run(pod())
    rig.client.delete(PERSISTENT_VOLUME_CLAIMS, "data", "d")
    rig.settle()
    waiting = rig.client.objects(PERSISTENT_VOLUME_CLAIMS)

    rig.client.delete(PODS, "p", "d", options={"gracePeriodSeconds": 0})
    rig.settle()

    assert waiting
    assert rig.client.objects(PERSISTENT_VOLUME_CLAIMS) == []


def test_a_pods_own_claim_waits_too():
    rig = run(pod(volume={"name": "v", "ephemeral": {}}), name="p-v")

    rig.client.delete(PERSISTENT_VOLUME_CLAIMS, "p-v", "d")
    rig.settle()

    assert rig.client.objects(PERSISTENT_VOLUME_CLAIMS)
