"""The ephemeral-volume controller: a claim for each ephemeral volume, and no other."""

from hyperkube_controller.ephemeral_volume import EphemeralVolume

from hyperkube.kinds.resources import EVENTS, PERSISTENT_VOLUME_CLAIMS, PODS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

SPEC = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def pod():
    template = {"metadata": {"labels": {"app": "web"}}, "spec": SPEC}
    volumes = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}, {"name": "e", "emptyDir": {}}]
    return {"kind": "Pod", "metadata": {"name": "p", "namespace": "d", "uid": "u"}, "spec": {"volumes": volumes}}


class TestContract(ControllerContract):
    plugin = EphemeralVolume

    def populate(self, rig):
        rig.client.seed(PODS, pod())


def test_a_claim_is_made_for_the_pod():
    rig = ControllerRig(EphemeralVolume)
    rig.client.seed(PODS, pod())

    rig.settle()

    (claim,) = rig.client.objects(PERSISTENT_VOLUME_CLAIMS)
    assert (claim["metadata"]["name"], claim["metadata"]["labels"], claim["spec"]) == (
        "p-scratch",
        {"app": "web"},
        SPEC,
    )
    assert claim["metadata"]["ownerReferences"][0]["uid"] == "u"


def test_a_claim_of_somebody_else_is_told():
    rig = ControllerRig(EphemeralVolume)
    rig.client.seed(PERSISTENT_VOLUME_CLAIMS, {"metadata": {"name": "p-scratch", "namespace": "d"}, "spec": {}})
    rig.client.seed(PODS, pod())

    rig.settle()
    rig.plugins[0]._recorder.flush()

    (event,) = rig.client.objects(EVENTS)
    assert event["reason"] == "FailedBinding"
    assert event["message"] == (
        "ephemeral volume scratch: PVC d/p-scratch was not created for pod d/p (pod is not owner)"
    )


def test_a_claim_of_another_makes_room():
    rig = ControllerRig(EphemeralVolume)
    rig.client.seed(PERSISTENT_VOLUME_CLAIMS, {"metadata": {"name": "p-scratch", "namespace": "d"}, "spec": {}})
    rig.client.seed(PODS, pod())
    rig.settle()

    rig.client.delete(PERSISTENT_VOLUME_CLAIMS, "p-scratch", "d")
    rig.advance(60)

    (claim,) = rig.client.objects(PERSISTENT_VOLUME_CLAIMS)
    assert claim["metadata"]["ownerReferences"][0]["uid"] == "u"


def test_a_claim_that_may_not_be_made_is_told():
    rig = ControllerRig(EphemeralVolume)
    rig.client.fail_next("create", "persistentvolumeclaims", Forbidden("exceeded quota"))
    rig.client.seed(PODS, pod())

    rig.settle()
    rig.plugins[0]._recorder.flush()

    (event,) = rig.client.objects(EVENTS)
    assert event["message"] == "ephemeral volume scratch: create PVC p-scratch: exceeded quota"


def test_a_deleted_claim_is_made_again():
    rig = ControllerRig(EphemeralVolume)
    rig.client.seed(PODS, pod())
    rig.settle()

    rig.client.delete(PERSISTENT_VOLUME_CLAIMS, "p-scratch", "d")
    rig.settle()

    assert rig.client.objects(PERSISTENT_VOLUME_CLAIMS)
