import pytest
from hyperkube_admission.runtime_class import RuntimeClass

from hyperkube.kinds.resources import PODS, RUNTIME_CLASSES
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

CLASS = {
    "metadata": {"name": "rc"},
    "handler": "h",
    "overhead": {"podFixed": {"cpu": "100m"}},
    "scheduling": {"nodeSelector": {"rt": "x"}, "tolerations": [{"key": "rt", "operator": "Exists"}]},
}


def pod(**spec):
    return {"metadata": {"name": "p", "namespace": "ns"}, "spec": {"containers": [], **spec}}


@pytest.fixture
def rig():
    rig = AdmissionRig(RuntimeClass)
    rig.seed(RUNTIME_CLASSES, CLASS)
    return rig


class TestPromises(AdmissionContract):
    plugin = RuntimeClass

    def populate(self, rig):
        rig.client.seed(RUNTIME_CLASSES, CLASS)

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, pod(runtimeClassName="rc", tolerations=[{"key": "o"}]))]


def test_overhead_and_scheduling_are_written_into_the_pod(rig):
    spec = rig.create(PODS, pod(runtimeClassName="rc", nodeSelector={"a": "b"}))["spec"]

    assert spec["overhead"] == {"cpu": "100m"}
    assert spec["nodeSelector"] == {"a": "b", "rt": "x"}
    assert spec["tolerations"] == [{"key": "rt", "operator": "Exists"}]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"runtimeClassName": "none-such"}, 'pod rejected: RuntimeClass "none-such" not found'),
        (
            {"runtimeClassName": "rc", "nodeSelector": {"rt": "other"}},
            "conflict: runtimeClass.scheduling.nodeSelector[rt] = x; pod.spec.nodeSelector[rt] = other",
        ),
        (
            {"overhead": {"cpu": "1"}},
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        ),
        (
            {"runtimeClassName": "rc", "overhead": {"cpu": "1"}},
            "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
        ),
    ],
)
def test_what_contradicts_the_class_is_refused(rig, spec, message):
    with pytest.raises(Forbidden) as caught:
        rig.create(PODS, pod(**spec))

    assert caught.value.message == message


def test_pods_without_a_class_pass(rig):
    assert rig.create(PODS, pod()) == pod()
