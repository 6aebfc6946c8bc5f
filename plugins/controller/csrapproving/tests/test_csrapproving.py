"""The csrapproving controller: kubelets get what they may have, and no others do."""

from base64 import b64encode

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from hyperkube_controller.csrapproving import Csrapproving

from hyperkube.kinds.resources import CERTIFICATE_SIGNING_REQUESTS, SUBJECT_ACCESS_REVIEWS
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

NODE = "system:node:n"


def csr(username=NODE, signer="kubernetes.io/kube-apiserver-client-kubelet", usage="client auth"):
    subject = x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "system:nodes"), x509.NameAttribute(NameOID.COMMON_NAME, NODE)]
    )
    key = ec.generate_private_key(ec.SECP256R1())
    pem = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, SHA256()).public_bytes(Encoding.PEM)
    return {
        "kind": "CertificateSigningRequest",
        "metadata": {"name": "r"},
        "spec": {
            "request": b64encode(pem).decode(),
            "signerName": signer,
            "usages": ["digital signature", usage],
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
        csr(usage="server auth"),
        {**csr(), "spec": {**csr()["spec"], "request": "AAAA"}},
        {**csr(), "status": {"conditions": [{"type": "Denied", "status": "True"}]}},
    ],
    ids=["signer", "usage", "unreadable", "denied"],
)
def test_what_is_not_ours_is_left_alone(other):
    rig, asked = run(other, "nodeclient", "selfnodeclient")

    assert asked == []
    assert conditions(rig) == other.get("status", {}).get("conditions", [])
