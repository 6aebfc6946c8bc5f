import pytest
from hyperkube_admission.default_storage_class import DefaultStorageClass

from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, STORAGE_CLASSES
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract


def storage_class(name, created="2020-01-01T00:00:00Z", default="true"):
    annotations = {"storageclass.kubernetes.io/is-default-class": default}
    return {"metadata": {"name": name, "annotations": annotations, "creationTimestamp": created}}


def claim(**spec):
    return {"metadata": {"name": "c", "namespace": "ns"}, "spec": spec}


@pytest.fixture
def rig():
    rig = AdmissionRig(DefaultStorageClass)
    rig.seed(
        STORAGE_CLASSES,
        storage_class("b", "2021-01-01T00:00:00Z"),
        storage_class("a", "2021-01-01T00:00:00Z"),
        storage_class("old"),
        storage_class("z", "2022-01-01T00:00:00Z", "false"),
    )
    return rig


class TestPromises(AdmissionContract):
    plugin = DefaultStorageClass

    def populate(self, rig):
        rig.client.seed(STORAGE_CLASSES, storage_class("a"))

    def concerned(self, rig):
        return [rig.request("CREATE", PERSISTENT_VOLUME_CLAIMS, claim())]


def test_the_newest_default_then_the_first_by_name_is_taken(rig):
    assert rig.create(PERSISTENT_VOLUME_CLAIMS, claim())["spec"]["storageClassName"] == "a"


@pytest.mark.parametrize("chosen", ["", "other"])
def test_a_choice_is_kept_even_that_of_none(rig, chosen):
    assert rig.create(PERSISTENT_VOLUME_CLAIMS, claim(storageClassName=chosen))["spec"]["storageClassName"] == chosen


def test_without_a_default_nothing_is_filled_in():
    rig = AdmissionRig(DefaultStorageClass)
    rig.seed(STORAGE_CLASSES)

    assert rig.create(PERSISTENT_VOLUME_CLAIMS, claim())["spec"] == {}
