"""Trust anchors: selected by name, or by signer and labels; each once, in one order."""

import pytest
from hyperkube_host.kubelet.clustertrustbundle.cluster_trust_bundle_manager import (
    ClusterTrustBundleManager,
    NoTrustAnchors,
)
from hyperkube_lib.serving.certificates import make_ca

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.kinds.resources import CLUSTER_TRUST_BUNDLES
from hyperkube.machinery.clock import SystemClock

A, B, C = (make_ca(name).certificate.decode() for name in "abc")


def bundle(name, text, signer="", **labels):
    spec = {"trustBundle": text} | ({"signerName": signer} if signer else {})
    return {"metadata": {"name": name, "labels": labels}, "spec": spec}


@pytest.fixture
def client():
    client = FakeClient(SystemClock())
    client.seed(
        CLUSTER_TRUST_BUNDLES,
        bundle("plain", f"a comment\n{A}"),
        bundle("s:one", A + B, "example.com/s", live="yes"),
        bundle("s:two", B + C, "example.com/s"),
        bundle("t:one", C, "example.com/t", live="yes"),
    )
    return client


@pytest.fixture
def manager(client):
    manager = ClusterTrustBundleManager(client, client.clock, b"salt")
    yield manager
    manager.close()


def parts(pem):
    return sorted(
        part + "-----END CERTIFICATE-----\n" for part in pem.decode().split("-----END CERTIFICATE-----\n")[:-1]
    )


@pytest.mark.parametrize(
    ("source", "anchors"),
    [
        ({"name": "plain"}, [A]),
        ({"signerName": "example.com/s", "labelSelector": {}}, [A, B, C]),
        ({"signerName": "example.com/s", "labelSelector": {"matchLabels": {"live": "yes"}}}, [A, B]),
        ({"name": "none", "optional": True}, []),
        ({"signerName": "example.com/none", "labelSelector": {}, "optional": True}, []),
    ],
    ids=["name", "signer", "labels", "optional-name", "optional-signer"],
)
def test_a_source_selects_anchors_each_of_which_comes_once(manager, source, anchors):
    assert parts(manager.anchors(source)) == sorted(anchors)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            {"name": "none"},
            'while getting ClusterTrustBundle: clustertrustbundles.certificates.k8s.io "none" not found',
        ),
        (
            {"signerName": "example.com/s"},
            "combination of signerName and labelSelector matched zero ClusterTrustBundles",
        ),
    ],
    ids=["name", "no-selector-matches-nothing"],
)
def test_what_selects_nothing_is_told(manager, source, text):
    with pytest.raises(VolumeFailed, match=text):
        manager.anchors(source)


def test_the_order_stays_and_is_another_one_for_another_kubelet(client, manager):
    source = {"signerName": "example.com/s", "labelSelector": {}}
    others = [ClusterTrustBundleManager(client, client.clock, bytes([number])) for number in range(8)]

    found = {other.anchors(source) for other in others}
    for other in others:
        other.close()

    assert manager.anchors(source) == manager.anchors(source)
    assert len(found) > 1


def test_without_the_gate_the_reason_is_told():
    with pytest.raises(VolumeFailed, match="not supported in static kubelet mode"):
        NoTrustAnchors().anchors({"name": "plain"})
