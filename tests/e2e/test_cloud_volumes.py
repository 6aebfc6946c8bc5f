"""Volumes on Amazon's disks, as moto plays them, on a node that says it is a machine there: from claim to file and back.

The cluster has ``--cloud-provider=external``: the cloud controller manager describes the node, and
``--external-cloud-volume-plugin=aws`` makes, attaches, grows, snapshots, restores and deletes volumes of the kind that
was in the tree. The disk's device is a loop device, under the link that udev makes on such machines.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hyperkube_testing.beside import module_at
from local_cluster import HYPERKUBE, LocalCluster

from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_cloud.aws")
pytest.importorskip("hyperkube_csi.cloud_disks")

pytestmark = [
    pytest.mark.root,
    pytest.mark.timeout(300),  # beside other tests the waits below add up
    pytest.mark.skipif(
        os.geteuid() != 0 or not Path("/dev/loop-control").exists() or shutil.which("mkfs.xfs") is None,
        reason="needs root, loop devices and mkfs.xfs",
    ),
]

amazon = module_at(Path(__file__).parents[2] / "cloudproviders/aws/tests/amazon.py")

SECONDS = 60
GI = 1 << 30
LINKS = Path("/dev/disk/by-id")
OBJECTS = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: ebs}
provisioner: kubernetes.io/aws-ebs
parameters: {type: gp2, fsType: xfs}
allowVolumeExpansion: true
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: snapshot.storage.k8s.io/v1
kind: VolumeSnapshotClass
metadata: {name: ebs}
driver: ebs.csi.aws.com
deletionPolicy: Delete
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: books}
spec: {storageClassName: ebs, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: %(name)s}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  volumes: [{name: v, persistentVolumeClaim: {claimName: %(claim)s}}]
  containers:
  - {name: c, image: host, command: [sh, -c, %(script)s], volumeMounts: [{name: v, mountPath: /v}]}
"""
WRITER = POD % {"name": "writer", "claim": "books", "script": "echo kept > $HYPERKUBE_ROOT/v/file; sync; sleep 1000"}
READER = POD % {"name": "reader", "claim": "copy", "script": "grep -x kept $HYPERKUBE_ROOT/v/file"}
SNAPSHOT = """
apiVersion: snapshot.storage.k8s.io/v1
kind: VolumeSnapshot
metadata: {name: evening}
spec: {volumeSnapshotClassName: ebs, source: {persistentVolumeClaimName: books}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: copy}
spec:
  storageClassName: ebs
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 2Gi}}
  dataSource: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: evening}
"""


class Machine:
    """The disks of the machine that the node is: a loop device for each that Amazon says is attached."""

    def __init__(self, folder, cloud):
        self.folder, self.cloud = folder, cloud
        self._links: dict[str, Path] = {}
        self._made_links = not LINKS.exists()

    def plug(self, volume, size, content=None):
        """Let a disk's device come, as the kernel and udev do."""
        image = self.folder / volume
        if not image.exists():
            if content:
                subprocess.run(["cp", "--sparse=always", self.folder / content, image], check=True)
            image.touch()
        os.truncate(image, size)
        device = subprocess.check_output(["losetup", "--find", "--show", image], text=True).strip()
        LINKS.mkdir(parents=True, exist_ok=True)
        link = LINKS / f"nvme-Amazon_Elastic_Block_Store_{volume.replace('-', '')}"
        link.symlink_to(device)
        self._links[volume] = link
        return device

    def grow(self, volume, size):
        os.truncate(self.folder / volume, size)
        subprocess.run(["losetup", "-c", str(self._links[volume].readlink())], check=True)

    def end(self):
        for link in self._links.values():
            subprocess.run(["losetup", "-d", str(link.readlink())], check=False)
            link.unlink()
        if self._made_links:
            with contextlib.suppress(OSError):  # gone, or in use by another test
                LINKS.rmdir()

    def snapshots(self):
        """Return the snapshots that the cluster took: moto has those of its images as well."""
        ours = [{"Name": "tag-key", "Values": ["CSIVolumeSnapshotName"]}]
        return self.cloud.ec2.describe_snapshots(Filters=ours)["Snapshots"]

    def volumes(self):
        """Return the disks that the cluster made: its machine has one of its own."""
        ours = [{"Name": "tag-key", "Values": ["kubernetes.io/created-for/pv/name"]}]
        return self.cloud.ec2.describe_volumes(Filters=ours)["Volumes"]


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    """Amazon behind a port of this process."""
    boto3 = pytest.importorskip("boto3")
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    endpoint = "http://{}:{}".format(*server.get_host_and_port())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "key-of-the-test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-the-test")
        yield amazon.Amazon(endpoint, boto3.Session(region_name="us-east-1"), tmp_path_factory.mktemp("amazon"))
    server.stop()


@pytest.fixture
def machine(tmp_path, cloud):
    made = Machine(tmp_path, cloud)
    yield made
    made.end()


