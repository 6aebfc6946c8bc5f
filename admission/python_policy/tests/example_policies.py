"""Policies that the tests run; each name says what its policy does."""

import re

from hyperkube_admission.python_policy import Cluster, Deny, Patch, Review, mutates, validates


@validates("pods", exclude_namespaces=["kube-*"])
def listed_registry(review: Review, cluster: Cluster) -> str | None:
    """Images come from a registry that ConfigMap registries of the pod's namespace lists."""
    found = cluster.get("ConfigMap", review.namespace, "registries")
    allowed = ((found or {}).get("data") or {}).get("allowed", "").split()
    for container in review.object["spec"]["containers"]:
        if container["image"].partition("/")[0] not in allowed:
            return f"image {container['image']!r} is from no listed registry"
    return None


@validates("configmaps")
def says(review: Review) -> str | Deny | None:
    """Do what the object's data say."""
    data = review.object.get("data") or {}
    if "warn" in data:
        review.warn(data["warn"])
    if "audit" in data:
        review.audit("said", data["audit"])
    if "loop" in data:
        while True:
            pass
    if "regex" in data:
        re.match(r"(a+)+$", "a" * 64 + "b")
    if "raise" in data:
        raise ValueError(data["raise"])
    if "exit" in data:
        raise SystemExit(3)
    if "memory" in data:
        return str(len(bytearray(4 << 30)))
    if "deny" in data:
        return Deny(data["deny"], 422, "Invalid")
    return data.get("refuse")


@mutates("secrets")
def labelled(review: Review) -> None:
    """Set a label in place."""
    review.object["metadata"].setdefault("labels", {})["team"] = review.params.get("team", "none")


@mutates("endpoints")
def patched(review: Review) -> Patch:
    """Set a label by a patch."""
    return Patch([{"op": "add", "path": "/metadata/labels", "value": {"by": "patch"}}])


@mutates("nodes")
def misfit(review: Review) -> Patch:
    """Answer with a patch that does not fit."""
    return Patch([{"op": "remove", "path": "/spec/nothing"}])


@validates("services", operations=["*"], namespaces=["team-*"], labels="watched=yes")
def narrow(review: Review) -> str:
    """Refuse everything that it sees."""
    return f"{review.operation} by {review.user.name}"


@validates("pods/exec", operations=["CONNECT"])
def no_exec(review: Review, cluster: Cluster) -> str | None:
    """Nobody executes in a namespace with a guard."""
    return "guarded" if cluster.list("Pod", review.namespace, labels="role=guard") else None
