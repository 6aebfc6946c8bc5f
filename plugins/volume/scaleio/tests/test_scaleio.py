"""scaleIO volumes: what kubernetes ``pkg/volume/scaleio`` asks the gateway and runs, and what failures leave behind."""

import base64
import json
import ssl
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from typing import ClassVar

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hyperkube_lib.storage_api import basic_authorization
from hyperkube_lib.volume_mount import FakePrograms, Finished, Mount, Mounter
from hyperkube_testing.node_contracts.volume import POD, PersistentVolumeContract, VolumeContract
from hyperkube_testing.peers.certificates import issue
from hyperkube_testing.rest_cloud import JsonHandler, serving
from hyperkube_volume.scaleio import DRV_CFG, ScaleioVolumes, note_of

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.groups import GroupResource

SOURCE = {"system": "sys", "secretRef": {"name": "s"}, "volumeName": "vol", "fsType": "xfs"}
SECRET = {"username": "me", "password": "hush-hush"}
ID, SDC = "a2b8419300000000", "sdc1"
VOLUME = f"/api/instances/Volume::{ID}"
FIND = ("POST", "/api/types/Volume/instances/action/queryIdByKey", {"name": "vol"})
MAP = ("POST", f"{VOLUME}/action/addMappedSdc", {"sdcId": SDC, "allowMultipleMappings": "false"})
UNMAP = ("POST", f"{VOLUME}/action/removeMappedSdc", {"sdcId": SDC, "ignoreScsiInitiators": "true"})
ASKED = [
    ("GET", "/api/login", None),
    ("GET", "/api/version", None),
    ("GET", "/api/types/System/instances", None),
    ("GET", "/api/instances/System::77/relationships/Sdc", None),
    FIND,
    ("GET", VOLUME, None),
]


class System:
    """A ScaleIO system with one volume; a node's device comes when it is mapped."""

    def __init__(self, root):
        self.root, self.asked, self.headers, self.mapped, self.refuses, self.known = root, [], [], [], {}, ID
        self.with_device = True

    def answer(self, method, path, body, headers):
        self.asked.append((method, path, body))
        self.headers.append(dict(headers))
        if (method, path) in self.refuses:
            return self.refuses[method, path], {"message": "no"}
        user = "me:hush-hush" if path == "/api/login" else ":token-1"
        if base64.b64decode(headers["Authorization"].removeprefix("Basic ")).decode() != user:
            return 401, {"message": "Unauthorized"}
        answers = {
            "/api/login": "token-1",
            "/api/version": "2.0.1",
            "/api/types/System/instances": [{"id": "1", "name": "other"}, {"id": "77", "name": "sys"}],
            "/api/instances/System::77/relationships/Sdc": [{"id": "x", "sdcGuid": "G0"}, {"id": SDC, "sdcGuid": "G1"}],
            FIND[1]: self.known,
            VOLUME: {"id": ID, "mappedSdcInfo": [{"sdcId": each} for each in self.mapped] or None},
        }
        if path == MAP[1]:
            self.mapped.append(body["sdcId"])
            if self.with_device:
                self.bring_device()
            return 200, {}
        if path == UNMAP[1]:
            self.mapped.remove(body["sdcId"])
            return 200, {}
        return 200, answers[path]

    def bring_device(self):
        (self.root / "dev" / "disk" / "by-id").mkdir(parents=True, exist_ok=True)
        (self.root / "dev" / "scinia").touch()
        link = self.root / "dev" / "disk" / "by-id" / f"emc-vol-788d9efb0a8f20cb-{ID}"
        if not link.is_symlink():
            link.symlink_to("../../scinia")


class Handler(JsonHandler):
    """Passes what is asked to the system of the test."""

    def reply(self, body):
        asked = json.loads(body) if body else None
        self.say(*self.server.system.answer(self.command, self.path, asked, self.headers))


@pytest.fixture(scope="module")
def server():
    with serving(Handler) as server:
        yield server


class Bench:
    """The kind on a node; what it mounted is in the table."""

    def __init__(self, server, folder, answers=None):
        self.folder, self.slept = folder, []
        given = {"blkid": Finished(2), DRV_CFG: Finished(0, "G1\n"), **(answers or {})}
        self.programs = FakePrograms(given)
        self.system = server.system = System(folder / "root")
        self.source = {**SOURCE, "gateway": f"http://127.0.0.1:{server.server_address[1]}"}
        self.secrets = {("ns", "s"): {"type": "kubernetes.io/scaleio", "data": encoded(SECRET)}}
        self.kind = self.anew()

    def anew(self):
        """Return the kind as a kubelet that starts anew has it."""
        mounter = Mounter(self.programs, table=self.mounts)
        return ScaleioVolumes(mounter, self.secret, self.slept.append, self.folder / "root")

    def secret(self, namespace, name):
        if (namespace, name) not in self.secrets:
            raise NotFound.about(GroupResource("", "secrets"), name)
        return self.secrets[namespace, name]

    def mounts(self):
        gone = [line.split(" ")[-1] for line in self.programs.ran if line.startswith("umount ")]
        paths = [line.split(" ")[-1] for line in self.programs.ran if line.startswith("mount ")]
        return [
            Mount(path=path, root="/", device="7:7", type="xfs", source=self.device, options=())
            for path in paths
            if path not in gone
        ]

    @property
    def device(self):
        return f"{self.folder}/root/dev/scinia"

    def request(self, pod="uid", node=None, source=None, **more):
        volume = {"name": "v", "scaleIO": {**self.source, **(source or {})}}
        asked = VolumeContract().request(self.folder / pod / "v", volume)
        owner = {**POD, "metadata": {**POD["metadata"], "uid": pod}}
        fields = {
            "pod": owner,
            "node": node or {},
            "plugin_dir": str(self.folder / "plugin"),
            "get_secret": self.secret,
        }
        return replace(asked, **{**fields, **more})

    def mounted(self, pod="uid"):
        known = VolumeContract().mounted(self.folder / pod / "v")
        return replace(known, pod_uid=pod, plugin_dir=str(self.folder / "plugin"))

    @property
    def notes(self):
        return sorted(path.name for path in self.folder.glob("plugin/pods/*"))


