"""A node's credentials reach its own node's objects alone, by whatever way they are asked for."""

import sys
from base64 import b64encode
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))

from attacked_world import ACCOUNTS, CSRS, PODS, RBAC, Call, World, pod

MERGE = {"Content-Type": "application/merge-patch+json"}
NODE, ACCOUNT = "/api/v1/nodes/n1", f"{ACCOUNTS}/robot/token"
SLICES, DRIVERS = "/apis/resource.k8s.io/v1/resourceslices", "/apis/storage.k8s.io/v1/csidrivers"
OWNED = {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Namespace", "name": "gone", "uid": "u"}]}}
TAINTED = {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}
LABELLED = {"metadata": {"labels": {"node-role.kubernetes.io/control-plane": ""}}}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("nodes"))
    projected = {"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "t", "audience": "vault"}}]}}
    csi = {"name": "c", "csi": {"driver": "d.example"}}
    world.make(DRIVERS, {"metadata": {"name": "d.example"}, "spec": {"tokenRequests": [{"audience": "store"}]}})
    world.make(PODS, pod("asks", node="n1", volumes=[projected, csi]))
    for name in ("n1", "n2"):
        world.make(SLICES, resource_slice(f"of-{name}", name))
    yield world
    world.close()


def resource_slice(name, node, count=1):
    pool = {"name": "p", "generation": count, "resourceSliceCount": 1}
    return {"metadata": {"name": name}, "spec": {"driver": "d.example", "nodeName": node, "pool": pool, "devices": [{"name": "d"}]}}  # fmt: skip


def ask(world, method, path, body=None, headers=None, who="cert:n1"):
    answer = world.ask(Call(who, method, path, body, headers or {}))
    return answer.status, answer.json.get("message", "")


@pytest.mark.parametrize("part", ["", "/status"])
@pytest.mark.parametrize(
    ("change", "what"),
    [
        (OWNED, 'node "n1" is not allowed to modify ownerReferences'),
        (TAINTED, 'node "n1" is not allowed to modify taints'),
        (LABELLED, "is not allowed to modify labels: node-role.kubernetes.io/control-plane"),
    ],
    ids=["owners", "taints", "labels"],
)
def test_a_node_does_not_change_what_others_decide_by(world, part, change, what):
    assert ask(world, "PATCH", f"{NODE}{part}", change, MERGE) == (403, f'nodes "n1" is forbidden: {what}')


def test_a_node_is_not_registered_with_an_owner(world):
    world.person("n3", "system:node:n3", by=world.ca, organizations=["system:nodes"])
    node = {"metadata": {"name": "n3", **OWNED["metadata"]}}

    assert ask(world, "POST", "/api/v1/nodes", node, who="cert:n3")[0] == 403
    assert ask(world, "POST", "/api/v1/nodes", {"metadata": {"name": "n3"}}, who="cert:n3")[0] == 201


def test_a_node_still_reports_its_status(world):
    status = {
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        "metadata": {"labels": {"example.com/x": "1"}},
    }

    assert ask(world, "PATCH", f"{NODE}/status", status, MERGE)[0] == 200


def token(world, name, audiences):
    uid = world.ask(Call("admin", "GET", f"{PODS}/{name}")).json["metadata"]["uid"]
    bound = {"kind": "Pod", "apiVersion": "v1", "name": name, "uid": uid}
    spec = {"boundObjectRef": bound, "audiences": audiences}
    return ask(world, "POST", ACCOUNT, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})


@pytest.mark.parametrize("audience", ["vault", "store"])
def test_tokens_are_for_audiences_that_the_pod_asks_for(world, audience):
    assert token(world, "asks", [audience])[0] == 201
    assert token(world, "on-n1", [audience])[0] == 403


@pytest.mark.parametrize(
    "audiences", [["elsewhere"], [], ["vault", "store"], ["vault", "elsewhere"], ["https://issuer.example"]]
)
def test_tokens_for_other_audiences_are_refused(world, audiences):
    status, message = token(world, "asks", audiences)

    assert status == 403
    wanted = (
        f'audience "{audiences[0] if audiences else ""}" not found in pod spec volume, system:node:n1 is not authorized'
    )
    assert ("node may only request 0 or 1 audiences" if len(audiences) > 1 else wanted) in message


