"""csi volumes: which calls a driver gets, and that nothing is left behind whatever fails when."""

import itertools
import json
import socket
import threading
from typing import ClassVar

import pytest
from hyperkube_lib.csi.memory_driver import MemoryDriver
from hyperkube_testing.node_contracts.volume import NODE, POD, PersistentVolumeContract, VolumeContract
from hyperkube_volume.csi import Csi
from hyperkube_volume.csi.attachment import attachment_name
from hyperkube_volume.csi.csi import CsiVolumes, inline_handle

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.volume import DeviceRequest, MountedVolume, VolumeFailed, VolumeRequest, VolumeSpec
from hyperkube.kinds.resources import CSI_DRIVERS, CSI_NODES, NODES, VOLUME_ATTACHMENTS
from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.plugin import PluginContext
from hyperkube.testing.waiting import eventually

DRIVER = "memory.csi.example.com"
SOURCE = {"driver": DRIVER, "volumeHandle": "h1", "fsType": "ext4", "volumeAttributes": {"a": "b"}}
PV = {"metadata": {"name": "pv"}, "spec": {"csi": SOURCE, "accessModes": ["ReadWriteOnce"]}}


class Passing(FakeClock):
    """To sleep is to let time pass."""

    def sleep(self, seconds):
        self.advance(seconds)


class Bench:
    """A kind with one driver, on a node, with a folder of the kubelet."""

    def __init__(self, folder, driver=None, attach=False, source=SOURCE, **csi_driver):
        self.folder, self.driver, self.client = folder, driver or MemoryDriver(), FakeClient()
        self.driver.volumes.setdefault("h1", 1 << 20)
        self.client.seed(NODES, {"kind": "Node", **NODE})
        spec = {"attachRequired": attach, **csi_driver}
        self.client.seed(CSI_DRIVERS, {"kind": "CSIDriver", "metadata": {"name": DRIVER}, "spec": spec})
        self.pv = {**PV, "spec": {**PV["spec"], "csi": source}}
        self.restart()

    def restart(self):
        """Another kubelet: it knows what is on the disk and nothing else."""
        self.kind = CsiVolumes(self.client, FakeClock(), lambda _endpoint: self.driver)
        self.kind.register_driver(DRIVER, "/sock", ["1.0.0"], "n")

    @property
    def spec(self):
        return VolumeSpec(volume={"name": "pv", **self.pv["spec"]}, persistent_volume=self.pv)

    @property
    def plugin_dir(self):
        return str(self.folder / "plugins")

    def device(self, **more):
        path = self.kind.device_mount_path(self.spec, self.plugin_dir)
        return DeviceRequest(
            spec=self.spec, pod=POD, node=NODE, device="", path=path, plugin_dir=self.plugin_dir,
            get_secret=lambda _namespace, _name: {"data": {"key": "aHVzaA=="}}, **more,
        )  # fmt: skip

    def request(self, volume=None, pv=True, **more):
        path = self.folder / "pods" / "pv"
        path.mkdir(parents=True, exist_ok=True)
        return VolumeRequest(
            volume=volume or self.spec.volume, persistent_volume=self.pv if pv else None, pod=POD, path=str(path),
            read_only=False, node=NODE, get_config_map=None, get_secret=self.device().get_secret,
            request_token=lambda audience, seconds: {"token": f"{audience} {seconds}"}, **more,
        )  # fmt: skip

    def up(self):
        device = self.device()
        self.kind.mount_device(device)
        return self.kind.setup(self.request(device_mount_path=device.path))

    def down(self):
        self.kind.teardown(MountedVolume(name="pv", pod_uid="uid", path=str(self.folder / "pods" / "pv")))
        self.kind.unmount_device(self.kind.device_mount_path(self.spec, self.plugin_dir))

    def left(self):
        return [path for path in self.folder.rglob("*") if path.is_file()], self.driver.staged, self.driver.published


class TestContract(VolumeContract, PersistentVolumeContract):
    volume: ClassVar = {"csi": {"driver": DRIVER}}
    persistent_volume: ClassVar = PV

    def kind(self):
        found = CsiVolumes(None, SystemClock(), lambda _endpoint: MemoryDriver())
        found._objects.check_lifecycle = lambda *_args: None
        found.register_driver(DRIVER, "/sock", ["1.0.0"], "n")
        return found

    def test_attach_and_detach_are_idempotent(self):
        """Attaching is the work of an attacher: see below."""