def encoded(secret):
    return {key: base64.b64encode(text.encode()).decode() for key, text in secret.items()}


@pytest.fixture
def bench(server, tmp_path):
    return Bench(server, tmp_path)


class TestContract(VolumeContract, PersistentVolumeContract):
    volume: ClassVar = {"scaleIO": SOURCE}
    persistent_volume: ClassVar = {"metadata": {"name": "pv"}, "spec": {"scaleIO": SOURCE}}

    @pytest.fixture(autouse=True)
    def connected(self, bench):
        self.bench = bench

    def kind(self):
        return self.bench.anew()

    def request(self, folder, volume=None, pod=None):
        asked = super().request(folder, volume or {"name": "v", "scaleIO": self.bench.source}, pod)
        return replace(asked, get_secret=self.bench.secret)


def test_a_volume_is_mapped_and_mounted(bench):
    path = bench.kind.setup(bench.request())

    assert bench.system.asked == [*ASKED, MAP]
    assert bench.programs.ran == [
        f"{DRV_CFG} --query_guid",
        f"blkid -p -s TYPE -s PTTYPE -o export {bench.device}",
        f"mkfs.xfs -f {bench.device}",
        f"mount -t xfs -o rw,defaults {bench.device} {path}",
    ]
    assert bench.system.headers[-1]["Accept"] == "application/json;version=2.0"
    assert bench.system.headers[-1]["Content-Type"] == "application/json;version=2.0"


def test_the_label_of_the_node_names_its_client(bench):
    bench.kind.setup(bench.request(node={"metadata": {"labels": {"scaleio.sdcGUID": "g1"}}}))

    assert not any(line.startswith(DRV_CFG) for line in bench.programs.ran)
    assert bench.system.mapped == [SDC]


def test_a_volume_that_is_mapped_here_is_not_mapped_again(bench):
    bench.system.mapped.append(SDC)
    bench.system.bring_device()

    bench.kind.setup(bench.request())

    assert bench.system.asked == ASKED


@pytest.mark.parametrize(
    ("volume", "several", "option"),
    [
        ({}, "false", "rw"),
        ({"readOnly": True}, "false", "ro"),
        ({"accessModes": ["ReadOnlyMany"]}, "true", "rw"),
        ({"accessModes": ["ReadWriteOnce"]}, "false", "rw"),
    ],
    ids=["plain", "read-only", "many readers", "one writer"],
)
def test_how_it_is_mapped_and_mounted(server, tmp_path, volume, several, option):
    bench = Bench(server, tmp_path, {"blkid": Finished(0, "TYPE=xfs\n")})
    source = {**bench.source, **({"readOnly": True} if "readOnly" in volume else {})}
    spec = {"name": "v", "scaleIO": source, "accessModes": volume.get("accessModes", [])}
    asked = bench.request(volume=spec, persistent_volume={"metadata": {"name": "v"}, "spec": spec})

    bench.kind.setup(asked)

    assert bench.system.asked[-1][2]["allowMultipleMappings"] == several
    assert bench.programs.ran[-1] == f"mount -t xfs -o {option},defaults {bench.device} {asked.path}"


def test_the_last_pod_takes_the_volume_from_the_node(bench):
    bench.kind.setup(bench.request("a"))
    bench.kind.setup(bench.request("b"))
    bench.system.asked.clear()

    bench.kind.teardown(bench.mounted("a"))
    first = list(bench.system.asked)
    bench.kind.teardown(bench.mounted("b"))

    assert first == []
    assert bench.system.asked == [*ASKED, UNMAP]
    assert bench.notes == []


def test_a_kubelet_that_starts_anew_knows_what_to_undo(bench):
    bench.kind.setup(bench.request())

    bench.anew().teardown(bench.mounted())

    assert bench.system.mapped == []
    assert bench.programs.ran[-1] == f"{DRV_CFG} --query_guid"


