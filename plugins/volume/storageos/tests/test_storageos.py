"""storageos volumes: what kubernetes ``pkg/volume/storageos`` asks the API and runs, and what failures leave behind."""

import base64
import json
from dataclasses import replace
from typing import ClassVar

import pytest
from hyperkube_lib.storage_api import basic_authorization
from hyperkube_lib.volume_mount import FakePrograms, Finished, Mount, Mounter
from hyperkube_testing.node_contracts.volume import POD, PersistentVolumeContract, VolumeContract
from hyperkube_testing.rest_cloud import JsonHandler, serving
from hyperkube_volume import storageos
from hyperkube_volume.storageos import ApiConfig, Control, StorageosVolumes, config_of, urls_of

from hyperkube.hookspecs.volume import VolumeFailed

SOURCE = {"volumeName": "vol", "volumeNamespace": "sns", "fsType": "ext4"}
NODE = {"metadata": {"name": "n", "labels": {"kubernetes.io/hostname": "host-1"}}}
VOLUME = "/v1/namespaces/sns/volumes/vol"
ANSWERS = {"losetup -f": Finished(0, "/dev/loop7\n"), "blkid": Finished(2)}


class Api:
    """What StorageOS knows: one volume, of which a node has a file."""

    def __init__(self, folder):
        self.folder, self.asked, self.users, self.refuses = folder, [], [], {}
        (folder / "id-1").touch()

    def answer(self, method, path, body):
        self.asked.append((method, path, body))
        if (method, path) in self.refuses:
            return self.refuses[method, path], {"message": "no"}
        if method == "GET" and path.startswith("/v1/nodes/"):
            return 200, {"deviceDir": str(self.folder)}
        return 200, {"id": "id-1"}


class Handler(JsonHandler):
    """Passes what is asked to the API of the test."""

    def reply(self, body):
        self.server.api.users.append(self.headers["Authorization"])
        self.say(*self.server.api.answer(self.command, self.path, json.loads(body) if body else None))


@pytest.fixture(scope="module")
def server():
    with serving(Handler) as server:
        yield server


class Bench:
    """The kind on a node; what it mounted is in the table."""

    def __init__(self, server, folder, answers=None):
        self.folder, self.programs = folder, FakePrograms(ANSWERS | (answers or {}))
        folder.joinpath("devices").mkdir(exist_ok=True)
        self.api = server.api = Api(folder / "devices")
        self.port = server.server_address[1]
        self.kind = self.anew()

    def anew(self):
        """Return the kind as a kubelet that starts anew has it."""
        default = ApiConfig(address=f"127.0.0.1:{self.port}")
        return StorageosVolumes(
            Mounter(self.programs, table=self.mounts),
            lambda config: Control(default if config == ApiConfig() else config),
        )

    def mounts(self):
        paths = {}
        for line in self.programs.ran:
            words = line.split(" ")
            if words[0] == "mount":
                paths[words[-1]] = words[-2]
            elif words[0] == "umount":
                paths.pop(words[-1], None)
        return [
            Mount(path=path, root="/", device="7:7", type="ext4", source=source, options=())
            for path, source in paths.items()
        ]

    def request(self, pod="uid", source=SOURCE, secret=None, **more):
        data = {key: base64.b64encode(text.encode()).decode() for key, text in (secret or {}).items()}
        asked = VolumeContract().request(self.folder / pod / "v", {"name": "v", "storageos": source})
        owner = {**POD, "metadata": {**POD["metadata"], "uid": pod}}
        fields = {"pod": owner, "node": NODE, "plugin_dir": str(self.folder / "plugin")}
        return replace(asked, **fields, **{"get_secret": lambda _ns, _name: {"data": data}, **more})

    def mounted(self, pod="uid"):
        known = VolumeContract().mounted(self.folder / pod / "v")
        return replace(known, pod_uid=pod, plugin_dir=str(self.folder / "plugin"))

    @property
    def target(self):
        return f"{self.folder}/plugin/mounts/v.sns.vol"

    @property
    def notes(self):
        return sorted(path.name for path in self.folder.glob("plugin/pods/*"))


