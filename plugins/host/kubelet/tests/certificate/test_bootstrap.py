"""A node's way from a bootstrap token to a certificate: what it asks for, keeps and writes."""

from __future__ import annotations

import base64
from datetime import timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from hyperkube_host.kubelet.certificate import bootstrap as subject
from hyperkube_host.kubelet.certificate.bootstrap import bootstrap, is_still_valid
from hyperkube_host.kubelet.certificate.csr import BootstrapFailed
from hyperkube_lib.serving.certificates import issue, make_ca

from hyperkube.client import kubeconfig
from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import CERTIFICATE_SIGNING_REQUESTS
from hyperkube.machinery.errors import UsageError

NODE = "n1"


class World:
    """A fake API that answers requests for certificates when it is asked for them, and the node's files."""

    def __init__(self, folder, monkeypatch):
        self.folder = folder
        self.client = FakeClient()
        self.clock = self.client.clock
        self.answers = lambda _request: {}
        self.gets = 0
        monkeypatch.setattr(subject.kubeconfig, "client_for", lambda *_args, **_more: self)
        cluster = {"server": "https://10.0.0.1:6443", "certificate-authority-data": "Y2E="}
        config = kubeconfig.put(kubeconfig.empty(), "clusters", "c", cluster)
        config = kubeconfig.put(config, "users", "u", {"token": "abcdef.0123456789abcdef"})
        config = kubeconfig.put(config, "contexts", "x", {"cluster": "c", "user": "u"})
        kubeconfig.write(folder / "bootstrap", {**config, "current-context": "x"})

    def create(self, resource, obj):
        return self.client.create(resource, obj)

    def get(self, resource, name):
        self.gets += 1
        found = self.client.get(resource, name)
        return {**found, "status": self.answers(found)}

    def close(self):
        """Nothing is open."""

    def join(self, **more):
        files = {"kubeconfig_file": str(self.folder / "kubeconfig"), "bootstrap_file": str(self.folder / "bootstrap")}
        rest = {"folder": str(self.folder), "node": NODE, "clock": self.clock, "pause": lambda: False}
        bootstrap(**{**files, **rest, **more})

    def requests(self):
        return self.client.objects(CERTIFICATE_SIGNING_REQUESTS)


@pytest.fixture
def world(tmp_path, monkeypatch):
    return World(tmp_path, monkeypatch)


def signed(world):
    ca = make_ca("ca", clock=world.clock)
    pair = issue(ca, f"system:node:{NODE}", organizations=["system:nodes"], client=True, clock=world.clock)
    return lambda _request: {"certificate": base64.b64encode(pair.certificate).decode()}


def test_it_asks_for_what_a_node_is_given(world):
    world.answers = signed(world)

    world.join()

    (request,) = world.requests()
    assert request["metadata"]["name"].startswith("node-csr-")
    assert request["spec"]["signerName"] == "kubernetes.io/kube-apiserver-client-kubelet"
    assert request["spec"]["usages"] == ["digital signature", "client auth"]
    csr = x509.load_pem_x509_csr(base64.b64decode(request["spec"]["request"]))
    assert csr.subject.rfc4514_string() == "CN=system:node:n1,O=system:nodes"


def test_the_kubeconfig_points_to_the_certificate_and_its_key(world):
    world.answers = signed(world)

    world.join()

    access = kubeconfig.resolve(kubeconfig.read(world.folder / "kubeconfig"))
    assert access.cluster["server"] == "https://10.0.0.1:6443"
    pem = (world.folder / "kubelet-client-current.pem").read_bytes()
    assert access.user["client-certificate"] == str(world.folder / "kubelet-client-current.pem")
    assert x509.load_pem_x509_certificate(pem).subject.rfc4514_string().startswith("CN=system:node:n1")
    assert load_pem_private_key(pem, None)
    assert not (world.folder / "kubelet-client.key.tmp").exists()
    assert (world.folder / "kubelet-client-current.pem").stat().st_mode & 0o077 == 0


def test_a_kubelet_that_was_ended_goes_on_with_the_same_request(world):
    with pytest.raises(BootstrapFailed, match="told to stop"):
        world.join(pause=lambda: True)
    world.answers = signed(world)
    world.join()

    assert len(world.requests()) == 1


def test_a_good_kubeconfig_is_left_alone_and_an_old_one_is_not(world):
    world.answers = signed(world)
    world.join()
    world.join()
    assert len(world.requests()) == 1
    assert is_still_valid(str(world.folder / "kubeconfig"), world.clock)

    world.clock.advance(timedelta(days=3650).total_seconds())

    assert not is_still_valid(str(world.folder / "kubeconfig"), world.clock)


@pytest.mark.parametrize(
    ("kind", "text"), [("Denied", "is denied, reason: No, message: not you"), ("Failed", "failed, reason: No")]
)
def test_a_request_that_is_refused_ends_the_kubelet(world, kind, text):
    world.answers = lambda _request: {"conditions": [{"type": kind, "reason": "No", "message": "not you"}]}

    with pytest.raises(BootstrapFailed, match=f"certificate signing request {text}"):
        world.join()


def test_it_needs_a_file_to_write(world):
    with pytest.raises(UsageError, match="needs --kubeconfig"):
        world.join(kubeconfig_file="")
