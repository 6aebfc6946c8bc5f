"""A node joins with a bootstrap token, requests for certificates are approved, roles are reconciled."""

from __future__ import annotations

import base64
import contextlib
import json
import socket
import ssl
import subprocess
from pathlib import Path

import pytest
import yaml
from cryptography import x509
from hyperkube_testing.peers.ports import free_port
from local_cluster import HYPERKUBE, LocalCluster, Room, eventually, run

TOKEN_ID, TOKEN_SECRET = "abcdef", "0123456789abcdef"


@pytest.fixture(scope="module")
def open_cluster(scratch):
    """A cluster of its own that lets nodes join, as kubeadm sets one up."""
    with LocalCluster(scratch / "open", "--apiserver-arg=enable-bootstrap-token-auth").running() as cluster:
        cluster.kubectl("apply", "-f", "-", input=yaml.safe_dump_all(_doors()))
        yield cluster


def _doors():
    """The token of those who join, and what they may."""
    yield {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "bootstrap.kubernetes.io/token",
        "metadata": {"name": f"bootstrap-token-{TOKEN_ID}", "namespace": "kube-system"},
        "stringData": {
            "token-id": TOKEN_ID,
            "token-secret": TOKEN_SECRET,
            "usage-bootstrap-authentication": "true",
            "auth-extra-groups": "system:bootstrappers:default-node-token",
        },
    }
    yield _binding("join", "system:node-bootstrapper", "system:bootstrappers:default-node-token")
    yield _binding(
        "approve", "system:certificates.k8s.io:certificatesigningrequests:nodeclient", "system:bootstrappers:automatic"
    )


def _binding(name, role, group):
    subject = {"kind": "Group", "name": group, "apiGroup": "rbac.authorization.k8s.io"}
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [subject],
    }


