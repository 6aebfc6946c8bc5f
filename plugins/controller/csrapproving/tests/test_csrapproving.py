"""The csrapproving controller: kubelets get what they may have, and no others do."""

from base64 import b64encode

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from hyperkube_controller.csrapproving import Csrapproving, permissions

from hyperkube.kinds.resources import CERTIFICATE_SIGNING_REQUESTS, SUBJECT_ACCESS_REVIEWS
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

NODE = "system:node:n"


KEY = ec.generate_private_key(ec.SECP256R1())
SIGNER = "kubernetes.io/kube-apiserver-client-kubelet"
USAGES = ("digital signature", "client auth")


def csr(username=NODE, signer=SIGNER, usages=USAGES, *, name=NODE, groups=("system:nodes",), dns=""):
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    parts.append(x509.NameAttribute(NameOID.COMMON_NAME, name))
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(parts))
    if dns:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(dns)]), critical=False)
    pem = builder.sign(KEY, SHA256()).public_bytes(Encoding.PEM)
    return {
        "kind": "CertificateSigningRequest",
        "metadata": {"name": "r"},
        "spec": {
            "request": b64encode(pem).decode(),
            "signerName": signer,
            "usages": list(usages),
            "username": username,
            "groups": ["system:nodes"],
        },
    }


def allow(rig, *allowed):
    """Answer access reviews: those for the given subresources with yes; return what was asked."""
    asked = []
    create = rig.client.create

    def answered(resource, obj, *args, **words):
        if resource != SUBJECT_ACCESS_REVIEWS:
            return create(resource, obj, *args, **words)
        asked.append(obj["spec"])
        return {**obj, "status": {"allowed": obj["spec"]["resourceAttributes"]["subresource"] in allowed}}

    rig.client.create = answered
    return asked


class TestContract(ControllerContract):
    plugin = Csrapproving

    def populate(self, rig):
        rig.client.seed(CERTIFICATE_SIGNING_REQUESTS, csr())
        allow(rig, "selfnodeclient")


def conditions(rig):
    return (rig.client.objects(CERTIFICATE_SIGNING_REQUESTS)[0].get("status") or {}).get("conditions") or []


def run(request, *allowed):
    rig = ControllerRig(Csrapproving)
    asked = allow(rig, *allowed)
    rig.client.seed(CERTIFICATE_SIGNING_REQUESTS, request)
    rig.settle()
    return rig, asked


def test_a_node_gets_its_own_certificate():
    rig, (asked,) = run(csr(), "selfnodeclient")

    (condition,) = conditions(rig)
    assert (condition["type"], condition["status"], condition["reason"]) == ("Approved", "True", "AutoApproved")
    assert condition["message"] == "Auto approving self kubelet client certificate after SubjectAccessReview."
    assert (asked["user"], asked["groups"]) == (NODE, ["system:nodes"])


def test_a_bootstrap_token_gets_a_nodes_certificate():
    rig, _ = run(csr("system:bootstrap:abcdef"), "nodeclient")

    (condition,) = conditions(rig)
    assert condition["message"] == "Auto approving kubelet client certificate after SubjectAccessReview."


def test_who_may_not_waits_for_people():
    rig, asked = run(csr("eve"), "selfnodeclient")

    assert conditions(rig) == []
    assert asked[0]["resourceAttributes"]["subresource"] == "nodeclient"


@pytest.mark.parametrize(
    "other",
    [
        csr(signer="kubernetes.io/kube-apiserver-client"),
        csr(usages=["digital signature", "server auth"]),
        {**csr(), "spec": {**csr()["spec"], "request": "AAAA"}},
        {**csr(), "status": {"conditions": [{"type": "Denied", "status": "True"}]}},
    ],
    ids=["signer", "usage", "unreadable", "denied"],
)
def test_what_is_not_ours_is_left_alone(other):
    rig, asked = run(other, "nodeclient", "selfnodeclient")

    assert asked == []
    assert conditions(rig) == other.get("status", {}).get("conditions", [])


ENCIPHERS = (*USAGES, "key encipherment")


@pytest.mark.parametrize(
    ("given", "recognized"),
    [
        (csr(usages=ENCIPHERS), ["selfnodeclient", "nodeclient"]),
        (csr(), ["selfnodeclient", "nodeclient"]),
        (csr(usages=()), []),
        (csr(usages=("key encipherment", "digital signature")), []),
        (csr(usages=("key encipherment", "digital signature", "server auth")), []),
        (csr(usages=(*ENCIPHERS, "server auth")), []),
        (csr(name="mike", username="mike"), []),
        (csr(groups=()), []),
        (csr(groups=("system:master",)), []),
        (csr(groups=("system:nodes", "system:masters")), []),
        (csr(dns="n"), []),
        (csr("joe"), ["nodeclient"]),
        (csr(name="system:node:bar"), ["nodeclient"]),
    ],
)
def test_which_requests_are_recognized(given, recognized):
    assert permissions(given) == recognized


def test_a_request_that_was_not_approved_is_asked_for_again_at_a_growing_distance():
    rig, asked = run(csr("joe"))

    rig.advance(1)
    soon = len(asked)
    rig.advance(600)

    assert 1 < soon < len(asked)
    assert {spec["resourceAttributes"]["subresource"] for spec in asked} == {"nodeclient"}
