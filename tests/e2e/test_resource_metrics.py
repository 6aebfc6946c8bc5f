"""What pods use: `kubectl top` shows it, and an autoscaler follows it up and down."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from local_cluster import LocalCluster, eventually
from open_ports import listeners, shown_to_strangers

SCALE_SECONDS = 90.0
"""Two measurements a quarter of a minute apart, and room for a busy machine."""
MOST_THREADS = 24
REST_SECONDS = 100.0


@pytest.fixture(scope="module")
def measured(scratch):
    """A cluster whose autoscaler looks often."""
    sync = "horizontal-pod-autoscaler-sync-period=2s"
    with LocalCluster(scratch / "measured", "--controller-manager-arg", sync).running() as cluster:
        yield cluster


def _worker(load):
    """Return a Deployment whose pods compute as long as a file is there, and rest when it is gone."""
    busy = f"while [ -e {load} ]; do i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; sleep 0.05; done"
    container = {
        "name": "main",
        "image": "host",
        "command": ["sh", "-c", f"{busy}; exec sleep 1000"],
        "resources": {"requests": {"cpu": "20m"}},
    }
    template = {
        "metadata": {"labels": {"app": "worker"}},
        "spec": {"terminationGracePeriodSeconds": 1, "containers": [container]},
    }
    spec = {"selector": {"matchLabels": {"app": "worker"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "worker"}, "spec": spec}


AUTOSCALER = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "worker"},
    "spec": {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "worker"},
        "minReplicas": 1,
        "maxReplicas": 2,
        "metrics": [
            {
                "type": "Resource",
                "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
            }
        ],
        "behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}},
    },
}


@pytest.mark.timeout(60 + 2 * SCALE_SECONDS)
def test_an_autoscaler_follows_the_load_that_top_shows(measured, scratch):
    load = scratch / "load"
    load.touch()

    def replicas():
        return measured.get("deployment", "worker", namespace="default")["spec"].get("replicas", 1)

    measured.kubectl("apply", "-f", "-", input=yaml.safe_dump_all([_worker(load), AUTOSCALER]), namespace="default")
    node = eventually(lambda: measured.kubectl("top", "nodes", check=False).out, why="the node's use is known")
    eventually(lambda: replicas() == 2, SCALE_SECONDS, why="the load scales it up")
    pods = measured.kubectl("top", "pods", "--containers", namespace="default").out
    load.unlink()
    eventually(lambda: replicas() == 1, SCALE_SECONDS, why="it scales down when the load ends")

    assert "CPU(cores)" in node
    assert "main" in pods
    group = measured.kubectl("get", "--raw", "/apis/metrics.k8s.io/v1beta1").json
    assert [row["name"] for row in group["resources"]] == ["nodes", "pods"]


def test_strangers_see_nothing_of_it(measured):
    assert len(listeners([measured.process.pid])) >= 3
    assert shown_to_strangers([measured.process.pid]) == []


def test_a_cluster_at_rest_has_few_threads(measured):
    """With its addons it rests on 18; what comes with work stays for a few seconds, or until others are at rest."""
    measured.kubectl("delete", "hpa,deployment", "worker", "--ignore-not-found", namespace="default")
    tasks = Path(f"/proc/{measured.process.pid}/task")

    why = "threads go when there is no more work"
    assert eventually(lambda: len(list(tasks.iterdir())) <= MOST_THREADS, REST_SECONDS, why=why)
