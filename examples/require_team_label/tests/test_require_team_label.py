import pytest
from require_team_label import RequireTeamLabel

from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract


def pod(**labels):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default", "labels": labels}}


class TestContract(AdmissionContract):
    plugin = RequireTeamLabel

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, pod()), rig.request("UPDATE", PODS, pod(team="red"), pod())]


def test_a_pod_with_a_team_gets_in():
    assert AdmissionRig(RequireTeamLabel).create(PODS, pod(team="red")) == pod(team="red")


def test_a_pod_without_one_does_not():
    with pytest.raises(Forbidden, match="label 'team' is missing: say which team answers for this pod"):
        AdmissionRig(RequireTeamLabel).create(PODS, pod())
