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


def own_claim(rig, uid):
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": uid, "controller": True}
    meta = {"name": "p-v", "namespace": "d", "ownerReferences": [owner]}
    rig.client.seed(PERSISTENT_VOLUME_CLAIMS, {"kind": "PersistentVolumeClaim", "metadata": meta, "spec": {}})
    rig.settle()
    rig.client.delete(PERSISTENT_VOLUME_CLAIMS, "p-v", "d")
    rig.settle()


def claims(rig):
    return [each["metadata"]["name"] for each in rig.client.objects(PERSISTENT_VOLUME_CLAIMS)]


EPHEMERAL = {"name": "v", "ephemeral": {}}


@pytest.mark.parametrize(("uid", "left"), [("the pod's", ["data", "p-v"]), ("another's", ["data"])])
def test_a_claim_made_for_a_pod_waits_for_this_one(uid, left):
    made = pod(volume=EPHEMERAL)
    made["metadata"]["uid"] = "the pod's"
    rig = run(made)

    own_claim(rig, uid)

    assert claims(rig) == left


@pytest.mark.parametrize(("volume", "left"), [(EPHEMERAL, ["data"]), (None, ["data", "p-v"])], ids=["own", "named"])
def test_a_claim_made_for_a_pod_does_not_wait_for_its_finalizers(volume, left):
    made = pod(volume=volume or {"name": "v", "persistentVolumeClaim": {"claimName": "p-v"}})
    made["metadata"] |= {"uid": "the pod's", "finalizers": ["example.com/wait"]}
    rig = run(made)
    own_claim(rig, "the pod's")
    waiting = claims(rig)

    rig.client.delete(PODS, "p", "d", options={"gracePeriodSeconds": 0})
    rig.settle()

    assert waiting == ["data", "p-v"]
    assert claims(rig) == left
