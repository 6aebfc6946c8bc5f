import pytest
from hyperkube_admission.limit_pod_hard_anti_affinity_topology import LimitPodHardAntiAffinityTopology

from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

REQUIRED, PREFERRED = (
    f"{word}DuringSchedulingIgnoredDuringExecution" for word in ("required", "preferred")
)  # the two members


def pod(**affinity):
    return {"metadata": {"name": "p", "namespace": "ns"}, "spec": {"affinity": affinity}}


def term(key):
    return {"topologyKey": key}


class TestPromises(AdmissionContract):
    plugin = LimitPodHardAntiAffinityTopology

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, pod(podAntiAffinity={REQUIRED: [term("zone")]}))]


def test_the_refusal_names_the_key():
    with pytest.raises(Forbidden, match="has TopologyKey zone but only key"):
        AdmissionRig(LimitPodHardAntiAffinityTopology).create(
            PODS, pod(podAntiAffinity={REQUIRED: [term("kubernetes.io/hostname"), term("zone")]})
        )


@pytest.mark.parametrize(
    "affinity",
    [
        {},
        {"podAntiAffinity": {REQUIRED: [term("kubernetes.io/hostname")]}},
        {"podAntiAffinity": {PREFERRED: [{"podAffinityTerm": term("zone")}]}},
        {"podAffinity": {REQUIRED: [term("zone")]}},
    ],
    ids=repr,
)
def test_all_else_is_allowed(affinity):
    assert AdmissionRig(LimitPodHardAntiAffinityTopology).create(PODS, pod(**affinity)) == pod(**affinity)