@pytest.fixture
def bench(server, tmp_path):
    return Bench(server, tmp_path)


class TestContract(VolumeContract, PersistentVolumeContract):
    volume: ClassVar = {"storageos": SOURCE}
    persistent_volume: ClassVar = {"metadata": {"name": "pv"}, "spec": {"storageos": SOURCE}}

    @pytest.fixture(autouse=True)
    def connected(self, bench):
        self.bench = bench

    def kind(self):
        return self.bench.anew()


def test_a_volume_is_mounted_for_the_node_and_shown_to_the_pod(bench):
    path = bench.kind.setup(bench.request())

    told = {"id": "", "name": "vol", "namespace": "sns", "client": "host-1"}
    assert bench.api.asked == [
        ("POST", f"{VOLUME}/mount", told | {"mountpoint": bench.target, "fsType": "ext4"}),
        ("GET", "/v1/nodes/host-1", None),
        ("GET", VOLUME, None),
    ]
    assert bench.programs.ran == [
        f"losetup -f --show {bench.folder}/devices/id-1",
        "blkid -p -s TYPE -s PTTYPE -o export /dev/loop7",
        "mkfs.ext4 -F -m0 /dev/loop7",
        f"mount -t ext4 -o defaults /dev/loop7 {bench.target}",
        f"mount -o bind {bench.target} {path}",
    ]


@pytest.mark.parametrize(
    ("more", "device", "pod"),
    [
        ({"source": {**SOURCE, "readOnly": True}}, "ro,defaults", ["bind", "bind,remount,ro"]),
        ({"read_only": True}, "defaults", ["bind", "bind,remount,ro"]),
        ({"source": {**SOURCE, "volumeNamespace": "", "fsType": "xfs"}}, "defaults", ["bind"]),
    ],
    ids=["source read-only", "mounts read-only", "of the pod's namespace"],
)
def test_what_is_mounted(server, tmp_path, more, device, pod):
    bench = Bench(server, tmp_path, {"blkid": Finished(0, "TYPE=ext4\n")})

    bench.kind.setup(bench.request(**more))

    lines = [line.split(" ") for line in bench.programs.ran if line.startswith("mount ")]
    assert [words[words.index("-o") + 1] for words in lines] == [device, *pod]
    space = more.get("source", SOURCE)["volumeNamespace"] or "ns"
    assert bench.api.asked[0][1] == f"/v1/namespaces/{space}/volumes/vol/mount"
    assert not any(line.startswith("mkfs") for line in bench.programs.ran)


def test_a_persistent_volume_brings_options(bench):
    volume = {"name": "v", "storageos": SOURCE, "mountOptions": ["noatime"]}
    asked = bench.request(volume=volume, persistent_volume={"metadata": {"name": "v"}, "spec": volume})

    bench.kind.setup(asked)

    assert bench.programs.ran[-2:] == [
        f"mount -o bind {bench.target} {asked.path}",
        f"mount -o bind,remount,noatime {bench.target} {asked.path}",
    ]


def test_the_last_pod_takes_the_volume_from_the_node(bench):
    bench.kind.setup(bench.request("a"))
    bench.kind.setup(bench.request("b"))
    assert len([line for line in bench.programs.ran if line.startswith("mkfs")]) == 1
    bench.programs.ran = [line for line in bench.programs.ran if line.startswith("mount ")]
    bench.api.asked.clear()

    bench.kind.teardown(bench.mounted("a"))
    first = list(bench.programs.ran[3:])
    bench.kind.teardown(bench.mounted("b"))

    assert first == [f"umount {bench.folder}/a/v"]
    assert bench.programs.ran[4:] == [f"umount {bench.folder}/b/v", f"umount {bench.target}", "losetup -d /dev/loop7"]
    left = {"id": "", "name": "vol", "namespace": "sns", "client": "host-1"}
    assert bench.api.asked == [("POST", f"{VOLUME}/unmount", left)]
    assert bench.notes == []


