import pytest
from hyperkube_admission.persistent_volume_claim_resize import PersistentVolumeClaimResize

from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, STORAGE_CLASSES
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract


def claim(size, phase="Bound", name="std"):
    return {
        "metadata": {"name": "c", "namespace": "ns"},
        "spec": {"storageClassName": name, "resources": {"requests": {"storage": size}}},
        "status": {"phase": phase},
    }


CLASSES = ({"metadata": {"name": "std"}, "allowVolumeExpansion": True}, {"metadata": {"name": "fixed"}})


@pytest.fixture
def rig():
    rig = AdmissionRig(PersistentVolumeClaimResize)
    rig.seed(STORAGE_CLASSES, *CLASSES)
    return rig


class TestPromises(AdmissionContract):
    plugin = PersistentVolumeClaimResize

    def populate(self, rig):
        rig.client.seed(STORAGE_CLASSES, *CLASSES)

    def concerned(self, rig):
        return [
            rig.request("UPDATE", PERSISTENT_VOLUME_CLAIMS, claim("2Gi"), claim("1Gi")),
            rig.request("UPDATE", PERSISTENT_VOLUME_CLAIMS, claim("2Gi", name="fixed"), claim("1Gi")),
        ]


@pytest.mark.parametrize("name", ["fixed", "none", ""])
def test_a_class_must_allow_expansion(rig, name):
    with pytest.raises(Forbidden, match="only dynamically provisioned pvc can be resized"):
        rig.update(PERSISTENT_VOLUME_CLAIMS, claim("1Gi", name=name), claim("2Gi", name=name))


def test_a_claim_must_be_bound(rig):
    with pytest.raises(Forbidden, match="Only bound persistent volume claims can be expanded"):
        rig.update(PERSISTENT_VOLUME_CLAIMS, claim("1Gi", "Pending"), claim("2Gi"))


def test_other_updates_pass(rig):
    rig.update(PERSISTENT_VOLUME_CLAIMS, claim("1Gi", "Pending", ""), claim("1024Mi", "Pending", ""))
