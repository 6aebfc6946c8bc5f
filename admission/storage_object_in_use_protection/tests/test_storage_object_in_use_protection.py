import pytest
from hyperkube_admission.storage_object_in_use_protection import StorageObjectInUseProtection

from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract


class TestPromises(AdmissionContract):
    plugin = StorageObjectInUseProtection

    def concerned(self, rig):
        return [rig.request("CREATE", PERSISTENT_VOLUME_CLAIMS, {"metadata": {"name": "c", "namespace": "ns"}})]


@pytest.mark.parametrize(
    ("resource", "finalizer"),
    [(PERSISTENT_VOLUMES, "kubernetes.io/pv-protection"), (PERSISTENT_VOLUME_CLAIMS, "kubernetes.io/pvc-protection")],
)
def test_a_finalizer_protects_what_is_created(resource, finalizer):
    made = AdmissionRig(StorageObjectInUseProtection).create(
        resource, {"metadata": {"name": "x", "finalizers": ["a/b"]}}
    )

    assert made["metadata"]["finalizers"] == ["a/b", finalizer]