def test_a_kubelet_that_starts_anew_knows_what_to_undo(bench):
    bench.kind.setup(bench.request())

    found = bench.anew().construct_spec(bench.mounted()).volume
    bench.anew().teardown(bench.mounted())

    assert found == {"name": "v", "storageos": {"volumeName": "vol", "volumeNamespace": "sns"}}
    assert bench.programs.ran[-2:] == [f"umount {bench.target}", "losetup -d /dev/loop7"]
    assert bench.api.asked[-1][1] == f"{VOLUME}/unmount"


def test_an_api_that_does_not_take_leave_holds_nothing_up(bench):
    bench.kind.setup(bench.request())
    bench.api.refuses["POST", f"{VOLUME}/unmount"] = 500

    bench.kind.teardown(bench.mounted())

    assert bench.notes == []


def test_a_volume_that_is_busy_is_undone_later(bench):
    bench.kind.setup(bench.request())
    bench.programs.answers[f"umount {bench.target}"] = Finished(32, "target is busy")

    with pytest.raises(VolumeFailed, match="target is busy"):
        bench.kind.teardown(bench.mounted())

    assert bench.notes == ["uid~v.json"]


@pytest.mark.parametrize(
    ("refuses", "answers", "text"),
    [
        (("POST", f"{VOLUME}/mount"), {}, f"POST {VOLUME}/mount: 409: no"),
        (("GET", VOLUME), {}, f"GET {VOLUME}: 409: no"),
        (None, {"losetup": Finished(1, "no loop")}, "losetup -f --show .* failed: exit status 1: no loop"),
        (None, {"mkfs": Finished(1, "bad")}, "format of disk .* failed"),
        (None, {"mount -o bind": Finished(32, "denied")}, "denied"),
    ],
    ids=["in use", "no such volume", "no loop device", "format", "bind"],
)
def test_a_failure_leaves_nothing(server, tmp_path, refuses, answers, text):
    bench = Bench(server, tmp_path, {**answers, **({"losetup -f": answers["losetup"]} if "losetup" in answers else {})})
    if refuses:
        bench.api.refuses[refuses] = 409

    with pytest.raises(VolumeFailed, match=text):
        bench.kind.setup(bench.request())

    assert bench.notes == []
    assert not any(mount.path == f"{bench.folder}/uid/v" and mount.source == "/dev/loop7" for mount in bench.mounts())
    looped = f"losetup -f --show {bench.folder}/devices/id-1" in bench.programs.ran and "losetup" not in answers
    assert ("losetup -d /dev/loop7" in bench.programs.ran) == looped


def test_a_device_that_is_not_there_or_is_none_is_told(bench):
    (bench.api.folder / "id-1").unlink()
    with pytest.raises(VolumeFailed, match="id-1: no such file or directory"):
        bench.kind.setup(bench.request())
    (bench.api.folder / "id-1").mkdir()
    with pytest.raises(VolumeFailed, match="device not supported"):
        bench.kind.setup(bench.request())


def test_without_word_of_the_node_its_devices_are_in_the_usual_folder(bench, monkeypatch):
    monkeypatch.setattr(storageos, "DEVICES", str(bench.api.folder))
    bench.api.refuses["GET", "/v1/nodes/host-1"] = 404

    bench.kind.setup(bench.request())

    assert bench.programs.ran[0] == f"losetup -f --show {bench.api.folder}/id-1"


def test_an_id_that_is_a_path_is_refused(bench, monkeypatch):
    monkeypatch.setattr(bench.api, "answer", lambda *_: (200, {"id": "../../etc/shadow"}))

    with pytest.raises(VolumeFailed, match=r"has id '../../etc/shadow'"):
        bench.kind.setup(bench.request())


