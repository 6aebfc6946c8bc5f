import pytest
from hyperkube_admission.certificate_approval import CertificateApproval

from hyperkube.kinds.resources import CERTIFICATE_SIGNING_REQUESTS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

OLD = {"metadata": {"name": "r"}, "spec": {"signerName": "example.com/s"}}
NEW = {**OLD, "status": {"certificate": "Y2VydA=="}}


class TestPromises(AdmissionContract):
    plugin = CertificateApproval

    def concerned(self, rig):
        words = {"subresource": "approval"}
        return [
            rig.request("UPDATE", CERTIFICATE_SIGNING_REQUESTS, NEW, OLD, **words),
            rig.request("UPDATE", CERTIFICATE_SIGNING_REQUESTS, NEW, OLD, may=lambda *_, **__: False, **words),
        ]


@pytest.mark.parametrize("granted", ["example.com/s", "example.com/*"])
def test_the_right_is_for_a_signer_or_its_domain(granted):
    asked = []

    def allows(verb, resource, name):
        asked.append((verb, resource))
        return name == granted

    AdmissionRig(CertificateApproval, allows=allows).update(
        CERTIFICATE_SIGNING_REQUESTS, OLD, NEW, subresource="approval"
    )

    assert set(asked) == {("approve", "signers")}


def test_without_the_right_it_is_refused():
    rig = AdmissionRig(CertificateApproval, allows=lambda *_: False)

    with pytest.raises(Forbidden) as caught:
        rig.update(CERTIFICATE_SIGNING_REQUESTS, OLD, NEW, subresource="approval")

    assert caught.value.message == 'user not permitted to approve requests with signerName "example.com/s"'
