import pytest
from hyperkube_admission.default_toleration_seconds import DefaultTolerationSeconds

from hyperkube.kinds.resources import PODS
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract


def pod(*tolerations):
    return {"metadata": {"name": "p", "namespace": "ns"}, "spec": {"tolerations": list(tolerations)}}


def toleration(reason, seconds=300):
    return {
        "key": f"node.kubernetes.io/{reason}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": seconds,
    }


class TestPromises(AdmissionContract):
    plugin = DefaultTolerationSeconds

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, pod())]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], [toleration("not-ready"), toleration("unreachable")]),
        ([toleration("not-ready", 5)], [toleration("not-ready", 5), toleration("unreachable")]),
        ([{"operator": "Exists"}], [{"operator": "Exists"}]),
        (
            [{"key": "k", "operator": "Exists"}],
            [{"key": "k", "operator": "Exists"}, toleration("not-ready"), toleration("unreachable")],
        ),
    ],
)
def test_what_is_missing_is_added(given, expected):
    assert AdmissionRig(DefaultTolerationSeconds).create(PODS, pod(*given))["spec"]["tolerations"] == expected


def test_the_seconds_are_options():
    options = {"default_not_ready_toleration_seconds": 0, "default_unreachable_toleration_seconds": 7}

    made = AdmissionRig(DefaultTolerationSeconds, settings=options).create(PODS, pod())

    assert [entry["tolerationSeconds"] for entry in made["spec"]["tolerations"]] == [0, 7]
