"""A pod gets a certificate through the real API server: the node's rights, its proof, a signer, the files."""

from base64 import b64decode
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hyperkube_host.kubelet.command import COMMAND
from hyperkube_host.kubelet.kubelet import Kubelet
from hyperkube_host.kubelet.options import KubeletOptions
from hyperkube_lib.serving.certificates import make_ca
from hyperkube_testing.cluster.cluster import ControlPlane

from hyperkube.kinds.resources import (
    CLUSTER_TRUST_BUNDLES,
    EVENTS,
    POD_CERTIFICATE_REQUESTS,
    PODS,
    SERVICE_ACCOUNTS,
)
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.times import format_time
from hyperkube.machinery.users import node
from hyperkube.plugin.flags import FlagValues
from hyperkube.testing.waiting import eventually

GATES = {"PodCertificateRequest": True, "ClusterTrustBundle": True, "ClusterTrustBundleProjection": True}
SERVER = {
    "feature-gates": GATES,
    "runtime-config": {"certificates.k8s.io/v1beta1": "true"},
    "authorization-mode": ["Node", "RBAC"],
    "enable-admission-plugins": ["NodeRestriction"],
}
SIGNER = "example.com/tests"
CA = ec.generate_private_key(ec.SECP256R1())


@pytest.fixture(scope="module")
def cluster():
    manager = {"controllers": ["serviceaccount"]}
    with ControlPlane(apiserver=SERVER, controller_manager=manager, scheduler=None) as running:
        yield running


@pytest.fixture(scope="module")
def kubelet(cluster, tmp_path_factory):
    values = {
        "hostname-override": "n1",
        "root-dir": str(tmp_path_factory.mktemp("n1")),
        "node-ip": "127.0.0.1",
        "container-runtime": "process",
        "stop-pods-on-close": True,
        "feature-gates": GATES,
        "port": 0,
    }
    kubelet = Kubelet(
        client=cluster.server.client(node("n1")),
        options=KubeletOptions.of(FlagValues.of(COMMAND.all_flags(), values)),
        clock=cluster.clock,
    )
    kubelet.start()
    eventually(kubelet.ready)
    yield kubelet
    kubelet.close()


def certified_by(key_type):
    paths = {"credentialBundlePath": "bundle.pem", "keyPath": "key.pem"}
    return {"podCertificate": {"signerName": SIGNER, "keyType": key_type, **paths}}


def make_pod(cluster, name, source):
    eventually(lambda: cluster.client.list(SERVICE_ACCOUNTS, "default").items)
    container = {
        "name": "c", "image": "host", "command": ["sh", "-c", "sleep 600"],
        "volumeMounts": [{"name": "certs", "mountPath": "/certs"}],
    }  # fmt: skip
    volumes = [{"name": "certs", "projected": {"sources": [source]}}]
    spec = {
        "nodeName": "n1", "containers": [container], "volumes": volumes, "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
    }  # fmt: skip
    return cluster.client.create(PODS, {"metadata": {"name": name}, "spec": spec}, "default")


def request_for(cluster, name):
    found = cluster.client.list(POD_CERTIFICATE_REQUESTS, "default").items
    return next((one for one in found if one["spec"]["podName"] == name), None)


def answer(cluster, request, kind, **status):
    conditions = [{"type": kind, "status": "True", "reason": "Tested", "message": "as asked"}]
    cluster.client.update(
        POD_CERTIFICATE_REQUESTS, {**request, "status": {"conditions": conditions, **status}}, subresource="status"
    )


