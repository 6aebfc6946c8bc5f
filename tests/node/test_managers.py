"""A node whose kubelet gives out CPUs, devices and disk: what containers get, and when they have to go."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest

from hyperkube.testing.waiting import eventually

DEVICE_PLUGIN = Path(__file__).with_name("device_plugin.py")
FLAGS = (
    "--cpu-manager-policy=static",
    "--kube-reserved=cpu=200m",
    "--eviction-hard=nodefs.available<150Mi",
    "--kubelet-cgroups=/kubelet",
    "--runtime-cgroups=/",
    "--kernel-memcg-notification",
)


@pytest.fixture(scope="module")
def node(bare_cluster):
    """A node of its own: eviction is for all pods of a node."""
    made = bare_cluster.lab.node("node-2", disk="400m")
    bare_cluster.join(made, *FLAGS)
    return made


def start(cluster, name, *words, resources=None, **spec):
    container = {
        "name": "c",
        "image": "busybox:lab",
        "command": list(words),
        "resources": resources or {},
        **spec.pop("container", {}),
    }
    spec = {
        "nodeSelector": {"kubernetes.io/hostname": "node-2"}, "terminationGracePeriodSeconds": 1,
        "containers": [container], **spec,
    }  # fmt: skip
    cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": spec})


def wait_ready(cluster, name):
    cluster.kubectl("wait", "--for=condition=Ready", f"pod/{name}", "--timeout=60s")


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one CPU: none can be given to a container alone")
def test_a_guaranteed_pod_has_a_cpu_of_its_own(bare_cluster, node):
    start(bare_cluster, "shared", "sleep", "1000", resources={"requests": {"cpu": "10m"}})
    start(bare_cluster, "pinned", "sleep", "1000", resources={"limits": {"cpu": "1", "memory": "32Mi"}})
    wait_ready(bare_cluster, "pinned")
    wait_ready(bare_cluster, "shared")

    def cpus(name):
        return bare_cluster.kubectl("exec", name, "--", "cat", "/sys/fs/cgroup/cpuset/cpuset.cpus").stdout.strip()

    own = cpus("pinned")
    assert own.isdecimal()
    everybodys = eventually(lambda: (seen := cpus("shared")) and own not in seen.split(",") and seen, 30)
    assert everybodys
    bare_cluster.kubectl("delete", "pod", "pinned", "shared", "--wait=false")


def test_the_kubelet_is_in_its_cgroup_and_measured(bare_cluster, node):
    def use():
        """Return the system's containers by name, None before the kubelet has moved."""
        summary = json.loads(bare_cluster.kubectl("get", "--raw", "/api/v1/nodes/node-2/proxy/stats/summary").stdout)
        found = {row["name"]: row for row in summary["node"]["systemContainers"]}
        return found if "kubelet" in found and found["kubelet"]["memory"]["usageBytes"] else None

    found = eventually(use, 30)

    for controller in ("cpu", "memory"):
        assert node.run("cat", f"/sys/fs/cgroup/{controller}/kubelet/cgroup.procs").stdout.split()
    assert {"kubelet", "runtime", "pods"} <= found.keys()
    assert found["runtime"]["cpu"]["usageCoreNanoSeconds"] > found["kubelet"]["cpu"]["usageCoreNanoSeconds"]


def test_a_device_plugins_devices_are_given_to_containers(bare_cluster, node):
    plugin = node.start(sys.executable, DEVICE_PLUGIN)

    def offered():
        assert plugin.running(), plugin.output()
        return bare_cluster.get("node", "node-2")["status"]["allocatable"].get("lab.example.com/thing")

    assert eventually(offered, 30) == "2"
    start(bare_cluster, "with-thing", "sleep", "1000", resources={"limits": {"lab.example.com/thing": "1"}})
    wait_ready(bare_cluster, "with-thing")

    seen = bare_cluster.kubectl(
        "exec", "with-thing", "--", "sh", "-c", "echo $THINGS; head -c 3 /dev/thing | wc -c"
    ).stdout
    assert seen.split() in (["thing-0", "3"], ["thing-1", "3"])
    bare_cluster.kubectl("delete", "pod", "with-thing", "--wait=false")
    plugin.stop()


@pytest.mark.skipif(
    importlib.util.find_spec("hyperkube_host.kubelet.eviction") is None, reason="this kubelet has no eviction manager"
)
def test_a_filled_disk_evicts_who_filled_it(bare_cluster, node):
    scratch = {"volumes": [{"name": "scratch", "emptyDir": {}}]}
    mounts = {"volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}]}
    fill = "dd if=/dev/zero of=/scratch/big bs=1M count=300; sleep 1000"
    start(bare_cluster, "glutton", "sh", "-c", fill, container=mounts, **scratch)

    def evicted():
        status = bare_cluster.get("pod", "glutton")["status"]
        return status["phase"] == "Failed" and status

    status = eventually(evicted, 60)

    assert status["reason"] == "Evicted"
    assert status["message"].startswith("The node was low on resource: ephemeral-storage.")
    assert any(item["type"] == "DisruptionTarget" for item in status["conditions"])