def test_the_calls_of_a_volume(tmp_path):
    bench = Bench(tmp_path)

    path = bench.up()
    stage, publish = bench.driver.requests["NodeStageVolume"], bench.driver.requests["NodePublishVolume"]
    bench.down()

    assert path == str(tmp_path / "pods" / "pv" / "mount")
    assert stage == {
        "volume_id": "h1",
        "volume_capability": {"access_mode": {"mode": "SINGLE_NODE_WRITER"}, "mount": {"fs_type": "ext4"}},
        "volume_context": {"a": "b"},
        "staging_target_path": bench.device().path,
    }
    assert publish == {**stage, "target_path": path}
    assert bench.left() == ([], set(), set())


METHODS = ("NodeStageVolume", "NodePublishVolume", "NodeUnpublishVolume", "NodeUnstageVolume")
FAULTS = list(itertools.product(METHODS, ("before", "after"), ("UNAVAILABLE", "INTERNAL"), (False, True)))


@pytest.mark.parametrize(("method", "when", "code", "restarts"), FAULTS)
def test_nothing_is_left_or_formatted_twice_whatever_fails(tmp_path, method, when, code, restarts):
    """Each call fails before it begins or after it is done, finally or not; and the kubelet is killed at that moment."""
    bench = Bench(tmp_path)
    failures = bench.driver.fail_before if when == "before" else bench.driver.fail_after
    steps = [bench.up, bench.down]
    failures[method] = code
    for step in steps:
        for _attempt in range(3):
            try:
                step()
                break
            except VolumeFailed:
                failures.clear()
                if restarts:
                    bench.restart()

    assert not failures
    assert bench.driver.formatted == {"h1": 1}
    assert bench.left() == ([], set(), set())


def test_a_later_kubelet_finds_out_what_it_was(tmp_path):
    bench = Bench(tmp_path)
    bench.up()
    bench.restart()

    found = bench.kind.construct_spec(MountedVolume(name="pv", pod_uid="uid", path=str(tmp_path / "pods" / "pv")))

    assert bench.kind.volume_name(found) == f"{DRIVER}^h1"
    assert bench.kind.device_mount_path(found, bench.plugin_dir) == bench.device().path


def test_an_attached_volume_gets_what_the_driver_told(tmp_path):
    bench = Bench(tmp_path, attach=True)
    with pytest.raises(VolumeFailed, match="not found"):
        bench.kind.wait_for_attach(bench.spec, "", POD, NODE)
    name = attachment_name("h1", DRIVER, "n")
    status = {"attached": True, "attachmentMetadata": {"device": "d1"}}
    bench.client.seed(VOLUME_ATTACHMENTS, {"metadata": {"name": name}, "spec": {}, "status": status})

    bench.kind.attach(bench.spec, NODE)
    bench.up()
    attached = bench.kind.volumes_are_attached([bench.spec], NODE)
    bench.kind.detach(bench.kind.volume_name(bench.spec), "n")

    assert bench.driver.requests["NodeStageVolume"]["publish_context"] == {"device": "d1"}
    assert attached == {"pv": True}
    assert bench.client.objects(VOLUME_ATTACHMENTS) == []


def test_an_attachment_that_failed_is_told(tmp_path):
    bench = Bench(tmp_path, attach=True)
    name = attachment_name("h1", DRIVER, "n")
    status = {"attached": False, "attachError": {"message": "no more slots"}}
    bench.client.seed(VOLUME_ATTACHMENTS, {"metadata": {"name": name}, "spec": {}, "status": status})

    with pytest.raises(VolumeFailed, match="no more slots"):
        bench.kind.attach(bench.spec, NODE)


def test_a_volume_that_lives_with_its_pod(tmp_path):
    bench = Bench(tmp_path, volumeLifecycleModes=["Ephemeral"], podInfoOnMount=True, tokenRequests=[{"audience": "x"}])
    volume = {"name": "v", "csi": {"driver": DRIVER, "nodePublishSecretRef": {"name": "s"}}}

    bench.kind.setup(bench.request(volume, pv=False))
    published = bench.driver.requests["NodePublishVolume"]

    context = published["volume_context"]
    assert published["volume_id"] == inline_handle("uid", "v")
    assert published["secrets"] == {"key": "hush"}
    assert context["csi.storage.k8s.io/ephemeral"] == "true"
    assert json.loads(context["csi.storage.k8s.io/serviceAccount.tokens"])["x"]["token"] == "x 3600"
    assert "NodeStageVolume" not in bench.driver.calls


def test_a_driver_that_does_not_serve_such_volumes(tmp_path):
    bench = Bench(tmp_path)
    text = rf'volume mode "Ephemeral" not supported by driver {DRIVER} \(only supports \["Persistent"\]\)'

    with pytest.raises(VolumeFailed, match=text):
        bench.kind.setup(bench.request({"name": "v", "csi": {"driver": DRIVER}}, pv=False))


