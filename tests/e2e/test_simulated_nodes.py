"""`up` with simulated nodes: beside the real one, and alone."""

from __future__ import annotations

import pytest
from local_cluster import LocalCluster, Room, eventually, pod, processes_of

HOLLOW = ("--hollow-only", "--nodes", "2")


def daemon_set(name, image, **container):
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "terminationGracePeriodSeconds": 1,
                    "containers": [{"name": "main", "image": image, **container}],
                },
            },
        },
    }


@pytest.fixture(scope="module")
def mixed(scratch):
    with LocalCluster(scratch / "mixed", "--nodes", "2", "--node-name", "real").running() as cluster:
        yield Room(cluster, "default")


def nodes_of(room, app):
    return {pod["spec"]["nodeName"] for pod in room.get("pods", selector=f"app={app}")}


@pytest.mark.parametrize(
    ("image", "command", "nodes"),
    [("host", ["--", "sleep", "1000"], {"real"}), ("example.org/web:1", [], {"hollow-0", "hollow-1"})],
)
def test_rollouts_of_every_image_end_on_the_right_nodes(mixed, image, command, nodes):
    name = image.rpartition("/")[2].partition(":")[0]
    mixed.kubectl("create", "deployment", name, f"--image={image}", "--replicas=4", *command)

    mixed.kubectl("rollout", "status", f"deployment/{name}", "--timeout=60s")

    assert nodes_of(mixed, name) == nodes


@pytest.mark.parametrize(
    ("name", "image", "nodes"), [("own", "host", {"real"}), ("any", "example.org/agent", {"hollow-0", "hollow-1"})]
)
def test_a_daemon_set_counts_the_nodes_that_run_its_image(mixed, name, image, nodes):
    command = {"command": ["sleep", "1000"]} if image == "host" else {}
    mixed.apply(daemon_set(name, image, **command))

    mixed.kubectl("rollout", "status", f"daemonset/{name}", "--timeout=60s")

    assert nodes_of(mixed, name) == nodes
    assert mixed.get("daemonset", name)["status"]["desiredNumberScheduled"] == len(nodes)


def test_simulated_nodes_are_ready_and_take_pods_that_ask_for_them(mixed):
    mixed.kubectl("wait", "--for=condition=Ready", "nodes", "--all", "--timeout=60s")
    spec = pod("x", "true", image="registry.example/anything:1", nodeSelector={"hyperkube.dev/hollow": "true"})
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "many"},
        "spec": {
            "replicas": 12,
            "selector": {"matchLabels": {"app": "x"}},
            "template": {"metadata": {"labels": {"app": "x"}}, "spec": spec["spec"]},
        },
    }

    mixed.apply(deployment)
    mixed.kubectl("rollout", "status", "deployment/many", "--timeout=60s")

    assert {node["metadata"]["name"] for node in mixed.get("nodes")} == {"hollow-0", "hollow-1", "real"}
    assert nodes_of(mixed, "x") == {"hollow-0", "hollow-1"}


@pytest.fixture(scope="module")
def processes(scratch):
    """A cluster of processes with simulated nodes only; the last test that asks for it ends it."""
    cluster = LocalCluster(scratch / "hollow-processes", *HOLLOW, "--processes")
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.end()


def check_all_are_simulated(cluster):
    eventually(lambda: {node["metadata"]["name"] for node in cluster.get("nodes")} == {"hollow-0", "hollow-1"})
    cluster.kubectl("create", "deployment", "mine", "--image=host", "--", "sleep", "1000")
    cluster.kubectl("rollout", "status", "deployment/mine", "--timeout=60s")

    assert any("all nodes are simulated" in line for line in cluster.output)


def test_simulated_nodes_are_all_there_is_when_asked_for(scratch):
    with LocalCluster(scratch / "hollow", *HOLLOW).running() as cluster:
        check_all_are_simulated(cluster)


def test_they_are_all_there_is_in_processes_too(processes):
    check_all_are_simulated(processes)


def test_five_processes_end_with_the_one_that_started_them(processes):
    processes.kill()

    eventually(lambda: processes_of(processes.root) == {}, 30)