@pytest.fixture
def cluster(scratch, cloud):
    """A cluster in that cloud, and its cloud controller manager."""
    node = cloud.machine()
    cloud.built()
    config = cloud.folder / "cloud.ini"
    flags = ["cloud-provider=external", "external-cloud-volume-plugin=aws"]
    words = [f"--controller-manager-arg={flag}" for flag in [*flags, f"cloud-config={config}"]]
    words += [f"--kubelet-arg={flag}" for flag in flags]
    words.append("--kubelet-arg=sync-frequency=5s")  # after that a file system follows its disk
    words.append("--kubelet-arg=node-ip=")  # the addresses that Amazon knows are nowhere on this machine
    words += ["--node-name", node["metadata"]["name"], "--addons=snapshot-crds"]
    made = LocalCluster(scratch / "amazon", *words)
    with made.running():
        manager = subprocess.Popen(
            [
                HYPERKUBE.with_name("cloud-controller-manager"), f"--kubeconfig={made.kubeconfig}", "--secure-port=0",
                "--leader-elect=false", "--cloud-provider=aws", f"--cloud-config={config}",
                "--configure-cloud-routes=false",
            ],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            yield made
        finally:
            manager.terminate()
            manager.wait()


def volume_of(cluster, claim):
    """Return Amazon's id of a bound claim's disk, by the volume's own kind."""
    name = cluster.kubectl("get", "pvc", claim, "-o", "jsonpath={.spec.volumeName}").out
    found = cluster.kubectl("get", "pv", name, "-o", "jsonpath={.spec.awsElasticBlockStore.volumeID}").out
    return found.rpartition("/")[2]


def attached(machine, volume):
    rows = machine.cloud.ec2.describe_volumes(VolumeIds=[volume])["Volumes"]
    return [row["InstanceId"] for row in rows[0]["Attachments"]]


def bound(cluster, claim):
    until(cluster, "pvc", claim, "{.status.phase}", "Bound")
    return volume_of(cluster, claim)


def until(cluster, kind, name, path, wanted):
    """Wait until an object says something."""
    cluster.kubectl("wait", f"--for=jsonpath={path}={wanted}", f"--timeout={SECONDS}s", f"{kind}/{name}")


def test_a_disk_is_made_attached_grown_snapshotted_restored_and_deleted(cluster, machine):
    cluster.kubectl("apply", "-f", "-", input=OBJECTS)
    cluster.kubectl("apply", "-f", "-", input=WRITER)
    volume = bound(cluster, "books")
    eventually(lambda: attached(machine, volume), SECONDS)
    machine.plug(volume, GI)
    until(cluster, "pod", "writer", "{.status.phase}", "Running")
    ec2 = machine.cloud.ec2
    (held,) = ec2.describe_volumes(VolumeIds=[volume])["Volumes"]
    assert (held["Size"], held["VolumeType"], held["AvailabilityZone"]) == (1, "gp2", "us-east-1a")

    cluster.kubectl("patch", "pvc", "books", "-p", '{"spec": {"resources": {"requests": {"storage": "2Gi"}}}}')
    eventually(lambda: ec2.describe_volumes(VolumeIds=[volume])["Volumes"][0]["Size"] == 2, SECONDS)
    machine.grow(volume, 2 * GI)
    until(cluster, "pvc", "books", "{.status.capacity.storage}", "2Gi")

    cluster.kubectl("apply", "-f", "-", input=SNAPSHOT)
    until(cluster, "volumesnapshot", "evening", "{.status.readyToUse}", "true")
    (taken,) = machine.snapshots()
    assert taken["VolumeId"] == volume
    cluster.kubectl("apply", "-f", "-", input=READER)
    copy = bound(cluster, "copy")
    assert ec2.describe_volumes(VolumeIds=[copy])["Volumes"][0]["SnapshotId"] == taken["SnapshotId"]
    eventually(lambda: attached(machine, copy), SECONDS)
    machine.plug(copy, 2 * GI, content=volume)
    until(cluster, "pod", "reader", "{.status.phase}", "Succeeded")

    things = ["pod/writer", "pod/reader", "pvc/books", "pvc/copy", "volumesnapshot/evening"]
    cluster.kubectl("delete", "--ignore-not-found", *things)  # a pod that has ended may be gone already
    eventually(lambda: not machine.volumes(), SECONDS)
    eventually(lambda: not machine.snapshots(), SECONDS)


def test_servers_that_talk_to_the_cloud_themselves_need_no_other(scratch, cloud, machine):
    """``--cloud-provider=aws`` in kubelet and controller manager, as in the 1.x line, is all."""
    node = cloud.machine(subnet=1)
    name, flags = node["metadata"]["name"], ["cloud-provider=aws", f"cloud-config={cloud.folder / 'cloud.ini'}"]
    cloud.built()
    words = [f"--{server}-arg={flag}" for server in ("controller-manager", "kubelet") for flag in flags]
    words += ["--controller-manager-arg=configure-cloud-routes=false", "--kubelet-arg=node-ip=", "--node-name", name]
    with LocalCluster(scratch / "in-tree", *words, "--addons=snapshot-crds").running() as cluster:
        found = cluster.kubectl("get", "node", name, "-o", "json").json
        cluster.kubectl("apply", "-f", "-", input=OBJECTS)
        cluster.kubectl("apply", "-f", "-", input=WRITER)
        volume = bound(cluster, "books")
        eventually(lambda: attached(machine, volume), SECONDS)
        machine.plug(volume, GI)
        until(cluster, "pod", "writer", "{.status.phase}", "Running")
        cluster.kubectl("delete", "pod/writer", "pvc/books")
        eventually(lambda: not machine.volumes(), SECONDS)

    assert found["spec"]["providerID"] == node["spec"]["providerID"]
    assert found["metadata"]["labels"]["topology.kubernetes.io/zone"] == "us-east-1b"
    assert found["metadata"]["labels"]["node.kubernetes.io/instance-type"] == "m5.large"
    assert {"type": "Hostname", "address": name} in found["status"]["addresses"]
    assert any(
        row["type"] == "InternalIP" and row["address"].startswith("10.0.1.") for row in found["status"]["addresses"]
    )
