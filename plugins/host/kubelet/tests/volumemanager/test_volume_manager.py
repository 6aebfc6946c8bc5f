"""Volumes of pods: which one stands behind a claim, in which steps it comes to the pod, and how it goes."""

import threading
from pathlib import Path

import pytest
from hyperkube_host.kubelet.clustertrustbundle.cluster_trust_bundle_manager import NoTrustAnchors
from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.objects.token_manager import TokenManager
from hyperkube_host.kubelet.podcertificate.pod_certificate_manager import NoPodCertificates
from hyperkube_host.kubelet.volumemanager import volume_manager
from hyperkube_host.kubelet.volumemanager.actual_state import ActualStateOfWorld
from hyperkube_host.kubelet.volumemanager.attachment import Attachments
from hyperkube_host.kubelet.volumemanager.mount_labels import MountLabels
from hyperkube_host.kubelet.volumemanager.mount_volume import MountFailed, VolumeMounter
from hyperkube_host.kubelet.volumemanager.node_expansion import NodeExpansion
from hyperkube_host.kubelet.volumemanager.pod_volumes import PodVolumes
from hyperkube_host.kubelet.volumemanager.reconstruction import Reconstruction
from hyperkube_host.kubelet.volumemanager.selinux import SELinux
from hyperkube_host.kubelet.volumemanager.sub_paths import SubPathMounts
from hyperkube_host.kubelet.volumemanager.volume_manager import StillMounting, VolumeManager

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.volume import VolumeFailed, VolumeSpec
from hyperkube.kinds.resources import NODES, PERSISTENT_VOLUME_CLAIMS
from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.machinery.errors import NotFound
from hyperkube.testing.waiting import eventually

NODE = {"metadata": {"name": "n"}, "status": {}}


def pod(uid="1", *volumes, name="web"):
    return {"metadata": {"name": name, "namespace": "d", "uid": uid}, "spec": {"containers": [], "volumes": [*volumes]}}


SCRATCH = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}
DATA = {"name": "data", "persistentVolumeClaim": {"claimName": "c"}}


class HostPaths:
    """Mounts nothing; the path is that of the host."""

    def supports(self, volume):
        return "hostPath" in volume

    def setup(self, request):
        return request.volume["hostPath"]["path"]

    def teardown(self, mounted):
        Path(mounted.path).rmdir()


UNDOING = ("teardown", "unmount device", "detach d1 from n")
"""The steps of a disk when its last pod has ended."""


class Disks:
    """A kind with every step; notes them, and fails at the one it is told to."""

    def __init__(self):
        self.steps, self.fails_at, self.hold = [], "", None

    def _step(self, name):
        if self.fails_at == name:
            raise VolumeFailed(f"no {name}")
        self.steps.append(name)

    def supports(self, volume):
        return "disk" in volume

    def can_attach(self, _spec):
        return True

    can_device_mount = can_attach

    def volume_name(self, spec):
        return spec.volume["disk"]["id"]

    def attach(self, _spec, _node):
        self._step("attach")
        return "/dev/disk"

    def volumes_are_attached(self, specs, _node):
        return {spec.name: True for spec in specs}

    def wait_for_attach(self, _spec, device, _pod, _node):
        self._step(f"wait for {device}")
        return device

    def detach(self, volume_name, node_name):
        self._step(f"detach {volume_name} from {node_name}")

    def device_mount_path(self, spec, plugin_dir):
        return f"{plugin_dir}/mounts/{self.volume_name(spec)}"

    def mount_device(self, request):
        if self.hold is not None:
            self.hold.wait(60)
        self._step("mount device")

    def unmount_device(self, _path):
        self._step("unmount device")

    def map_device(self, _request):
        self._step("map")
        return "/dev/null"

    def unmap_device(self, _mounted):
        self._step("unmap")

    def setup(self, request):
        self._step("setup")
        return request.path

    def teardown(self, mounted):
        self._step("teardown")
        Path(mounted.path).rmdir()

    def node_expand(self, request, size):
        self._step(f"grow {request.path.rpartition('/')[2]} to {size}")
        return True

    def construct_spec(self, mounted):
        return VolumeSpec(volume={"name": mounted.name, "disk": {"id": "d1"}})