def test_a_secret_that_is_gone_holds_nothing_up(bench):
    bench.kind.setup(bench.request())
    bench.secrets.clear()

    bench.kind.teardown(bench.mounted())

    assert (bench.notes, bench.system.mapped) == ([], [SDC])


def test_a_device_that_does_not_come_is_waited_for(bench):
    bench.system.with_device = False

    with pytest.raises(VolumeFailed, match="volume attach timeout"):
        bench.kind.setup(bench.request())

    assert bench.slept == [1.0] * 30
    assert (bench.notes, bench.system.mapped) == ([], [])


@pytest.mark.parametrize(
    ("refuses", "answers", "text"),
    [
        (("GET", "/api/login"), {}, "GET /api/login: 409: no"),
        (MAP[:2], {}, f"POST {MAP[1]}: 409: no"),
        (None, {DRV_CFG: Finished(1, "no driver")}, "drv_cfg --query_guid failed: exit status 1: no driver"),
        (None, {"mkfs.xfs": Finished(1, "bad")}, "format of disk .* failed"),
    ],
    ids=["login", "mapping", "no driver", "format"],
)
def test_a_failure_leaves_nothing(server, tmp_path, refuses, answers, text):
    bench = Bench(server, tmp_path, answers)
    if refuses:
        bench.system.refuses[refuses] = 409

    with pytest.raises(VolumeFailed, match=text):
        bench.kind.setup(bench.request())

    assert (bench.notes, bench.system.mapped) == ([], [])


@pytest.mark.parametrize(
    ("source", "known", "text"),
    [
        ({"system": "none"}, ID, "system not found"),
        ({}, "../x", "volume not found"),
        ({}, None, "volume not found"),
    ],
    ids=["system", "a path", "volume"],
)
def test_what_is_not_there_is_told(bench, source, known, text):
    bench.system.known = known

    with pytest.raises(VolumeFailed, match=text):
        bench.kind.setup(bench.request(source=source))


def test_a_node_without_a_client_is_told(bench):
    bench.programs.answers[DRV_CFG] = Finished(0, "G9\n")

    with pytest.raises(VolumeFailed, match="Couldn't find SDC"):
        bench.kind.setup(bench.request())


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ({"gateway": ""}, "ScaleIO gateway not provided"),
        ({"system": ""}, "ScaleIO system not provided"),
        ({"volumeName": ""}, "ScaleIO volume not provided"),
        ({"secretRef": None}, "secret ref not provided"),
    ],
    ids=["gateway", "system", "volume", "secret"],
)
def test_a_volume_that_does_not_say_enough_is_refused(bench, source, text):
    with pytest.raises(VolumeFailed, match=text):
        note_of(bench.request(source=source))


def test_a_secret_is_one_that_was_made_for_it(bench):
    bench.secrets["ns", "s"]["type"] = "Opaque"

    with pytest.raises(VolumeFailed, match=r"must be of type kubernetes.io/scaleio"):
        bench.kind.setup(bench.request())

    assert (bench.system.asked, bench.notes) == ([], [])


@pytest.mark.parametrize(("persistent", "namespace"), [(None, "ns"), ({"metadata": {"name": "v"}}, "others")])
def test_only_a_persistent_volume_names_a_secret_of_another_namespace(bench, persistent, namespace):
    reference = {"name": "s", "namespace": "others"}

    assert (
        note_of(bench.request(source={"secretRef": reference}, persistent_volume=persistent))["secretNamespace"]
        == namespace
    )


def test_credentials_go_to_the_gateway_alone(bench):
    bench.kind.setup(bench.request())

    kept = [path.read_text() for path in bench.folder.rglob("*") if path.is_file()]
    login = basic_authorization("me", "hush-hush")["Authorization"]

    assert [each["Authorization"] == login for each in bench.system.headers] == [True, *[False] * 6]
    assert len(bench.notes) == 1
    assert not any(
        word in text for text in [*kept, *bench.programs.ran, *bench.programs.given] for word in ("hush", "token-1")
    )


def test_what_is_mapped_no_more_is_not_unmapped(bench):
    bench.kind.setup(bench.request())
    bench.system.mapped.clear()

    bench.kind.teardown(bench.mounted())

    assert bench.notes == []
    assert UNMAP not in bench.system.asked


@pytest.mark.parametrize(
    ("trusted", "expectation"),
    [(False, nullcontext()), (True, pytest.raises(VolumeFailed, match="CERTIFICATE_VERIFY_FAILED"))],
    ids=["anyone", "authorities alone"],
)
def test_ssl_enabled_says_whether_the_gateway_has_to_be_trusted(tmp_path, trusted, expectation):
    issued = issue("gateway", server=True, start=datetime.now(UTC))
    key = issued.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "gateway.pem").write_bytes(issued.pem + key)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "gateway.pem")
    with serving(Handler) as server:
        server.handle_error = lambda *_: None
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        bench = Bench(server, tmp_path)
        asked = bench.request(
            source={"gateway": bench.source["gateway"].replace("http", "https"), "sslEnabled": trusted}
        )
        with expectation:
            bench.kind.setup(asked)

    assert bench.system.mapped == ([] if trusted else [SDC])
