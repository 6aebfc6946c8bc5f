import pytest
from hyperkube_admission.deny_exec_on_privileged import DenyExecOnPrivileged

from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

CLOSED = [{"containers": [{"name": "c", "securityContext": {"privileged": True}}]}]
OPEN = [{}, {"hostPID": True}, {"hostIPC": True}]


def pod(**spec):
    return {"metadata": {"name": "p", "namespace": "ns"}, "spec": {"containers": [{"name": "c"}], **spec}}


def connect(rig, subresource):
    return rig.request("CONNECT", PODS, {}, name="p", namespace="ns", subresource=subresource)


def rig_with(spec):
    rig = AdmissionRig(DenyExecOnPrivileged)
    rig.seed(PODS, pod(**spec))
    return rig


class TestPromises(AdmissionContract):
    plugin = DenyExecOnPrivileged

    def populate(self, rig):
        rig.seed(PODS, pod(**CLOSED[0]))

    def concerned(self, rig):
        return [connect(rig, "exec")]


@pytest.mark.parametrize("spec", CLOSED, ids=repr)
@pytest.mark.parametrize("subresource", ["exec", "attach"])
def test_such_a_pod_is_closed(spec, subresource):
    rig = rig_with(spec)

    with pytest.raises(Forbidden, match="cannot exec into or attach to a"):
        rig.admit(connect(rig, subresource))


@pytest.mark.parametrize("spec", OPEN, ids=repr)
def test_another_pod_is_open(spec):
    rig = rig_with(spec)

    assert rig.admit(connect(rig, "exec"))


def test_ports_may_be_forwarded():
    rig = rig_with(CLOSED[0])

    assert rig.admit(connect(rig, "portforward"))
