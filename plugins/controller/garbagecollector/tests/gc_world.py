"""What the tests of the garbage collector share: what the server serves, objects, and who owns them."""

import json

from hyperkube.client.client import RawResponse
from hyperkube.kinds.resources import CONFIG_MAPS, DEPLOYMENTS, EVENTS, PODS, REPLICA_SETS

VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"]
UNSEEN = ["get", "delete"]
"""Verbs of a resource that no watch shows."""


def resource(name, kind, *, namespaced=True, verbs=VERBS):
    return {"name": name, "kind": kind, "namespaced": namespaced, "verbs": verbs}


CORE = [resource("pods", "Pod"), resource("configmaps", "ConfigMap"), resource("nodes", "Node", namespaced=False)]
APPS = [resource("deployments", "Deployment"), resource("replicasets", "ReplicaSet")]
ROLES = [resource("roles", "Role")]


def group(name, *versions):
    rows = [{"groupVersion": f"{name}/{version}"} for version in versions]
    return {"name": name, "versions": rows, "preferredVersion": rows[0]}


def serve_discovery(rig, *, core=CORE, apps=APPS):
    groups = [group("apps", "v1"), group("rbac.authorization.k8s.io", "v1", "v1beta1")]
    for path, document in {
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/api/v1": {"resources": core},
        "/apis": {"kind": "APIGroupList", "groups": groups},
        "/apis/apps/v1": {"resources": apps},
        "/apis/rbac.authorization.k8s.io/v1": {"resources": ROLES},
        "/apis/rbac.authorization.k8s.io/v1beta1": {"resources": ROLES},
    }.items():
        status = 503 if document == {"resources": None} else 200
        answer = RawResponse(status, {}, json.dumps(document).encode())
        rig.client.answer("GET", path, lambda _body, answer=answer: answer)


def ref(kind, name, uid, *, api="apps/v1", block=False):
    return {"apiVersion": api, "kind": kind, "name": name, "uid": uid, "controller": True, "blockOwnerDeletion": block}


def obj(kind, name, *owners, api="v1", namespace="d", **meta):
    meta = {"name": name, "namespace": namespace, "uid": f"u-{name}", "ownerReferences": [*owners], **meta}
    return {"kind": kind, "apiVersion": api, "metadata": {key: value for key, value in meta.items() if value}}


def family(rig, *, block=False):
    """A deployment, its replica set, and that one's pod."""
    rig.client.seed(DEPLOYMENTS, obj("Deployment", "web", api="apps/v1"))
    rig.client.seed(
        REPLICA_SETS, obj("ReplicaSet", "rs", ref("Deployment", "web", "u-web", block=block), api="apps/v1")
    )
    rig.client.seed(PODS, obj("Pod", "pod", ref("ReplicaSet", "rs", "u-rs", block=block)))
    rig.settle()


def left(rig):
    return [
        found["metadata"]["name"]
        for kind in (DEPLOYMENTS, REPLICA_SETS, PODS, CONFIG_MAPS)
        for found in rig.client.objects(kind)
    ]


def events(rig):
    (controller,) = rig.controllers
    controller._recorder.flush()
    return [(event["reason"], event["message"]) for event in rig.client.objects(EVENTS)]
