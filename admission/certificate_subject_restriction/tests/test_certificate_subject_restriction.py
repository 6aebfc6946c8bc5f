from base64 import b64encode

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from hyperkube_admission.certificate_subject_restriction import CertificateSubjectRestriction

from hyperkube.kinds.resources import CERTIFICATE_SIGNING_REQUESTS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract


def request(group, signer="kubernetes.io/kube-apiserver-client"):
    subject = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, group)])
    csr = (
        x509.CertificateSigningRequestBuilder().subject_name(subject).sign(generate_private_key(SECP256R1()), SHA256())
    )
    encoded = b64encode(csr.public_bytes(Encoding.PEM)).decode()
    return {"metadata": {"name": "r"}, "spec": {"signerName": signer, "request": encoded}}


class TestPromises(AdmissionContract):
    plugin = CertificateSubjectRestriction

    def concerned(self, rig):
        return [
            rig.request("CREATE", CERTIFICATE_SIGNING_REQUESTS, request(group)) for group in ("dev", "system:masters")
        ]


def test_nobody_becomes_a_master():
    rig = AdmissionRig(CertificateSubjectRestriction)

    with pytest.raises(Forbidden) as caught:
        rig.create(CERTIFICATE_SIGNING_REQUESTS, request("system:masters"))

    assert caught.value.message == (
        "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed"
    )
    rig.create(CERTIFICATE_SIGNING_REQUESTS, request("system:masters", "example.com/s"))


def test_what_cannot_be_read_is_refused():
    broken = {"metadata": {"name": "r"}, "spec": {**request("x")["spec"], "request": "eA=="}}

    with pytest.raises(Forbidden, match="failed to parse CSR"):
        AdmissionRig(CertificateSubjectRestriction).create(CERTIFICATE_SIGNING_REQUESTS, broken)
