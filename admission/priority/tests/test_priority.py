import pytest
from hyperkube_admission.priority import Priority

from hyperkube.kinds.resources import PODS, PRIORITY_CLASSES
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

HIGH = {"metadata": {"name": "high"}, "value": 1000, "preemptionPolicy": "Never"}
DEFAULT = {"metadata": {"name": "usual"}, "value": 10, "globalDefault": True}


def pod(**spec):
    return {"metadata": {"name": "p", "namespace": "ns"}, "spec": spec}


@pytest.fixture
def rig():
    rig = AdmissionRig(Priority)
    rig.seed(PRIORITY_CLASSES, HIGH)
    return rig


class TestPromises(AdmissionContract):
    plugin = Priority

    def populate(self, rig):
        rig.client.seed(PRIORITY_CLASSES, HIGH)

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, pod(priorityClassName="high"))]


@pytest.mark.parametrize(
    ("spec", "resolved"),
    [
        ({}, {"priority": 0, "preemptionPolicy": "PreemptLowerPriority"}),
        (
            {"priorityClassName": "high"},
            {"priorityClassName": "high", "priority": 1000, "preemptionPolicy": "Never"},
        ),
        (
            {"priorityClassName": "system-node-critical"},
            {
                "priorityClassName": "system-node-critical",
                "priority": 2000001000,
                "preemptionPolicy": "PreemptLowerPriority",
            },
        ),
    ],
)
def test_a_class_becomes_a_number(rig, spec, resolved):
    assert rig.create(PODS, pod(**spec))["spec"] == resolved


def test_the_default_class_is_named(rig):
    rig.seed(PRIORITY_CLASSES, DEFAULT)

    spec = rig.create(PODS, pod())["spec"]

    assert (spec["priorityClassName"], spec["priority"]) == ("usual", 10)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"priority": 5},
            (
                "the integer value of priority (5) must not be provided in pod spec; "
                "priority admission controller computed 0 from the given PriorityClass name"
            ),
        ),
        (
            {"preemptionPolicy": "Never"},
            (
                "the string value of PreemptionPolicy (Never) must not be provided in pod spec; "
                "priority admission controller computed PreemptLowerPriority from the given PriorityClass name"
            ),
        ),
        ({"priorityClassName": "none-such"}, "no PriorityClass with name none-such was found"),
    ],
)
def test_only_a_class_gives_priority(rig, spec, message):
    with pytest.raises(Forbidden) as caught:
        rig.create(PODS, pod(**spec))

    assert caught.value.message == message


def test_an_update_keeps_the_numbers(rig):
    old = pod(priority=7, preemptionPolicy="Never")

    assert rig.update(PODS, old, pod())["spec"] == {"priority": 7, "preemptionPolicy": "Never"}


def test_there_is_one_default_class(rig):
    rig.seed(PRIORITY_CLASSES, DEFAULT)
    second = {"metadata": {"name": "second"}, "value": 1, "globalDefault": True}

    with pytest.raises(Forbidden) as caught:
        rig.create(PRIORITY_CLASSES, second)

    assert caught.value.message == "PriorityClass usual is already marked as default. Only one default can exist"
    rig.update(PRIORITY_CLASSES, DEFAULT, DEFAULT)