def test_credentials_go_to_the_api_alone(bench):
    secret = {"apiAddress": f"tcp://127.0.0.1:{bench.port}", "apiUsername": "me", "apiPassword": "hush-hush"}
    bench.kind.setup(bench.request(source={**SOURCE, "secretRef": {"name": "s"}}, secret=secret))
    bench.kind.teardown(bench.mounted())

    assert set(bench.api.users) == {basic_authorization("me", "hush-hush")["Authorization"]}
    assert "hush" not in "\n".join(bench.programs.ran) + "".join(bench.programs.given)


def test_no_credentials_are_kept_on_the_disk(bench):
    secret = {"apiaddress": f"127.0.0.1:{bench.port}", "apiusername": "me", "apipassword": "hush-hush"}
    bench.kind.setup(bench.request(source={**SOURCE, "secretRef": {"name": "s"}}, secret=secret))

    kept = [path.read_text() for path in bench.folder.rglob("*") if path.is_file()]

    assert len(bench.notes) == 1
    assert not any("hush" in text for text in kept)


@pytest.mark.parametrize(
    ("persistent", "reference", "namespace"),
    [
        (None, {"name": "s", "namespace": "others"}, "ns"),
        ({"metadata": {"name": "v"}}, {"name": "s", "namespace": "others"}, "others"),
        ({"metadata": {"name": "v"}}, {"name": "s"}, "ns"),
    ],
    ids=["of a pod", "of a volume", "of a volume without namespace"],
)
def test_only_a_persistent_volume_names_a_secret_of_another_namespace(bench, persistent, reference, namespace):
    asked = []

    def get_secret(space, name):
        asked.append((space, name))
        return {"type": "kubernetes.io/storageos", "data": {"apiAddress": base64.b64encode(b"a:1").decode()}}

    source = {**SOURCE, "secretRef": reference}
    found = config_of(bench.request(source=source, get_secret=get_secret, persistent_volume=persistent))

    assert asked == [(namespace, "s")]
    assert found == ApiConfig(address="a:1", user="", password="")


def test_a_persistent_volume_reads_no_secret_that_was_made_for_something_else(bench):
    source = {**SOURCE, "secretRef": {"name": "s", "namespace": "kube-system"}}

    with pytest.raises(VolumeFailed, match=r"kube-system/s: it must be of type kubernetes.io/storageos"):
        bench.kind.setup(bench.request(source=source, secret={"a": "b"}, persistent_volume={"metadata": {"name": "v"}}))


def test_an_empty_secret_is_refused(bench):
    with pytest.raises(VolumeFailed, match="empty API config"):
        bench.kind.setup(bench.request(source={**SOURCE, "secretRef": {"name": "s"}}))


@pytest.mark.parametrize("more", [{"volumeName": "a/b"}, {"volumeNamespace": "../x"}, {"volumeName": ""}])
def test_a_name_that_is_a_path_is_refused(bench, more):
    with pytest.raises(VolumeFailed, match="must be a namespace and a name in it"):
        bench.kind.setup(bench.request(source={**SOURCE, **more}))

    assert (bench.api.asked, bench.programs.ran) == ([], [])


@pytest.mark.parametrize(
    ("address", "urls"),
    [
        ("tcp://localhost:5705", ["http://localhost:5705"]),
        ("host", ["http://host:5705"]),
        ("https://a:1/,b", ["https://a:1", "https://b:5705"]),
    ],
)
def test_an_address_is_one_of_http(address, urls):
    assert urls_of(address) == urls


def test_another_address_is_asked_where_one_does_not_answer(bench):
    control = Control(ApiConfig(address=f"127.0.0.1:1,127.0.0.1:{bench.port}"))

    assert control.device_folder("host-1") == str(bench.api.folder)


def test_what_one_address_refuses_is_not_asked_of_another(bench):
    bench.api.refuses["GET", "/v1/nodes/host-1"] = 403
    control = Control(ApiConfig(address=f"127.0.0.1:{bench.port},127.0.0.1:{bench.port}"))

    control.device_folder("host-1")

    assert bench.api.asked == [("GET", "/v1/nodes/host-1", None)]
