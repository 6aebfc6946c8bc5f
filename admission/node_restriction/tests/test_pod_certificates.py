"""What a kubelet may request certificates for."""

import pytest
from hyperkube_admission.node_restriction import NodeRestriction

from hyperkube.kinds.resources import NODES, POD_CERTIFICATE_REQUESTS, PODS, SERVICE_ACCOUNTS
from hyperkube.machinery.errors import ApiError, Forbidden
from hyperkube.machinery.users import node
from hyperkube.testing.admission_rig import AdmissionRig

ME = node("n1")
VOLUME = {"name": "v", "projected": {"sources": [{"podCertificate": {"signerName": "example.com/s"}}]}}
MIRROR = {"kubernetes.io/config.mirror": "x"}
GOOD = {
    "signerName": "example.com/s", "podName": "mine", "podUID": "u-mine", "serviceAccountName": "sa",
    "serviceAccountUID": "u-sa", "nodeName": "n1", "nodeUID": "u-n1",
}  # fmt: skip


def pod(name, on, annotations=None):
    meta = {"name": name, "namespace": "ns", "uid": f"u-{name}", "annotations": annotations or {}}
    return {"metadata": meta, "spec": {"nodeName": on, "serviceAccountName": "sa", "volumes": [VOLUME]}}


@pytest.fixture
def rig():
    rig = AdmissionRig(NodeRestriction)
    rig.seed(NODES, {"metadata": {"name": "n1", "uid": "u-n1"}})
    rig.seed(PODS, pod("mine", "n1"), pod("other", "n2"), pod("mirror", "n1", MIRROR))
    rig.seed(SERVICE_ACCOUNTS, {"metadata": {"name": "sa", "namespace": "ns", "uid": "u-sa"}})
    return rig


def wanted(**changed):
    return {"metadata": {"name": "req-1", "namespace": "ns"}, "spec": {**GOOD, **changed}}


def test_a_certificate_for_a_pod_of_the_node_may_be_requested(rig):
    rig.create(POD_CERTIFICATE_REQUESTS, wanted(), user=ME)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"nodeName": "n2"},
            'PodCertificateRequest.Spec.NodeName="n2", which is not the requesting node "n1"',
        ),
        (
            {"podName": "other", "podUID": "u-other"},
            'pod "ns/other" is not running on node "n1" named in the PodCertificateRequest',
        ),
        ({"podName": "mirror", "podUID": "u-mirror"}, 'pod "ns/mirror" is a mirror pod'),
        (
            {"serviceAccountName": "root"},
            (
                'PodCertificateRequest for pod "ns/mine" contains serviceAccountName ("root") that differs from running '
                'pod ("sa")'
            ),
        ),
        (
            {"signerName": "example.com/other"},
            'signerName "example.com/other" not found in the podCertificate volumes of pod "ns/mine"',
        ),
    ],
    ids=["node", "elsewhere", "mirror", "account", "signer"],
)
def test_what_is_not_the_nodes_own_is_forbidden(rig, changed, message):
    with pytest.raises(Forbidden) as refused:
        rig.create(POD_CERTIFICATE_REQUESTS, wanted(**changed), user=ME)

    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"nodeUID": "x"},
            'PodCertificateRequest for pod "ns/mine" names node UID "x", inconsistent with the running node ("u-n1")',
        ),
        (
            {"podUID": "x"},
            'PodCertificateRequest for pod "ns/mine" contains pod UID ("x") which differs from running pod "u-mine"',
        ),
        ({"podName": "gone"}, 'while retrieving pod "ns/gone" named in the PodCertificateRequest: '),
        (
            {"serviceAccountUID": "x"},
            (
                'PodCertificateRequest for pod "ns/mine" names service account UID "x", which differs from the running '
                'service account ("u-sa")'
            ),
        ),
    ],
    ids=["node", "pod", "no-pod", "account"],
)
def test_what_may_be_known_later_is_an_error_that_is_worth_another_try(rig, changed, message):
    with pytest.raises(ApiError) as refused:
        rig.create(POD_CERTIFICATE_REQUESTS, wanted(**changed), user=ME)

    assert not isinstance(refused.value, Forbidden)
    assert message in str(refused.value)


def test_a_request_is_not_changed_by_a_node(rig):
    with pytest.raises(Forbidden, match="unexpected operation UPDATE"):
        rig.update(POD_CERTIFICATE_REQUESTS, wanted(), wanted(), user=ME)
