"""Reading certificate signing requests."""

import ipaddress
from base64 import b64encode

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from hyperkube_lib import certificate_requests as requests

CLIENT = ["client auth", "digital signature"]
SERVING = ["server auth", "digital signature", "key encipherment"]
DNS, IP = x509.DNSName("n"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
EMAIL, URI = x509.RFC822Name("a@b.example"), x509.UniformResourceIdentifier("https://n")


def request(cn="system:node:n", org="system:nodes", names=()):
    subject = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, org)] if org else []
    subject.append(x509.NameAttribute(NameOID.COMMON_NAME, cn))
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(subject))
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(ec.generate_private_key(ec.SECP256R1()), SHA256())


def test_a_request_is_read():
    pem = request().public_bytes(Encoding.PEM)

    read = requests.parse({"spec": {"request": b64encode(pem).decode()}})

    assert requests.common_name(read) == "system:node:n"
    assert requests.organizations(read) == ["system:nodes"]


@pytest.mark.parametrize("text", ["", "AAAA", "?"], ids=["nothing", "no PEM", "no base64"])
def test_what_is_no_request(text):
    with pytest.raises(requests.BadRequestContent, match="PEM block type must be CERTIFICATE REQUEST"):
        requests.parse({"spec": {"request": text}})


def test_kubelets_requests_pass():
    requests.check_kubelet_client(request(), CLIENT)
    requests.check_kubelet_client(request(), [*CLIENT, "key encipherment"])
    requests.check_kubelet_serving(request(names=[DNS, IP]), SERVING)


@pytest.mark.parametrize(
    ("asked", "usages", "why"),
    [
        (request(org="others"), CLIENT, "subject organization is not system:nodes"),
        (request(names=[DNS]), CLIENT, "DNS subjectAltNames are not allowed"),
        (request(names=[EMAIL]), CLIENT, "Email subjectAltNames are not allowed"),
        (request(names=[IP]), CLIENT, "IP subjectAltNames are not allowed"),
        (request(names=[URI]), CLIENT, "URI subjectAltNames are not allowed"),
        (request(cn="n"), CLIENT, "subject common name does not begin with system:node:"),
        (request(), SERVING, r"usages did not match \[client auth digital signature key encipherment\]"),
    ],
)
def test_what_is_no_kubelets_client(asked, usages, why):
    with pytest.raises(requests.BadRequestContent, match=why):
        requests.check_kubelet_client(asked, usages)


@pytest.mark.parametrize(
    ("asked", "usages", "why"),
    [
        (request(org="", names=[DNS]), SERVING, "subject organization is not system:nodes"),
        (request(), SERVING, "DNS or IP subjectAltName is required"),
        (request(names=[DNS, EMAIL]), SERVING, "Email subjectAltNames are not allowed"),
        (request(names=[DNS, URI]), SERVING, "URI subjectAltNames are not allowed"),
        (request(names=[DNS]), CLIENT, "usages did not match"),
        (request(cn="n", names=[DNS]), SERVING, "subject common name does not begin with system:node:"),
    ],
)
def test_what_is_no_kubelets_serving(asked, usages, why):
    with pytest.raises(requests.BadRequestContent, match=why):
        requests.check_kubelet_serving(asked, usages)


@pytest.mark.parametrize(
    ("usages", "why"),
    [
        (["server auth", "client auth"], "invalid usage for client certificate: server auth"),
        (["digital signature"], "missing required usage for client certificate: client auth"),
    ],
)
def test_what_is_no_client(usages, why):
    with pytest.raises(requests.BadRequestContent, match=why):
        requests.check_api_client(usages)


def test_decisions():
    approved = {"status": {"conditions": [{"type": "Approved", "status": "True"}]}}
    denied = {"status": {"conditions": [{"type": "Denied", "status": "True"}]}}
    failed = {"status": {"conditions": [{"type": "Failed", "status": "True"}]}}

    assert [requests.is_approved(csr) for csr in (approved, denied, {})] == [True, False, False]
    assert [requests.is_decided(csr) for csr in (approved, denied, {})] == [True, True, False]
    assert [requests.has_failed(csr) for csr in (approved, failed)] == [False, True]
