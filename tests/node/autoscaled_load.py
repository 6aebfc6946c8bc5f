"""A Deployment that computes until it is told to rest, and the autoscaler that follows it: for any runtime."""

from __future__ import annotations

import json

from hyperkube.testing.waiting import eventually

SYNC_FLAG = "--controller-manager-arg=horizontal-pod-autoscaler-sync-period=2s"
"""Lets the autoscaler of a cluster look often."""
SCALE_SECONDS = 120.0
"""Two measurements a quarter of a minute apart, and room for a busy machine."""

_LOAD = "/tmp/load"
_COMPUTE = f"touch {_LOAD}; while [ -e {_LOAD} ]; do i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; sleep 0.05; done"


def _objects():
    container = {
        "name": "main",
        "image": "busybox:lab",
        "command": ["sh", "-c", f"{_COMPUTE}; exec sleep 1000"],
        "resources": {"requests": {"cpu": "20m"}},
    }
    labels, namespace = {"app": "worker"}, {"name": "worker", "namespace": "default"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"terminationGracePeriodSeconds": 1, "containers": [container]},
    }
    target = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}
    autoscaler = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "worker"},
        "minReplicas": 1,
        "maxReplicas": 2,
        "metrics": [{"type": "Resource", "resource": target}],
        "behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}},
    }
    spec = {"selector": {"matchLabels": labels}, "template": template}
    return [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": namespace, "spec": spec},
        {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": namespace, "spec": autoscaler},
    ]


def check_autoscaling(kubectl):
    """Assert that ``kubectl top`` shows a load and that an autoscaler scales it up and, when it ends, down.

    Args:
        kubectl: (words, check=, stdin=) → the completed process.
    """

    def replicas():
        return kubectl("get", "deployment", "worker", "-o", "jsonpath={.spec.replicas}").stdout

    def pods():
        return kubectl("get", "pods", "-l", "app=worker", "-o", "jsonpath={.items[*].metadata.name}").stdout.split()

    def use_of(pod):
        """Return the milli-CPUs that a pod uses, 0 before they are known."""
        lines = kubectl("top", "pod", pod, "--no-headers", check=False).stdout.split()
        return int(lines[1].removesuffix("m")) if len(lines) == 3 else 0

    items = {"apiVersion": "v1", "kind": "List", "items": _objects()}
    kubectl("apply", "-f", "-", stdin=json.dumps(items))
    kubectl("rollout", "status", "deployment/worker", "--timeout=60s")
    (first,) = pods()
    eventually(lambda: use_of(first) > 10, SCALE_SECONDS, why="top shows the load")
    node = eventually(
        lambda: kubectl("top", "nodes", "--no-headers", check=False).stdout, why="the node's use is known"
    )
    assert len(node.split()) == 5  # name, cores, share of them, memory, share of it
    eventually(lambda: replicas() == "2", SCALE_SECONDS, why="the load scales it up")
    kubectl("rollout", "status", "deployment/worker", "--timeout=60s")
    for pod in pods():
        kubectl("exec", pod, "--", "rm", "-f", _LOAD)
    eventually(lambda: replicas() == "1", SCALE_SECONDS, why="it scales down when the load ends")
    assert "main" in kubectl("top", "pods", "--containers").stdout
    kubectl("delete", "hpa,deployment", "worker", "--wait=false")
