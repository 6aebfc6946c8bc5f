"""PodGroupProtection: the finalizer of groups, with the gate on."""

import pytest
from hyperkube_admission.pod_group_protection import FINALIZER, PodGroupProtection

from hyperkube.kinds.resources import POD_GROUPS, PODS
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract


def group(*finalizers):
    return {"metadata": {"name": "g", "namespace": "ns", "finalizers": list(finalizers)}, "spec": {}}


def created(obj, *, on=True, resource=POD_GROUPS):
    return AdmissionRig(PodGroupProtection, gates={"GenericWorkload": on}).create(resource, obj)


class TestPromises(AdmissionContract):
    plugin = PodGroupProtection
    acts = False  # its gate is off by default

    def concerned(self, rig):
        return [rig.request("CREATE", POD_GROUPS, group())]


@pytest.mark.parametrize(
    ("before", "after"), [([], [FINALIZER]), (["a/b"], ["a/b", FINALIZER]), ([FINALIZER], [FINALIZER])]
)
def test_a_new_group_is_protected_once(before, after):
    assert created(group(*before))["metadata"]["finalizers"] == after


def test_nothing_else_is_touched():
    assert created(group(), on=False) == group()
    assert created(group(), resource=PODS) == group()