def test_an_audience_can_be_allowed(world):
    rule = {"apiGroups": [""], "resources": ["pulls"], "verbs": ["request-serviceaccounts-token-audience"]}
    group = {"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "system:nodes"}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "pulls"}
    world.make(f"{RBAC}/clusterroles", {"metadata": {"name": "pulls"}, "rules": [rule]})
    world.make(
        f"{RBAC}/clusterrolebindings", {"metadata": {"name": "pulls"}, "roleRef": reference, "subjects": [group]}
    )

    assert token(world, "asks", ["pulls"])[0] == 201


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
def test_slices_of_other_nodes_are_out_of_reach(world, method):
    body = None if method in {"GET", "DELETE"} else resource_slice("of-n2", "n2", 2)
    headers = MERGE if method == "PATCH" else None

    status, message = ask(world, method, f"{SLICES}/of-n2", body, headers)

    assert (status, "no relationship found between node 'n1' and this object" in message) == (403, True)


def test_its_own_slices_are_its_own(world):
    assert ask(world, "GET", f"{SLICES}/of-n1")[0] == 200
    assert ask(world, "PATCH", f"{SLICES}/of-n1", {"spec": {"pool": {"generation": 2}}}, MERGE)[0] == 200
    assert ask(world, "GET", SLICES)[0] == 403
    assert ask(world, "GET", f"{SLICES}?fieldSelector=spec.nodeName%3Dn1")[0] == 200
    assert ask(world, "GET", f"{SLICES}/none")[0] == 403


SECRET = {"secretRef": {"name": "s"}}
VOLUMES = {
    "secret": {"secretName": "s"},
    "azureFile": {"secretName": "s", "shareName": "x"},
    "cephfs": {"monitors": ["m"], **SECRET},
    "cinder": {"volumeID": "v", **SECRET},
    "csi": {"driver": "d.example", "nodePublishSecretRef": {"name": "s"}},
    "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}},
    "flexVolume": {"driver": "a/b", **SECRET},
    "iscsi": {"targetPortal": "10.0.0.1:1", "iqn": "iqn.2001-04.com.example:a", "lun": 0, **SECRET},
    "persistentVolumeClaim": {"claimName": "c"},
    "projected": {"sources": [{"podCertificate": {"signerName": "a.b/c", "keyType": "ED25519", "credentialBundlePath": "x"}}]},
    "rbd": {"monitors": ["m"], "image": "i", **SECRET},
    "scaleIO": {"gateway": "g", "system": "s", "volumeName": "v", **SECRET},
    "storageos": {"volumeName": "v", **SECRET},
}  # fmt: skip


def mirror(world, name, **spec):
    uid = world.ask(Call("admin", "GET", NODE)).json["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": uid, "controller": True}
    annotations = {"kubernetes.io/config.mirror": "x", "kubernetes.io/config.source": "file"}
    spec = {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}], **spec}
    return {"metadata": {"name": name, "annotations": annotations, "ownerReferences": [owner]}, "spec": spec}


@pytest.mark.parametrize("kind", VOLUMES)
def test_a_mirror_pod_reaches_nothing_by_its_volumes(world, kind):
    status, message = ask(
        world, "POST", PODS, mirror(world, f"m-{kind.lower()}", volumes=[{"name": "v", kind: VOLUMES[kind]}])
    )

    assert (status, " reference " in message) == (403, True)


def test_a_mirror_pod_without_references_is_made(world):
    assert ask(world, "POST", PODS, mirror(world, "plain", volumes=[{"name": "v", "emptyDir": {}}]))[0] == 201


def request(name, signer, usage):
    subject = [x509.NameAttribute(x509.oid.NameOID.ORGANIZATION_NAME, "system:nodes"), x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, name)]  # fmt: skip
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(subject))
    if "serving" in signer:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("n1")]), critical=False)
    pem = builder.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256()).public_bytes(
        serialization.Encoding.PEM
    )
    spec = {"request": b64encode(pem).decode(), "signerName": signer, "usages": [usage, "digital signature"]}
    return {"metadata": {"generateName": "r-"}, "spec": spec}


@pytest.mark.parametrize(
    ("signer", "usage"), [("kube-apiserver-client-kubelet", "client auth"), ("kubelet-serving", "server auth")]
)
def test_certificates_are_asked_for_in_its_own_name(world, signer, usage):
    signer = f"kubernetes.io/{signer}"

    assert ask(world, "POST", CSRS, request("system:node:n1", signer, usage))[0] == 201
    status, message = ask(world, "POST", CSRS, request("system:node:n2", signer, usage))
    assert (status, "can only create a node CSR with CN=system:node:n1" in message) == (403, True)
