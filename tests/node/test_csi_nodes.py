"""A volume that two nodes can reach, through a driver on each: it follows the pod, and leaves a node that is gone."""

from __future__ import annotations

import pytest
from csi_volumes import SECONDS, Driver, claim, pod, run, wait_ready
from hyperkube_addon.csi_host_path import storage_class

from hyperkube.testing.waiting import eventually

OTHER = "node-3"

pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def other(cluster, driver):
    """The driver on another node, which has the folder of the one on ``node-1`` and so is the same place."""
    node = cluster.lab.node(OTHER, disk="300m")
    cluster.join(node)
    made = Driver(node, driver.folder, socket="other.sock", flags=["--csi-host-path-place=node-1"])
    cluster.apply(storage_class("shared", is_default=False))
    names = ("get", "csinode", OTHER, "-o", "jsonpath={.spec.drivers[*].name}")
    eventually(lambda: cluster.kubectl(*names, check=False).stdout, SECONDS, why="the driver is registered")
    yield made
    made.program.stop()
    cluster.kubectl("delete", "node", OTHER, check=False)


def attached(cluster):
    """Return the nodes that the volumes are attached to."""
    rows = cluster.get("volumeattachments")
    return {row["spec"]["nodeName"] for row in rows if (row.get("status") or {}).get("attached")}


def events_of(cluster, name):
    rows = cluster.get("events", f"--field-selector=involvedObject.name={name}")
    return {(row["reason"], row["message"]) for row in rows}


def test_a_volume_follows_its_pod_and_leaves_a_lost_node(cluster, driver, other):
    """Attached to one node at a time; what is not out of service keeps it."""
    cluster.apply(claim("moving", storageClassName="shared"), pod("here", "moving"))
    wait_ready(cluster, "here")
    run(cluster, "here", "echo kept > /data/file; sync")
    volume = cluster.get("pvc", "moving")["spec"]["volumeName"]
    assert attached(cluster) == {"node-1"}

    cluster.apply(pod("there", "moving", node=OTHER))
    text = f'Multi-Attach error for volume "{volume}" Volume is already used by pod(s) here'
    eventually(lambda: ("FailedAttachVolume", text) in events_of(cluster, "there"), SECONDS)
    cluster.kubectl("delete", "pod", "here")
    wait_ready(cluster, "there")
    assert run(cluster, "there", "cat /data/file") == "kept"
    assert attached(cluster) == {OTHER}

    for program in (cluster.kubelets[OTHER], other.node.containerd, other.program):
        program.kill()
    cluster.wait_ready(other.node, "Unknown", seconds=2 * SECONDS)
    cluster.kubectl("delete", "pod", "there", "--wait=false")
    cluster.apply(pod("back", "moving"))
    text = f'Multi-Attach error for volume "{volume}" Volume is already used by pod(s) there'
    eventually(lambda: ("FailedAttachVolume", text) in events_of(cluster, "back"), SECONDS)

    cluster.kubectl("taint", "node", OTHER, "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute")

    wait_ready(cluster, "back", seconds=2 * SECONDS)
    assert run(cluster, "back", "cat /data/file") == "kept"
    assert attached(cluster) == {"node-1"}
    assert cluster.kubectl("get", "pod", "there", check=False).returncode != 0
    cluster.kubectl("delete", "pod", "back")
    cluster.kubectl("delete", "pvc", "moving", "--wait=false")
    eventually(lambda: driver.volumes() == [], SECONDS, why="no volume is left")
    eventually(lambda: attached(cluster) == set(), SECONDS, why="nothing is attached")