def issue(cluster, request):
    """Answer as a signer does: a certificate for a day, to be renewed after half of it."""
    stub = x509.load_der_x509_csr(b64decode(request["spec"]["stubPKCS10Request"]))
    begin = cluster.clock.now().replace(microsecond=0)
    end = begin + timedelta(days=1)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, request["spec"]["podName"])])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).serial_number(1)
    builder = builder.not_valid_before(begin).not_valid_after(end).public_key(stub.public_key())
    chain = builder.sign(CA, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()
    times = {"notBefore": begin, "notAfter": end, "beginRefreshAt": begin + timedelta(hours=12)}
    shown = {member: format_time(time) for member, time in times.items()}
    answer(cluster, request, "Issued", certificateChain=chain, **shown)


def phase(cluster, name):
    return (cluster.client.get(PODS, name, "default").get("status") or {}).get("phase")


def events(cluster, name):
    found = cluster.client.list(EVENTS, "default").items
    return {event["reason"]: event["message"] for event in found if event["involvedObject"]["name"] == name}


def test_a_pod_starts_with_its_certificate_once_the_signer_has_issued_it(cluster, kubelet):
    pod = make_pod(cluster, "certified", certified_by("ECDSAP256"))
    request = eventually(lambda: request_for(cluster, "certified"))
    waits = eventually(lambda: events(cluster, "certified").get("FailedMount"))
    assert phase(cluster, "certified") == "Pending"
    issue(cluster, request)

    eventually(lambda: phase(cluster, "certified") == "Running")
    folder = Path(kubelet.options.pods.root, "pods", pod["metadata"]["uid"], "volumes/kubernetes.io~projected/certs")
    bundle = (folder / "bundle.pem").read_bytes()
    key = serialization.load_pem_private_key(bundle, None)

    assert waits == 'MountVolume.SetUp failed for volume "certs" : credential bundle is not issued yet'
    assert x509.load_pem_x509_certificate(bundle).public_key() == key.public_key()
    assert bundle.startswith((folder / "key.pem").read_bytes())


def test_a_denied_pod_never_starts_and_is_told_why(cluster, kubelet):
    make_pod(cluster, "denied", certified_by("ED25519"))
    request = eventually(lambda: request_for(cluster, "denied"))
    answer(cluster, request, "Denied")

    told = eventually(lambda: events(cluster, "denied").get("Denied"))
    refused = eventually(lambda: "permanently denied" in events(cluster, "denied").get("FailedMount", ""))

    assert told.endswith('was denied, reason="Tested", message="as asked"')
    assert refused
    assert phase(cluster, "denied") == "Pending"


def test_another_node_neither_asks_for_the_pod_nor_reads_its_request(cluster, kubelet):
    make_pod(cluster, "mine", certified_by("ED25519"))
    request = eventually(lambda: request_for(cluster, "mine"))
    other = cluster.server.client(node("n2"))
    stolen = {"metadata": {"generateName": "req-"}, "spec": {**request["spec"], "nodeName": "n2"}}

    with pytest.raises(Forbidden):
        other.create(POD_CERTIFICATE_REQUESTS, {**stolen, "spec": request["spec"]}, "default")
    with pytest.raises(Forbidden):
        other.get(POD_CERTIFICATE_REQUESTS, request["metadata"]["name"], "default")
    with pytest.raises(Forbidden):
        other.list(POD_CERTIFICATE_REQUESTS, "default")


def test_trust_anchors_of_the_signer_are_in_the_pod(cluster, kubelet):
    anchors = make_ca("anchor").certificate.decode()
    name = f"{SIGNER.replace('/', ':')}:roots"
    spec = {"signerName": SIGNER, "trustBundle": anchors}
    cluster.client.create(CLUSTER_TRUST_BUNDLES, {"metadata": {"name": name}, "spec": spec})
    source = {"signerName": SIGNER, "labelSelector": {}, "path": "ca.pem"}

    pod = make_pod(cluster, "trusting", {"clusterTrustBundle": source})
    eventually(lambda: phase(cluster, "trusting") == "Running")

    folder = Path(kubelet.options.pods.root, "pods", pod["metadata"]["uid"], "volumes/kubernetes.io~projected/certs")
    assert (folder / "ca.pem").read_text() == anchors
