import pytest
from hyperkube_admission.deny_service_external_ips import DenyServiceExternalIPs

from hyperkube.kinds.resources import SERVICES
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract


def service(*addresses):
    return {"metadata": {"name": "s", "namespace": "ns"}, "spec": {"externalIPs": list(addresses)}}


class TestPromises(AdmissionContract):
    plugin = DenyServiceExternalIPs

    def concerned(self, rig):
        return [rig.request("CREATE", SERVICES, service("1.2.3.4")), rig.request("CREATE", SERVICES, service())]


def test_a_new_address_is_refused():
    with pytest.raises(Forbidden, match="Use of external IPs is denied"):
        AdmissionRig(DenyServiceExternalIPs).update(SERVICES, service("1.1.1.1"), service("1.1.1.1", "2.2.2.2"))


@pytest.mark.parametrize("new", [service(), service("1.1.1.1"), {"metadata": {"name": "s", "namespace": "ns"}}])
def test_an_old_one_may_stay_or_go(new):
    assert AdmissionRig(DenyServiceExternalIPs).update(SERVICES, service("1.1.1.1", "2.2.2.2"), new) == new
