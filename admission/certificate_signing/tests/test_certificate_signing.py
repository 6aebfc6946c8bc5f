import pytest
from hyperkube_admission.certificate_signing import CertificateSigning

from hyperkube.kinds.resources import CERTIFICATE_SIGNING_REQUESTS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

OLD = {"metadata": {"name": "r"}, "spec": {"signerName": "example.com/s"}}
NEW = {**OLD, "status": {"certificate": "Y2VydA=="}}


class TestPromises(AdmissionContract):
    plugin = CertificateSigning

    def concerned(self, rig):
        words = {"subresource": "status"}
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

    AdmissionRig(CertificateSigning, allows=allows).update(CERTIFICATE_SIGNING_REQUESTS, OLD, NEW, subresource="status")

    assert set(asked) == {("sign", "signers")}


def test_without_the_right_it_is_refused():
    rig = AdmissionRig(CertificateSigning, allows=lambda *_: False)

    with pytest.raises(Forbidden) as caught:
        rig.update(CERTIFICATE_SIGNING_REQUESTS, OLD, NEW, subresource="status")

    assert caught.value.message == 'user not permitted to sign requests with signerName "example.com/s"'


def test_other_changes_of_the_status_need_no_right():
    rig = AdmissionRig(CertificateSigning, allows=lambda *_: False)
    approved = {**OLD, "status": {"conditions": [{"type": "Approved"}]}}

    rig.update(CERTIFICATE_SIGNING_REQUESTS, OLD, approved, subresource="status")
