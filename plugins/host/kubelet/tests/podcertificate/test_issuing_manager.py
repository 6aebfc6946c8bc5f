"""Certificates of pods: requested, waited for, renewed and forgotten; the signer is the test."""

from datetime import timedelta
from random import Random

import pytest
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.podcertificate.issuing_manager import IssuingManager
from hyperkube_host.kubelet.podcertificate.pod_certificate_manager import NoPodCertificates
from hyperkube_host.kubelet.podcertificate.projections import Projection

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.kinds.resources import POD_CERTIFICATE_REQUESTS, SERVICE_ACCOUNTS
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.times import format_time

SOURCE = {
    "signerName": "example.com/s",
    "keyType": "ED25519",
    "maxExpirationSeconds": 7200,
    "userAnnotations": {"a/b": "c"},
}
POD = {
    "metadata": {"name": "p", "namespace": "ns", "uid": "u"},
    "spec": {
        "serviceAccountName": "sa",
        "volumes": [{"name": "v", "projected": {"sources": [{"secret": {"name": "s"}}, {"podCertificate": SOURCE}]}}],
    },
}
WHERE = Projection("ns", "p", "u", "v", 1)


class World:
    """A node with one pod, its manager, and the signer's part."""

    def __init__(self):
        self.client = FakeClient()
        self.clock = self.client.clock
        self.client.seed(SERVICE_ACCOUNTS, {"metadata": {"name": "sa", "namespace": "ns", "uid": "sa-uid"}})
        self.pods, self.synced, self.events = {"u": POD}, [], []
        recorder = KubeletEventRecorder(None, "n1")
        recorder.pod_event = lambda _pod, *event: self.events.append(event)
        self.manager = IssuingManager(
            self.client, self.clock, recorder, lambda: {"metadata": {"uid": "n-uid"}}, self.pods.get,
            self.synced.append, node_name="n1", random=Random(1),
        )  # fmt: skip

    def step(self):
        self.manager._requests.refresh()
        self.manager.sync(WHERE)

    def requests(self):
        return self.client.objects(POD_CERTIFICATE_REQUESTS)

    def answer(self, kind, **status):
        condition = {"type": kind, "status": "True", "reason": "R", "message": "m"}
        request = {**self.requests()[-1], "status": {"conditions": [condition], **status}}
        self.client.update(POD_CERTIFICATE_REQUESTS, request, subresource="status")

    def issue(self, text="AAAA"):
        now = self.clock.now()
        chain = f"-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n"
        times = {"beginRefreshAt": now + timedelta(hours=1), "notAfter": now + timedelta(hours=2)}
        self.answer("Issued", certificateChain=chain, **{name: format_time(time) for name, time in times.items()})

    def bundle(self):
        return self.manager.credential_bundle(POD, "v", 1)


@pytest.fixture
def world():
    return World()


def test_a_request_says_whom_the_certificate_is_for(world):
    world.manager.track(POD)
    world.step()

    (request,) = world.requests()
    stub = request["spec"].pop("stubPKCS10Request")
    assert request["spec"] == {
        "signerName": "example.com/s", "podName": "p", "podUID": "u", "serviceAccountName": "sa",
        "serviceAccountUID": "sa-uid", "nodeName": "n1", "nodeUID": "n-uid", "maxExpirationSeconds": 7200,
        "unverifiedUserAnnotations": {"a/b": "c"},
    }  # fmt: skip
    assert stub
    assert request["metadata"]["name"].startswith("req-")
    assert request["metadata"]["ownerReferences"] == [{"apiVersion": "core/v1", "kind": "Pod", "name": "p", "uid": "u"}]


def test_the_bundle_is_there_once_it_is_issued_and_the_pod_is_synced(world):
    with pytest.raises(VolumeFailed, match="no credentials yet"):
        world.bundle()
    world.manager.track(POD)
    world.step()
    with pytest.raises(VolumeFailed, match="credential bundle is not issued yet"):
        world.bundle()
    world.issue()
    world.step()

    key, chain = world.bundle()
    assert key.startswith(b"-----BEGIN PRIVATE KEY-----")
    assert chain == b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    assert world.synced == ["u"]
    assert world.manager.states() == {("example.com/s", "fresh"): 1}


def test_a_certificate_is_renewed_with_a_new_key_when_it_is_time(world):
    world.step()
    world.issue("AAAA")
    world.step()
    before = world.bundle()
    world.step()
    assert len(world.requests()) == 1

    world.clock.advance(3600 + 300)
    world.step()
    assert (len(world.requests()), world.bundle()) == (2, before)
    world.issue("BBBB")
    world.step()

    assert b"BBBB" in world.bundle()[1]
    assert world.bundle()[0] != before[0]
    assert world.synced == ["u", "u"]


def test_a_denied_request_is_an_event_and_is_not_made_again(world):
    world.step()
    world.answer("Denied")
    for _ in range(3):
        world.step()

    ((kind, reason, message),) = world.events
    assert (kind, reason) == ("Warning", "Denied")
    assert message.endswith('was denied, reason="R", message="m"')
    assert len(world.requests()) == 1
    assert world.manager.states() == {("example.com/s", "denied"): 1}


def test_a_refused_request_is_made_again_after_a_back_off_that_doubles(world):
    for _ in range(3):
        world.client.fail_next("create", "podcertificaterequests", Forbidden("not yours"))
        world.step()
    assert world.requests() == []
    assert world.manager._pool.queue.failures(WHERE) == 3

    world.step()
    world.issue()
    world.step()
    assert world.manager._pool.queue.failures(WHERE) == 0
    assert world.bundle()


def test_what_a_pod_had_is_dropped_with_it(world):
    world.step()
    world.issue()
    world.step()

    world.pods.clear()
    world.step()

    assert world.manager.states() == {}
    with pytest.raises(VolumeFailed, match="no credentials yet"):
        world.bundle()


def test_a_static_pod_gets_no_certificate(world):
    world.manager.track(
        {**POD, "metadata": {**POD["metadata"], "annotations": {"kubernetes.io/config.source": "file"}}}
    )

    assert world.manager.states() == {}


def test_without_the_gate_the_reason_is_told():
    with pytest.raises(VolumeFailed, match="feature gate PodCertificateRequest"):
        NoPodCertificates().credential_bundle(POD, "v", 1)