class Api:
    """Has claims and volumes."""

    def __init__(self, owner="1", phase="Bound", source=None, **spec):
        owners = [{"kind": "Pod", "name": "web", "uid": owner, "controller": True}]
        claim = {"spec": {"volumeName": "pv"}, "status": {"phase": phase}}
        volume = {"metadata": {"name": "pv"}, "spec": {**(source or {"hostPath": {"path": "/data"}}), **spec}}
        volume["spec"].setdefault("claimRef", {"uid": "claim"})
        meta = {"namespace": "d", "uid": "claim", "ownerReferences": owners}
        self.objects = {
            "persistentvolumeclaims/d/web-scratch": {"metadata": {"name": "web-scratch", **meta}, **claim},
            "persistentvolumeclaims/d/c": {"metadata": {"name": "c", **meta}, **claim},
            "persistentvolumes//pv": volume,
        }
        self.config_map = self.secret = None

    def get(self, resource, namespace, name):
        try:
            return self.objects[f"{resource.resource}/{namespace}/{name}"]
        except KeyError:
            raise NotFound.about(resource.group_resource, name) from None


class Node:
    """A volume manager with the kinds `disks` and hostPath."""

    def __init__(self, folder, api, clock=None, client=None, disks=None, selinux=None):
        labels = MountLabels(selinux or SELinux(folder / "no-selinux"), all_modes=False)
        self.disks, self.state, self.told, self.requeued = disks or Disks(), ActualStateOfWorld(), [], []
        self.directories = KubeletDirectories(folder)
        plugins = [("example.com/disk", self.disks), ("kubernetes.io/host-path", HostPaths())]
        volumes = PodVolumes(plugins, api)
        attachments = Attachments(client, by_controller=client is not None)
        tokens = TokenManager(None, FakeClock())
        sub_paths = SubPathMounts(self.directories, self.state, needs_mounts=True)
        mounter = VolumeMounter(
            self.directories,
            self.state,
            api,
            tokens,
            lambda: NODE,
            attachments,
            None,
            sub_paths,
            NoPodCertificates(),
            NoTrustAnchors(),
            labels,
        )
        self.manager = VolumeManager(
            volumes, self.state, mounter, Reconstruction(self.directories, volumes, mounter, sub_paths),
            NodeExpansion(client, api, mounter, None, "n"), labels, clock or SystemClock(),
            requeue=self.requeued.append, in_use_changed=lambda: self.told.append(self.state.volumes_in_use()),
        )  # fmt: skip

    def setup(self, *args, **more):
        return self.manager.setup(pod(*args, **more))


@pytest.fixture
def disk():
    return Api(source={"disk": {"id": "d1"}})


def test_an_ephemeral_volume_is_the_one_of_the_claim_that_was_made_for_it(tmp_path):
    assert Node(tmp_path, Api("1")).setup("1", SCRATCH) == {"scratch": "/data"}


