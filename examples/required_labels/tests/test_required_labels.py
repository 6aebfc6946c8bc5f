import pytest
from required_labels import GATE, RequiredLabels

from hyperkube.kinds.resources import JOBS, NAMESPACES, PODS
from hyperkube.machinery.errors import Forbidden, UsageError
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

SETTINGS = {"required_labels": ("team", "cost-center"), "grace_period": 60.0}


def pod(**labels):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "web", "labels": labels}}


class TestContract(AdmissionContract):
    plugin = RequiredLabels
    settings = SETTINGS

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, pod())]


def test_missing_labels_are_named():
    with pytest.raises(Forbidden, match=r"labels are missing: cost-center$"):
        AdmissionRig(RequiredLabels, settings=SETTINGS).create(PODS, pod(team="red"))


@pytest.mark.parametrize("gates", [{}, {GATE: False}, {GATE: True}], ids=["not said", "off", "on"])
def test_jobs_need_them_behind_a_gate(gates):
    rig = AdmissionRig(RequiredLabels, settings=SETTINGS, gates=gates)
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "web"}, "spec": {}}

    if gates.get(GATE):
        with pytest.raises(Forbidden, match="labels are missing"):
            rig.create(JOBS, job)
    else:
        rig.create(JOBS, job)


def test_a_hint_tells_what_to_do():
    settings = {"required_labels": ("team",), "hint": "see the wiki"}

    with pytest.raises(Forbidden, match=r"labels are missing: team \(see the wiki\)"):
        AdmissionRig(RequiredLabels, settings=settings).create(PODS, pod())


def test_pods_of_a_young_namespace_may_do_without():
    rig = AdmissionRig(RequiredLabels, settings=SETTINGS)
    rig.seed(NAMESPACES, {"metadata": {"name": "web"}})

    rig.create(PODS, pod())
    rig.clock.advance(61)

    with pytest.raises(Forbidden):
        rig.create(PODS, pod())


def test_a_setting_of_the_wrong_type_is_one_line():
    with pytest.raises(UsageError, match="grace_period") as caught:
        AdmissionRig(RequiredLabels, settings={"grace_period": ["soon"]})

    assert "\n" not in str(caught.value)
