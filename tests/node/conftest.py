"""Nodes with containers: one laboratory and one cluster on it for the whole session.

All objects of ``objects/`` are created when the cluster starts, so that what they have to wait for passes side by side;
each test then looks at its own.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hyperkube_addon.csi_host_path import CSI_DRIVER
from hyperkube_addon.snapshot_crds import DEFINITIONS
from hyperkube_testing.lab import missing_for_places
from hyperkube_testing.lab.cluster import Cluster, missing_for_clusters

sys.path.insert(0, str(Path(__file__).parent))

from csi_volumes import FS, IMAGE, NAME, Driver
from remote_runtime import needs_remote

FOLDER = Path(__file__).parent
OBJECTS = FOLDER / "objects"


def pytest_collection_modifyitems(items):
    """Mark what is in this folder; without root or kubectl there is nothing to test it with."""
    reason = missing_for_places() or missing_for_clusters()
    for item in items:
        if Path(item.path).is_relative_to(FOLDER):
            item.add_marker(pytest.mark.root)
            item.add_marker(pytest.mark.slow)
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Show with a failure what the kubelets wrote meanwhile."""
    report = yield
    cluster = getattr(item, "funcargs", {}).get("cluster")
    if report.failed and cluster is not None:
        for words in (("get", "pods", "-o", "wide"), ("get", "events", "--sort-by=.lastTimestamp")):
            shown = cluster.kubectl(*words, check=False).stdout
            report.sections.append((f"kubectl {' '.join(words)}", "\n".join(shown.splitlines()[-60:])))
        for name, kubelet in cluster.kubelets.items():
            lines = [line for line in kubelet.output().splitlines() if "FLAG:" not in line]
            report.sections.append((f"the kubelet of {name}", "\n".join(lines[-60:])))
    return report


@pytest.fixture(scope="session")
def csi_folder(tmp_path_factory):
    """Where the CSI driver of a test has its socket and its volumes: on the machine's disk, which all places see."""
    return tmp_path_factory.mktemp("csi")


@pytest.fixture(scope="session")
def bare_cluster(hyperkube_lab, csi_folder):
    """A control plane without nodes; its controllers know of a CSI driver that a test may start."""
    needs_remote()
    endpoint = f"--csi-endpoint=host-path.csi.hyperkube.dev=unix://{csi_folder}/csi.sock"
    return Cluster(hyperkube_lab, manager_flags=[endpoint])


@pytest.fixture(scope="session")
def cluster(bare_cluster):
    """A cluster with ``node-1``, on which all objects of this folder run."""
    bare_cluster.join(bare_cluster.lab.node("node-1"))
    bare_cluster.start_proxy(bare_cluster.lab.node("node-1"))
    for file in sorted(OBJECTS.glob("*.yaml")):
        bare_cluster.apply(*yaml.safe_load_all(file.read_text()))
    return bare_cluster


@pytest.fixture(scope="session")
def node(cluster):
    return cluster.lab.node("node-1")


@pytest.fixture(scope="module")
def driver(cluster, node, csi_folder):
    """The CSI driver of ours on ``node-1``, with its class ``disk`` and one for snapshots."""
    made = Driver(node, csi_folder)
    cluster.apply(*DEFINITIONS)
    cluster.apply(CSI_DRIVER, {**IMAGE, "parameters": {**IMAGE["parameters"], **FS}})
    kinds = [f"crd/{each['metadata']['name']}" for each in DEFINITIONS]
    cluster.kubectl("wait", "--for=condition=Established", *kinds, "--timeout=30s")
    kind = {"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshotClass", "metadata": {"name": "copies"}}
    cluster.apply({**kind, "driver": NAME, "deletionPolicy": "Delete"})
    yield made
    made.program.stop()
    for device in made.loop_devices():  # of a test that failed
        subprocess.run(["losetup", "-d", device], check=False)
