"""The csrsigning controller: approved requests become certificates of the cluster's authority."""

from base64 import b64decode, b64encode
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from hyperkube_controller.csrsigning import Csrsigning, Settings, authorities_of, life
from hyperkube_lib.serving.certificates import make_ca

from hyperkube.kinds.resources import CERTIFICATE_SIGNING_REQUESTS
from hyperkube.machinery.errors import UsageError
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

CLIENT = "kubernetes.io/kube-apiserver-client"
APPROVED = ({"type": "Approved", "status": "True"},)


def csr(signer=CLIENT, conditions=APPROVED, usages=("digital signature", "client auth"), **spec):
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "jane")])
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("n")]), critical=False)
    pem = builder.sign(ec.generate_private_key(ec.SECP256R1()), SHA256()).public_bytes(Encoding.PEM)
    return {
        "kind": "CertificateSigningRequest",
        "metadata": {"name": "r"},
        "spec": {"request": b64encode(pem).decode(), "signerName": signer, "usages": list(usages), **spec},
        "status": {"conditions": list(conditions)},
    }


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pki")
    clock = ControllerRig().clock
    make_ca("cluster", clock=clock).write(folder / "ca.crt", folder / "ca.key")
    files = {
        f"cluster_signing_{part}_file": str(folder / f"ca.{end}") for part, end in (("cert", "crt"), ("key", "key"))
    }
    return {**files, "cluster_signing_duration": 24 * 3600.0}


def run(settings, *objects):
    rig = ControllerRig(Csrsigning, settings=settings)
    rig.client.seed(CERTIFICATE_SIGNING_REQUESTS, *objects)
    rig.settle()
    return rig.client.objects(CERTIFICATE_SIGNING_REQUESTS)[0]["status"]


class TestContract(ControllerContract):
    plugin = Csrsigning

    @pytest.fixture(autouse=True)
    def _authority(self, settings, monkeypatch):
        monkeypatch.setattr(type(self), "settings", settings)

    def populate(self, rig):
        rig.client.seed(CERTIFICATE_SIGNING_REQUESTS, csr())


def test_an_approved_request_is_signed(settings):
    certificate = x509.load_pem_x509_certificate(b64decode(run(settings, csr())["certificate"]))

    authority = x509.load_pem_x509_certificate(Path(settings["cluster_signing_cert_file"]).read_bytes())
    certificate.verify_directly_issued_by(authority)
    assert certificate.subject.rfc4514_string() == "CN=jane"
    assert certificate.not_valid_before_utc == datetime(2029, 12, 31, 23, 55, tzinfo=UTC)
    assert certificate.not_valid_after_utc == datetime(2030, 1, 1, 23, 55, tzinfo=UTC)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["n"]
    purposes = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert [purpose.dotted_string for purpose in purposes] == ["1.3.6.1.5.5.7.3.2"]
    assert certificate.extensions.get_extension_for_class(x509.KeyUsage).value.digital_signature


@pytest.mark.parametrize(
    "other",
    [
        csr(conditions=()),
        csr(conditions=[{"type": "Denied", "status": "True"}]),
        csr(conditions=[*APPROVED, {"type": "Failed", "status": "True"}]),
        csr(signer="example.com/own"),
    ],
    ids=["undecided", "denied", "failed", "another signer"],
)
def test_others_are_not_signed(settings, other):
    assert "certificate" not in run(settings, other)


def test_nothing_is_signed_without_an_authority():
    assert "certificate" not in run({}, csr())


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (csr(usages=["server auth"]), "invalid usage for client certificate: server auth"),
        (csr("kubernetes.io/kubelet-serving"), "subject organization is not system:nodes"),
        (csr("kubernetes.io/kube-apiserver-client-kubelet"), "subject organization is not system:nodes"),
    ],
)
def test_a_request_its_signer_does_not_sign_has_failed(settings, request_, why):
    (_, failed) = run(settings, request_)["conditions"]

    assert (failed["type"], failed["reason"], failed["message"]) == ("Failed", "SignerValidationFailure", why)


def test_the_legacy_signer_signs_all(settings):
    assert run(settings, csr("kubernetes.io/legacy-unknown", usages=["server auth", "cert sign"]))["certificate"]


@pytest.mark.parametrize(("asked", "given"), [(None, 86400), (60, 600), (3600, 3600), (10**6, 86400)])
def test_how_long_it_lives(asked, given):
    spec = {} if asked is None else {"expirationSeconds": asked}

    assert life({"spec": spec}, timedelta(days=1)) == timedelta(seconds=given)


def test_a_signer_may_have_an_authority_of_its_own(settings):
    files = {
        key.replace("signing", "signing_kubelet_serving"): value for key, value in settings.items() if "file" in key
    }

    assert list(authorities_of(Settings(**files))) == ["kubernetes.io/kubelet-serving"]
    with pytest.raises(UsageError, match="cannot specify"):
        authorities_of(Settings(**settings, **files))


def test_half_an_authority_is_an_error(settings):
    with pytest.raises(UsageError, match="--cluster-signing-cert-file needs --cluster-signing-key-file"):
        authorities_of(Settings(cluster_signing_cert_file=settings["cluster_signing_cert_file"]))