@pytest.mark.parametrize(
    ("api", "volume", "text"),
    [
        (Api("2"), SCRATCH, "PVC d/web-scratch was not created for pod d/web (pod is not owner)"),
        (Api(phase="Pending"), DATA, "error processing PVC d/c: PVC is not bound"),
        (Api(claimRef={"uid": "x"}), DATA, "found PV object pv but its pv.Spec.ClaimRef.UID x does not point to claim"),
        (Api(claimRef=None), DATA, "found PV object pv but it has a nil pv.Spec.ClaimRef indicating it is not yet"),
    ],
)
def test_a_claim_that_is_not_as_it_must_be(tmp_path, api, volume, text):
    with pytest.raises(MountFailed) as caught:
        Node(tmp_path, api).setup("1", volume)

    begin = "Unable to attach or mount volumes: unmounted volumes=[{0}], unattached volumes=[], failed to process "
    assert str(caught.value).startswith(f"{begin}volumes=[{{0}}]: error processing PVC".format(volume["name"]))
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ({"flexVolume": {"driver": "acme/none"}}, "no volume plugin handles 'flexVolume' of driver 'acme/none' (inst"),
        ({"nfs": {"server": "s", "path": "/"}}, "no volume plugin handles 'nfs' (installed: example.com/disk, kuber"),
    ],
)
def test_what_no_plugin_handles_is_told_with_its_driver(tmp_path, source, text):
    with pytest.raises(MountFailed) as caught:
        Node(tmp_path, Api()).setup("1", {"name": "v", **source})

    assert text in str(caught.value)


def test_a_kind_is_told_its_own_folder(tmp_path, disk):
    told, disks = [], Disks()
    disks.setup = lambda request: told.append(request.plugin_dir) or request.path

    Node(tmp_path, disk, disks=disks).setup("1", DATA)

    assert told == [str(tmp_path / "plugins/example.com/disk")]


def test_the_steps_of_a_volume(tmp_path, disk):
    node = Node(tmp_path, disk)

    paths = node.setup("1", DATA)
    node.setup("1", DATA)
    node.setup("2", DATA)
    first_gone = node.manager.teardown(pod("1", DATA))
    last_gone = node.manager.teardown(pod("2", DATA))

    assert paths == {"data": str(tmp_path / "pods/1/volumes/example.com~disk/pv")}
    assert (first_gone, last_gone) == (True, True)
    assert node.disks.steps == [
        "attach", "wait for /dev/disk", "mount device", "setup", "setup",
        "teardown", "teardown", "unmount device", "detach d1 from n",
    ]  # fmt: skip
    assert node.told == [["example.com/disk/d1"], []]
    assert not (tmp_path / "pods/1").exists()


@pytest.mark.parametrize(
    ("step", "text"),
    [
        ("attach", 'AttachVolume.Attach failed for volume "pv" : no attach'),
        ("wait for /dev/disk", 'MountVolume.WaitForAttach failed for volume "pv" : no wait for /dev/disk'),
        ("mount device", 'MountVolume.MountDevice failed for volume "pv" : no mount device'),
        ("setup", 'MountVolume.SetUp failed for volume "pv" : no setup'),
    ],
)
def test_a_failed_step_is_told_and_taken_again_and_nothing_is_left(tmp_path, disk, step, text):
    node = Node(tmp_path, disk)
    node.disks.fails_at = step
    with pytest.raises(MountFailed) as caught:
        node.setup("1", DATA)
    node.disks.fails_at = ""
    node.setup("1", DATA)
    node.manager.teardown(pod("1", DATA))

    assert str(caught.value) == text
    assert sorted(node.disks.steps[:4]) == ["attach", "mount device", "setup", "wait for /dev/disk"] or step != "attach"
    assert node.disks.steps[-1] == "detach d1 from n"
    assert node.state.volumes_in_use() == []


@pytest.mark.parametrize("step", UNDOING)
def test_undoing_goes_on_where_it_stopped(tmp_path, disk, step):
    node = Node(tmp_path, disk)
    node.setup("1", DATA)
    node.disks.fails_at = step

    tries = [node.manager.teardown(pod("1", DATA)) for _ in range(2)]
    in_use = node.state.volumes_in_use()
    node.disks.fails_at = ""
    done = node.manager.teardown(pod("1", DATA))

    assert (tries, done) == ([False, False], True)
    assert len(in_use) == 1
    assert list(dict.fromkeys(node.disks.steps))[-3:] == list(UNDOING)
    assert node.state.volumes_in_use() == []


