"""A kubelet or a containerd that is killed: containers go on, and the node says what it lacks."""

from __future__ import annotations

import pytest

from hyperkube.testing.waiting import eventually


@pytest.fixture
def states(cluster):
    """A function that tells container → (ID, restarts) of the pods that should not notice."""
    cluster.kubectl("rollout", "status", "deployment/web", "--timeout=90s")

    def look():
        return {
            (pod["metadata"]["name"], status["name"]): (status.get("containerID"), status["restartCount"])
            for pod in cluster.get("pods", "-l", "app=web")
            for status in pod["status"].get("containerStatuses", [])
        }

    return look


def test_no_container_restarts_when_the_kubelet_is_killed(cluster, node, states):
    before = states()
    pods = [pod["metadata"]["name"] for pod in cluster.get("pods", "-l", "app=web")]
    seen = cluster.get("node", "node-1")["status"]["conditions"][-1]["lastHeartbeatTime"]

    cluster.kubelets["node-1"].kill()
    cluster.join(node)

    eventually(lambda: cluster.get("node", "node-1")["status"]["conditions"][-1]["lastHeartbeatTime"] != seen)
    assert cluster.kubectl("exec", pods[0], "-c", "httpd", "--", "echo", "still here").stdout == "still here\n"
    assert "started" in cluster.kubectl("logs", pods[0], "-c", "httpd").stdout
    cluster.kubectl("run", "after-restart", "--image=busybox:lab", "--restart=Never", "--", "true")
    eventually(lambda: cluster.get("pod", "after-restart")["status"].get("phase") == "Succeeded")
    assert states() == before


def test_a_dead_runtime_is_named_and_comes_back(cluster, node, states):
    before = states()

    node.containerd.kill()
    condition = cluster.wait_ready(node, "False", 120)

    assert condition["reason"] == "KubeletNotReady"
    assert "PLEG" in condition["message"] or "container runtime" in condition["message"]

    node.start_containerd()
    cluster.wait_ready(node)
    assert states() == before