class Node:
    """A kubelet as a process that has nothing but the bootstrap token."""

    def __init__(self, cluster, name):
        self.cluster, self.name = cluster, name
        self.folder = cluster.root.parent / name
        self.folder.mkdir()
        config = yaml.safe_load(cluster.kubeconfig.read_text())
        config["users"] = [{"name": "join", "user": {"token": f"{TOKEN_ID}.{TOKEN_SECRET}"}}]
        config["contexts"][0]["context"]["user"] = "join"
        config["current-context"] = config["contexts"][0]["name"]
        (self.folder / "bootstrap").write_text(yaml.safe_dump(config))
        self.log = self.folder / "kubelet.log"
        self.port = free_port()

    @contextlib.contextmanager
    def running(self):
        command = [
            HYPERKUBE, "kubelet", f"--bootstrap-kubeconfig={self.folder / 'bootstrap'}",
            f"--kubeconfig={self.folder / 'kubeconfig'}", f"--root-dir={self.folder / 'root'}",
            f"--hostname-override={self.name}", "--container-runtime=hollow", f"--port={self.port}",
            "--read-only-port=0", "--healthz-port=0", "--address=127.0.0.1", "--register-schedulable=false",
            "--rotate-certificates", "--rotate-server-certificates",
        ]  # fmt: skip
        with self.log.open("a") as log:
            process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(15)

    def request(self, asker=f"system:bootstrap:{TOKEN_ID}"):
        """Return the request for the node's certificate."""
        rows = self.cluster.get("certificatesigningrequests")
        return next((row for row in rows if row["spec"]["username"] == asker and self._is_mine(row)), None)

    def issuer(self):
        """Return who has signed the certificate that the kubelet serves with."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with socket.create_connection(("127.0.0.1", self.port)) as plain, context.wrap_socket(plain) as secure:
            certificate = x509.load_der_x509_certificate(secure.getpeercert(binary_form=True))
        return certificate.issuer.rfc4514_string()

    def _is_mine(self, row):
        pem = base64.b64decode(row["spec"]["request"])
        return f"system:node:{self.name}" in x509.load_pem_x509_csr(pem).subject.rfc4514_string()

    def registered(self):
        return self.name in [node["metadata"]["name"] for node in self.cluster.get("nodes")]


def test_a_node_joins_once_its_request_is_approved(open_cluster):
    node = Node(open_cluster, "joiner")

    with node.running():
        request = eventually(node.request, why="the node asks for a certificate")
        table = open_cluster.kubectl("get", "csr", request["metadata"]["name"]).out
        assert "Pending" in table
        assert not node.registered()
        approved = open_cluster.kubectl("certificate", "approve", request["metadata"]["name"]).out
        eventually(node.registered, why=f"the node registers\n{node.log.read_text()[-2000:]}")
        ready = open_cluster.kubectl("wait", "--for=condition=Ready", "node/joiner", "--timeout=60s").out
        serving = eventually(lambda: node.request("system:node:joiner"), why="the node asks for one to serve with")
        own = node.issuer()
        open_cluster.kubectl("certificate", "approve", serving["metadata"]["name"])
        eventually(lambda: node.issuer() != own, why=f"the kubelet serves with it\n{node.log.read_text()[-2000:]}")

    assert serving["spec"]["signerName"] == "kubernetes.io/kubelet-serving"
    assert "approved" in approved
    assert "condition met" in ready
    assert "Approved,Issued" in open_cluster.kubectl("get", "csr", request["metadata"]["name"]).out
    config = yaml.safe_load((node.folder / "kubeconfig").read_text())
    pair = config["users"][0]["user"]["client-certificate"]
    assert b"BEGIN CERTIFICATE" in Path(pair).read_bytes()
    mine = ("--kubeconfig", str(node.folder / "kubeconfig"), "auth", "can-i")
    who = run(["kubectl", "--kubeconfig", node.folder / "kubeconfig", "auth", "whoami", "-o", "json"]).json
    assert who["status"]["userInfo"]["username"] == "system:node:joiner"
    assert run(["kubectl", *mine, "list", "secrets", "-A"], check=False).out.startswith("no")


def test_a_group_that_may_is_approved_without_anybody(open_cluster):
    secret = json.loads(open_cluster.kubectl("get", "secret", "-n", "kube-system", f"bootstrap-token-{TOKEN_ID}",
                                             "-o", "json").out)  # fmt: skip
    groups = {
        "stringData": {"auth-extra-groups": "system:bootstrappers:default-node-token,system:bootstrappers:automatic"}
    }
    open_cluster.kubectl("patch", "secret", "-n", "kube-system", secret["metadata"]["name"], "-p", json.dumps(groups))
    node = Node(open_cluster, "automatic")

    with node.running():
        eventually(node.registered, why=f"the node registers\n{node.log.read_text()[-2000:]}")

    conditions = node.request()["status"]["conditions"]
    assert [condition["reason"] for condition in conditions] == ["AutoApproved"]


def test_a_denied_request_ends_the_kubelet_with_one_line(open_cluster):
    binding = "approve"
    open_cluster.kubectl("delete", "clusterrolebinding", binding)
    node = Node(open_cluster, "unwelcome")

    with node.running() as process:
        request = eventually(node.request, why="the node asks for a certificate")
        open_cluster.kubectl("certificate", "deny", request["metadata"]["name"])
        eventually(lambda: process.poll() is not None, why="the kubelet ends")

    assert process.returncode == 1
    assert "error: certificate signing request is denied" in node.log.read_text()
    assert "Traceback" not in node.log.read_text()


def test_roles_and_bindings_are_reconciled(open_cluster):
    room = Room(open_cluster, "default")
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "looker", "namespace": room.name},
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
    }
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "lookers", "namespace": room.name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "looker"},
        "subjects": [{"kind": "User", "name": "ann", "apiGroup": "rbac.authorization.k8s.io"}],
    }

    def reconcile(*objects, words=()):
        return room.kubectl("auth", "reconcile", "-f", "-", *words, input=yaml.safe_dump_all(objects)).out

    first = reconcile(role, binding)
    more = {**role, "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]}
    others = {**binding, "subjects": [{**binding["subjects"][0], "name": "bob"}]}
    second = reconcile(more, others)

    assert "role.rbac.authorization.k8s.io/looker reconciled" in first
    assert "rolebinding.rbac.authorization.k8s.io/lookers reconciled" in second
    for user, verb, resource, answer in (
        ("ann", "get", "pods", "yes"),
        ("ann", "list", "configmaps", "yes"),
        ("bob", "get", "pods", "yes"),
        ("eve", "get", "pods", "no"),
    ):
        asked = room.kubectl("auth", "can-i", verb, resource, f"--as={user}", check=False).out
        assert asked.strip().splitlines()[-1] == answer, (user, verb, resource)
    pruned = reconcile(more, words=("--remove-extra-permissions",))
    assert "reconciled" in pruned
    assert room.kubectl("auth", "can-i", "get", "pods", "--as=ann", check=False).out.strip().endswith("no")