@pytest.mark.parametrize("step", UNDOING)
def test_undoing_what_an_earlier_kubelet_mounted_goes_on_where_it_stopped(tmp_path, disk, step):
    Node(tmp_path, disk).setup("1", DATA)
    later = Node(tmp_path, disk)
    later.disks.fails_at = step

    assert not later.manager.clean_up("1")
    later.disks.fails_at = ""
    assert later.manager.clean_up("1")

    assert list(dict.fromkeys(later.disks.steps)) == list(UNDOING)
    assert later.state.volumes_in_use() == []


def test_a_volume_that_could_not_be_let_go_is_taken_by_the_next_pod(tmp_path, disk):
    node = Node(tmp_path, disk)
    node.setup("1", DATA)
    node.disks.fails_at = "unmount device"
    assert not node.manager.teardown(pod("1", DATA))
    node.setup("2", DATA)
    node.disks.fails_at = ""

    assert node.manager.teardown(pod("1", DATA))
    assert "unmount device" not in node.disks.steps
    assert node.manager.teardown(pod("2", DATA))

    assert node.disks.steps[-2:] == ["unmount device", "detach d1 from n"]
    assert node.state.volumes_in_use() == []


def test_a_kubelet_that_was_killed_leaves_nothing_to_the_next(tmp_path, disk):
    Node(tmp_path, disk).setup("1", DATA)
    later = Node(tmp_path, disk)

    assert later.manager.clean_up("1")

    assert later.disks.steps == ["teardown", "unmount device", "detach d1 from n"]
    assert not (tmp_path / "pods/1").exists()


def test_a_block_device_is_linked_into_the_pod(tmp_path):
    node = Node(tmp_path, Api(source={"disk": {"id": "d1"}}, volumeMode="Block"))

    paths = node.setup("1", DATA)
    link = tmp_path / "pods/1/volumeDevices/example.com~disk/pv"
    was = link.readlink()
    node.manager.teardown(pod("1", DATA))

    assert paths == {"data": "/dev/null"}
    assert str(was) == "/dev/null"
    assert node.disks.steps == ["attach", "wait for /dev/disk", "map", "unmap", "detach d1 from n"]


def test_a_volume_for_one_pod_is_given_to_one(tmp_path):
    node = Node(tmp_path, Api(source={"disk": {"id": "d1"}}, accessModes=["ReadWriteOncePod"]))
    node.setup("1", DATA)

    with pytest.raises(MountFailed, match="volume uses the ReadWriteOncePod access mode and is already in use by anot"):
        node.setup("2", DATA)


def test_the_controller_attaches(tmp_path, disk):
    client = FakeClient()
    client.seed(NODES, {"kind": "Node", **NODE})
    node = Node(tmp_path, disk, client=client)

    with pytest.raises(MountFailed, match="Volume not attached according to node status") as caught:
        node.setup("1", DATA)
    attached = [{"name": "example.com/disk/d1", "devicePath": "/dev/x"}]
    client.patch(NODES, "n", {"status": {"volumesAttached": attached}}, subresource="status")
    node.setup("1", DATA)
    node.manager.teardown(pod("1", DATA))

    assert caught.value.reason == ""
    assert node.disks.steps == ["wait for /dev/x", "mount device", "setup", "teardown", "unmount device"]


def test_a_mount_that_hangs_holds_up_nobody(tmp_path, disk, monkeypatch):
    monkeypatch.setattr(volume_manager, "WAIT_SECONDS", 0.05)
    clock = SystemClock()
    node = Node(tmp_path, disk, clock)
    node.disks.hold = threading.Event()
    try:
        with pytest.raises(StillMounting):
            node.setup("1", DATA)
        monkeypatch.setattr(volume_manager, "TIMEOUT_SECONDS", 0.0)
        with pytest.raises(MountFailed) as caught:
            node.setup("1", DATA)
        others = node.setup("2", {"name": "h", "hostPath": {"path": "/"}}, name="other")
    finally:
        node.disks.hold.set()
    eventually(lambda: node.requeued == ["1"], 60)

    assert others == {"h": "/"}
    assert str(caught.value) == (
        "Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], "
        "failed to process volumes=[]: timed out waiting for the condition"
    )
    assert node.setup("1", DATA) == {"data": str(tmp_path / "pods/1/volumes/example.com~disk/pv")}


