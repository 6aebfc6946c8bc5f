"""PodGroupWorkloadExists: where a group says it comes from."""

import pytest
from hyperkube_admission.pod_group_workload_exists import POD_GROUPS, WORKLOADS, PodGroupWorkloadExists

from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

WORKLOAD = {"metadata": {"name": "w", "namespace": "ns"}, "spec": {"podGroupTemplates": [{"name": "workers"}]}}


def group(workload="w", template="workers"):
    reference = {"workload": {"workloadName": workload, "podGroupTemplateName": template}} if workload else None
    return {"metadata": {"name": "g", "namespace": "ns"}, "spec": {"podGroupTemplateRef": reference}}


def create(obj, *, on=True):
    rig = AdmissionRig(PodGroupWorkloadExists, gates={"GenericWorkload": on})
    rig.seed(WORKLOADS, WORKLOAD)
    return rig.create(POD_GROUPS, obj)


class TestPromises(AdmissionContract):
    plugin = PodGroupWorkloadExists
    acts = False  # its gate is off by default

    def concerned(self, rig):
        return [rig.request("CREATE", POD_GROUPS, group())]


@pytest.mark.parametrize("obj", [group(), group(workload="")], ids=["known", "made by hand"])
def test_these_pass(obj):
    assert create(obj) == obj


@pytest.mark.parametrize(
    ("obj", "text"),
    [
        (group(workload="x"), 'PodGroup rejected: Workload "x" not found'),
        (group(template="x"), 'PodGroup rejected: PodGroupTemplate "x" not found in Workload "w"'),
    ],
    ids=["workload", "template"],
)
def test_these_are_refused(obj, text):
    with pytest.raises(Forbidden) as refusal:
        create(obj)
    assert refusal.value.message == text


def test_nothing_is_looked_up_with_the_gate_off():
    assert create(group(workload="x"), on=False)
