import pytest
from hyperkube_admission.security_context_deny import SecurityContextDeny

from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract


def pod(context=None, own=None):
    spec = {"securityContext": context or {}, "containers": [{"name": "c", "securityContext": own or {}}]}
    return {"metadata": {"name": "p", "namespace": "ns"}, "spec": spec}


class TestPromises(AdmissionContract):
    plugin = SecurityContextDeny

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, pod({"runAsUser": 0})), rig.request("CREATE", PODS, pod())]


@pytest.mark.parametrize(
    ("context", "own", "message"),
    [
        ({"runAsUser": 0}, {}, "pod.Spec.SecurityContext.RunAsUser is forbidden"),
        ({"fsGroup": 1}, {}, "pod.Spec.SecurityContext.FSGroup is forbidden"),
        ({"supplementalGroups": [1]}, {}, "pod.Spec.SecurityContext.SupplementalGroups is forbidden"),
        ({}, {"runAsUser": 1}, "SecurityContext.RunAsUser is forbidden"),
        ({}, {"seLinuxOptions": {}}, "SecurityContext.SELinuxOptions is forbidden"),
    ],
)
def test_identities_are_refused(context, own, message):
    with pytest.raises(Forbidden) as caught:
        AdmissionRig(SecurityContextDeny).create(PODS, pod(context, own))

    assert caught.value.message == message