def test_a_volume_that_became_larger_grows_while_it_is_mounted(tmp_path, disk):
    client, attached = FakeClient(), [{"name": "example.com/disk/d1", "devicePath": "/dev/x"}]
    client.seed(NODES, {"kind": "Node", **NODE, "status": {"volumesAttached": attached}})
    claim, volume = disk.objects["persistentvolumeclaims/d/c"], disk.objects["persistentvolumes//pv"]
    claim["status"] |= {"capacity": {"storage": "1Gi"}, "conditions": [{"type": "FileSystemResizePending"}]}
    volume["spec"]["capacity"] = {"storage": "1Gi"}
    client.seed(PERSISTENT_VOLUME_CLAIMS, {"kind": "PersistentVolumeClaim", **claim})
    node = Node(tmp_path, disk, client=client)
    node.setup("1", DATA)
    before = list(node.disks.steps)
    volume["spec"]["capacity"] = {"storage": "2Gi"}
    node.setup("1", DATA)
    written = eventually(
        lambda: (
            (found := client.get(PERSISTENT_VOLUME_CLAIMS, "c", "d"))["status"]["capacity"]["storage"] == "2Gi"
            and found
        ),
        60,
    )

    assert not any(step.startswith("grow") for step in before)
    assert f"grow d1 to {2 << 30}" in node.disks.steps
    assert not written["status"].get("conditions")


class Labelled(Disks):
    """Disks that are mounted with the SELinux label of their pod; notes it."""

    def supports_selinux_context_mount(self, _spec):
        return True

    def mount_device(self, request):
        self._step(f"mount device with {request.selinux_label}")

    def setup(self, request):
        self._step(f"setup with {request.selinux_label}")
        return request.path


def with_label(uid, level):
    found = pod(uid, DATA)
    found["spec"]["containers"] = [{"name": "c", "volumeMounts": [{"name": "data"}]}]
    found["spec"]["securityContext"] = {"seLinuxOptions": {"level": level}}
    return found


def test_a_volume_is_mounted_with_the_label_of_its_pod_and_for_the_next_one_anew(tmp_path):
    for path, text in (
        ("proc/self/mountinfo", "30 25 0:20 / /sys/fs/selinux rw - selinuxfs selinuxfs rw"),
        ("usr/share/containers/selinux/contexts", 'file = "u:r:t:s0"'),
    ):
        (tmp_path / "root" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "root" / path).write_text(text)
    api = Api(source={"disk": {"id": "d1"}}, accessModes=["ReadWriteOncePod"])
    node = Node(tmp_path, api, disks=Labelled(), selinux=SELinux(tmp_path / "root"))

    node.manager.setup(with_label("1", "s0:c1"))
    with pytest.raises(MountFailed) as caught:
        node.manager.setup(with_label("2", "s0:c2"))
    node.manager.teardown(pod("1", DATA))
    node.manager.setup(with_label("2", "s0:c2"))

    assert str(caught.value) == (
        "Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process "
        'volumes=[data]: conflicting SELinux labels of volume pv: "u:r:t:s0:c1" and "u:r:t:s0:c2"'
    )
    first, second = ([f"mount device with {label}", f"setup with {label}"] for label in ("u:r:t:s0:c1", "u:r:t:s0:c2"))
    assert node.disks.steps == [
        "attach",
        "wait for /dev/disk",
        *first,
        *UNDOING,
        "attach",
        "wait for /dev/disk",
        *second,
    ]