def test_a_driver_that_is_not_there(tmp_path):
    bench = Bench(tmp_path)
    bench.kind.deregister_driver(DRIVER, "/sock")

    missing = f"driver name {DRIVER} not found in the list of registered CSI drivers"

    with pytest.raises(VolumeFailed, match=f": attacher.MountDevice failed to create newCsiDriverClient: {missing}$"):
        bench.up()
    with pytest.raises(VolumeFailed, match=f"^kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: {missing}$"):
        bench.kind.setup(bench.request({"name": "v", "csi": {"driver": DRIVER}}, pv=False))


def test_the_node_tells_of_its_drivers(tmp_path):
    bench = Bench(tmp_path)
    bench.restart()

    (node,) = bench.client.objects(CSI_NODES)
    row = {
        "name": DRIVER, "nodeID": "n1", "topologyKeys": ["topology.example.com/node"], "allocatable": {"count": 8},
    }  # fmt: skip
    assert node["spec"]["drivers"] == [row]
    assert bench.client.get(NODES, "n")["metadata"]["labels"] == {"topology.example.com/node": "n1"}
    assert bench.kind.volume_limits() == {f"attachable-volumes-csi-{DRIVER}": 8}
    with pytest.raises(VolumeFailed, match="none of the CSI versions reported by this driver are supported"):
        bench.kind.validate_driver(DRIVER, "/sock", ["0.3.0"])


LABEL = "system_u:object_r:container_file_t:s0:c1,c2"


@pytest.mark.parametrize(("says", "supported"), [(True, True), (False, False), (None, False)])
def test_a_driver_says_whether_it_mounts_with_selinux_labels(tmp_path, says, supported):
    bench = Bench(tmp_path, **({} if says is None else {"seLinuxMount": says}))

    assert bench.kind.supports_selinux_context_mount(bench.spec) is supported


def test_a_driver_is_asked_for_the_label_by_a_mount_option_and_the_record_has_it(tmp_path):
    bench = Bench(tmp_path, seLinuxMount=True)
    bench.pv["spec"]["mountOptions"] = ["noatime"]
    device = bench.device(selinux_label=LABEL)
    bench.kind.mount_device(device)
    bench.kind.setup(bench.request(device_mount_path=device.path, selinux_label=LABEL))

    for method in ("NodeStageVolume", "NodePublishVolume"):
        mount = bench.driver.requests[method]["volume_capability"]["mount"]
        assert mount["mount_flags"] == ["noatime", f'context="{LABEL}"']
    records = [json.loads(path.read_text()) for path in tmp_path.rglob("vol_data.json")]
    assert [record["seLinuxMountContext"] for record in records] == [LABEL, LABEL]


MIGRATED = (
    "kubernetes.io/aws-ebs,kubernetes.io/azure-disk,kubernetes.io/azure-file,kubernetes.io/cinder,kubernetes.io/gce-pd,"
    "kubernetes.io/portworx-volume,kubernetes.io/vsphere-volume"
)
ANNOTATION = "storage.alpha.kubernetes.io/migrated-plugins"


def csi_node(annotations, *drivers):
    meta = {"name": "n", **({"annotations": annotations} if annotations else {})}
    return {"kind": "CSINode", "apiVersion": "storage.k8s.io/v1", "metadata": meta, "spec": {"drivers": [*drivers]}}


OTHER = {"name": "other.example.com", "nodeID": "o", "topologyKeys": None}


@pytest.mark.parametrize(
    ("known", "annotations", "drivers", "writes"),
    [
        pytest.param(None, {ANNOTATION: MIGRATED}, [], ["create"], id="none yet: made, with no driver"),
        pytest.param(csi_node(None, OTHER), {ANNOTATION: MIGRATED}, [OTHER], ["update"], id="without: added"),
        pytest.param(
            csi_node({ANNOTATION: "kubernetes.io/gce-pd", "mine": "x"}),
            {ANNOTATION: MIGRATED, "mine": "x"}, [], ["update"], id="fewer: replaced",
        ),
        pytest.param(
            csi_node({ANNOTATION: ",".join(reversed(MIGRATED.split(",")))}, OTHER),
            {ANNOTATION: ",".join(reversed(MIGRATED.split(",")))}, [OTHER], [], id="the same in another order: left",
        ),
    ],
)  # fmt: skip
def test_the_node_tells_which_kinds_drivers_took_over(known, annotations, drivers, writes):
    client = FakeClient()
    client.seed(NODES, {"kind": "Node", **NODE})
    if known:
        client.seed(CSI_NODES, known)
    kind = CsiVolumes(client, FakeClock(), lambda _endpoint: MemoryDriver())

    kind.initialize_node("n")

    (found,) = client.objects(CSI_NODES)
    assert (found["metadata"].get("annotations"), found["spec"]["drivers"]) == (annotations, drivers)
    assert [verb for verb, *_ in client.actions if verb in {"create", "update", "patch"}] == writes


