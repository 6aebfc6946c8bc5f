"""Pods, nodes and questions for scenario tests of the scheduler through the real API server."""

from __future__ import annotations

from hyperkube_testing.scheduling.tables import node

from hyperkube.kinds.resources import NODES, PODS, PRIORITY_CLASSES

NO_ACCOUNTS = {"disable-admission-plugins": ("ServiceAccount",)}
SECONDS = 60.0
"""How long anything may take on a machine that is busy with other things."""


def pod(name, cpu="1", labels=None, **spec):
    """Return a pod with one container."""
    container = {"name": "c", "image": "registry/app:1", "resources": {"requests": {"cpu": cpu, "memory": "1Mi"}}}
    metadata = {"name": name, "namespace": "default", "labels": labels or {}}
    return {"metadata": metadata, "spec": {"containers": [container], **spec}}


def add_node(cluster, name, **words):
    """Create a node without the not-ready taint that admission gives it."""
    labels = {"kubernetes.io/hostname": name, **words.pop("labels", {})}
    made = cluster.client.create(NODES, node(name, labels=labels, **words))
    taints = [taint for taint in made["spec"].get("taints", []) if taint["key"] != "node.kubernetes.io/not-ready"]
    return cluster.client.patch(NODES, name, {"spec": {"taints": taints or None}})


def add_pods(cluster, *pods):
    """Create pods."""
    for each in pods:
        cluster.client.create(PODS, each)


def add_priorities(cluster, **values):
    """Create priority classes by name and value."""
    for name, value in values.items():
        cluster.client.create(PRIORITY_CLASSES, {"metadata": {"name": name}, "value": value})


def get(cluster, name):
    """Return a pod."""
    return cluster.client.get(PODS, name, "default")


def node_of(cluster, name):
    """Return the node a pod is bound to, or None."""
    return get(cluster, name)["spec"].get("nodeName")


def message_of(cluster, name):
    """Return what the pod's condition says about its scheduling."""
    conditions = get(cluster, name)["status"].get("conditions", [])
    return next((row["message"] for row in conditions if row["type"] == "PodScheduled" and row.get("message")), "")


def wait_bound(cluster, *names):
    """Wait until the pods have nodes; return these."""
    return [cluster.wait(lambda name=name: node_of(cluster, name), f"{name} to be bound", SECONDS) for name in names]


def wait_message(cluster, name, text):
    """Wait until the pod's condition contains a text; return the whole."""
    return cluster.wait(
        lambda: text in message_of(cluster, name) and message_of(cluster, name), f"{name}: {text}", SECONDS
    )


def remove(cluster, name):
    """Delete a pod at once."""
    cluster.client.delete(PODS, name, "default", options={"gracePeriodSeconds": 0})


def settled(cluster, count):
    """Wait until the scheduler has seen that many nodes, ready to be used: a pod too large for any of them tells."""
    add_pods(cluster, pod("too-large", "1000"))
    wait_message(cluster, "too-large", f"0/{count} nodes are available: {count} Insufficient cpu")
    remove(cluster, "too-large")