def test_a_node_without_an_api_tells_nothing_and_one_that_is_not_there_yet_later():
    CsiVolumes(None, FakeClock(), lambda _endpoint: MemoryDriver()).initialize_node("n")

    with pytest.raises(VolumeFailed, match='error updating CSINode annotation: nodes "n" not found'):
        CsiVolumes(FakeClient(), FakeClock(), lambda _endpoint: MemoryDriver()).initialize_node("n")


@pytest.mark.parametrize(
    ("settings", "told"),
    [({"hostname_override": "n"}, ["n"]), ({"hostname_override": ""}, [socket.gethostname().lower()]), ({}, [])],
    ids=["a kubelet", "a kubelet whose node has the machine's name", "a controller"],
)
def test_a_kubelet_makes_its_csinode_as_soon_as_its_node_is_there(settings, told):
    client, clock = FakeClient(), SystemClock()
    plugin = Csi(PluginContext(name="kubernetes.io/csi", clock=clock, client=client, settings=settings))
    plugin.volume_kinds()
    others = set(threading.enumerate())
    plugin.start()
    begun = bool(set(threading.enumerate()) - others)
    for name in told:
        client.seed(NODES, {"kind": "Node", "metadata": {"name": name, "uid": "u"}})

    eventually(lambda: [node["metadata"]["name"] for node in client.objects(CSI_NODES)] == told)
    plugin.close()
    assert begun is bool(told)


def test_a_driver_that_comes_leaves_the_others_and_the_annotation(tmp_path):
    bench = Bench(tmp_path)
    bench.client.update(CSI_NODES, csi_node({"mine": "x"}, OTHER))
    bench.restart()

    (found,) = bench.client.objects(CSI_NODES)
    assert [row["name"] for row in found["spec"]["drivers"]] == [OTHER["name"], DRIVER]
    assert found["metadata"]["annotations"] == {"mine": "x", ANNOTATION: MIGRATED}


def test_a_device(tmp_path):
    bench = Bench(tmp_path)
    bench.pv["spec"]["volumeMode"] = "Block"
    folder = tmp_path / "plugins" / "volumeDevices" / "pv"
    base = bench.device()
    request = DeviceRequest(**{**{name: getattr(base, name) for name in base.__slots__}, "path": str(folder)})

    device = bench.kind.map_device(request)
    found = bench.kind.construct_spec(
        MountedVolume(name="pv", pod_uid="uid", path=str(tmp_path / "link"), plugin_dir=bench.plugin_dir)
    )
    bench.kind.unmap_device(MountedVolume(name="pv", pod_uid="uid", path=str(folder)))

    assert device == str(folder / "publish")
    assert "block" in bench.driver.requests["NodePublishVolume"]["volume_capability"]
    assert bench.kind.volume_name(found) == f"{DRIVER}^h1"
    assert bench.left() == ([], set(), set())


@pytest.mark.parametrize(
    ("policy", "source", "given"),
    [
        (None, SOURCE, True),
        (None, {**SOURCE, "fsType": ""}, False),
        ("File", {**SOURCE, "fsType": ""}, True),
        ("None", SOURCE, False),
    ],
)
def test_who_gives_the_files_to_the_group(tmp_path, policy, source, given):
    bench = Bench(tmp_path, source=source, **({"fsGroupPolicy": policy} if policy else {}))

    assert bench.kind.gives_to_group(bench.spec) is given


def test_usage_and_growth_are_the_drivers(tmp_path):
    bench = Bench(tmp_path)
    bench.up()

    usage = bench.kind.usage(bench.spec, MountedVolume(name="pv", pod_uid="uid", path=str(tmp_path / "pods" / "pv")))

    assert (usage.capacity, usage.used, usage.inodes_used) == (100, 40, 3)
    assert bench.kind.node_expand(bench.device(), 5 << 20)
    assert bench.driver.requests["NodeExpandVolume"]["capacity_range"] == {"required_bytes": 5 << 20}


@pytest.mark.parametrize(
    ("uid", "source"),
    [({"uid": "u"}, {"persistentVolumeName": "pv"}), ({}, {"inlineVolumeSpec": PV["spec"]})],
    ids=["stored", "of a pod, of a kind that the driver took over"],
)
def test_the_attacher_is_told_what_is_to_be_attached(tmp_path, uid, source):
    bench = Bench(tmp_path, attach=True)
    bench.pv = {**PV, "metadata": {"name": "pv", **uid}}
    bench.kind = CsiVolumes(bench.client, Passing(), lambda _endpoint: bench.driver)

    with pytest.raises(VolumeFailed, match="timed out waiting for external-attacher"):
        bench.kind.attach(bench.spec, NODE)

    (made,) = bench.client.objects(VOLUME_ATTACHMENTS)
    assert made["spec"]["source"] == source
