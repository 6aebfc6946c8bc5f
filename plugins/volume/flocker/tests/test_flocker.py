"""flocker volumes: what kubernetes ``pkg/volume/flocker`` asks the control service, and what is mounted then."""

import json
import ssl
from dataclasses import replace
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import ClassVar

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hyperkube_lib.storage_api import StorageApi
from hyperkube_lib.volume_mount import FakePrograms, Finished, Mounter
from hyperkube_testing.node_contracts.volume import PersistentVolumeContract, ProvisionerContract, VolumeContract
from hyperkube_testing.peers.certificates import issue
from hyperkube_testing.rest_cloud import JsonHandler, serving
from hyperkube_volume.flocker import TRIES, FlockerVolumes, connect

from hyperkube.hookspecs.volume import VolumeFailed

HERE, THERE = "node-here", "node-there"
NODE = {"metadata": {"name": "n"}, "status": {"addresses": [{"type": "Hostname", "address": "n"},
                                                            {"type": "InternalIP", "address": "10.0.0.1"}]}}  # fmt: skip
SOURCE = {"datasetName": "data"}
GET = [("GET", "/v1/configuration/datasets", None)]
STATE, NODES = ("GET", "/v1/state/datasets", None), ("GET", "/v1/state/nodes", None)


class Service:
    """What a control service knows: data sets by id, with name and place."""

    def __init__(self):
        self.asked = []
        self.sets = {"uuid-1": {"name": "data", "primary": HERE}}
        self.nodes = [{"uuid": HERE, "host": "10.0.0.1"}, {"uuid": THERE, "host": "10.0.0.2"}]
        self.refuses, self.slow = {}, 0

    def answer(self, method, path, body):
        self.asked.append((method, path, body))
        if (method, path) in self.refuses:
            return self.refuses[method, path], {"description": "no"}
        match method, path.removeprefix("/v1/").split("/"):
            case "GET", ["configuration", "datasets"]:
                return 200, [
                    {"dataset_id": "gone", "deleted": True, "metadata": {"name": "data"}},
                    *(
                        {"dataset_id": key, "deleted": False, "metadata": {"name": one["name"]}}
                        for key, one in self.sets.items()
                    ),
                ]
            case "GET", ["state", "datasets"]:
                return 200, [{"dataset_id": key, "primary": self.place(one)} for key, one in self.sets.items()]
            case "GET", ["state", "nodes"]:
                return 200, self.nodes
            case "POST", ["configuration", "datasets"]:
                if body["dataset_id"] in self.sets:
                    return 409, {"description": "exists"}
                self.sets[body["dataset_id"]] = {"name": "", "primary": body["primary"]}
                return 201, body
            case "POST", ["configuration", "datasets", key]:
                self.sets[key]["wanted"] = body["primary"]
                return 200, {"dataset_id": key}
            case "DELETE", ["configuration", "datasets", key]:
                return (200, {}) if self.sets.pop(key, None) else (404, {"description": "not found"})
        raise KeyError(path)

    def place(self, one):
        if "wanted" in one:
            if not self.slow:
                one["primary"] = one["wanted"]
            self.slow = max(0, self.slow - 1)
        return one["primary"]


class Handler(JsonHandler):
    """Passes what is asked to the service of the test."""

    do_DELETE = JsonHandler.do_GET  # noqa: N815 - http.server's name

    def reply(self, body):
        self.say(*self.server.service.answer(self.command, self.path, json.loads(body) if body else None))


@pytest.fixture(scope="module")
def server():
    with serving(Handler) as server:
        yield server


@pytest.fixture
def service(server):
    server.service = Service()
    return server.service


class Bench:
    """The kind, whose control service is that of the test."""

    def __init__(self, server, answers=None):
        self.programs, self.slept = FakePrograms(answers), []
        self.kind = FlockerVolumes(
            Mounter(self.programs, table=list),
            lambda: StorageApi(f"http://127.0.0.1:{server.server_address[1]}/v1"),
            self.slept.append,
        )


@pytest.fixture
def bench(server, service):
    del service
    return Bench(server)


def request(folder, source=SOURCE, **more):
    asked = VolumeContract().request(folder / "v", {"name": "v", "flocker": source})
    return replace(asked, **{"node": NODE, **more})


class TestContract(VolumeContract, PersistentVolumeContract, ProvisionerContract):
    volume: ClassVar = {"flocker": SOURCE}
    persistent_volume: ClassVar = {"metadata": {"name": "pv"}, "spec": {"flocker": SOURCE}}

    @pytest.fixture(autouse=True)
    def connected(self, server, service):
        del service
        self.server = server

    def kind(self):
        return Bench(self.server).kind

    def provisioner(self, folder):
        del folder
        return self.kind()

    def request(self, folder, volume=None, pod=None):
        return replace(super().request(folder, volume, pod), node=NODE)


@pytest.mark.parametrize(
    ("source", "read_only", "asked", "lines"),
    [
        (SOURCE, False, [*GET, STATE, NODES], ["mount -o bind /flocker/uuid-1 {}"]),
        ({"datasetUUID": "uuid-1"}, False, [STATE, NODES], ["mount -o bind /flocker/uuid-1 {}"]),
        (
            SOURCE,
            True,
            [*GET, STATE, NODES],
            ["mount -o bind /flocker/uuid-1 {}", "mount -o bind,remount,ro /flocker/uuid-1 {}"],
        ),
    ],
    ids=["by name", "by id", "read-only"],
)
def test_a_data_set_that_is_here_is_mounted(tmp_path, bench, service, source, read_only, asked, lines):
    path = bench.kind.setup(request(tmp_path, source, read_only=read_only))

    assert service.asked == asked
    assert bench.programs.ran == [line.format(path) for line in lines]
    assert bench.slept == []


def test_a_data_set_that_is_elsewhere_is_moved_here_first(tmp_path, bench, service):
    service.sets["uuid-1"]["primary"], service.slow = THERE, 2

    bench.kind.setup(request(tmp_path))

    assert service.asked[3:] == [("POST", "/v1/configuration/datasets/uuid-1", {"primary": HERE}), STATE, STATE, STATE]
    assert bench.slept == [5.0, 5.0]
    assert bench.programs.ran == [f"mount -o bind /flocker/uuid-1 {tmp_path}/v"]


def test_a_move_is_waited_for_two_minutes(tmp_path, bench, service):
    service.sets["uuid-1"]["primary"], service.slow = THERE, 1000

    with pytest.raises(VolumeFailed) as raised:
        bench.kind.setup(request(tmp_path))

    text = "Timed out waiting for the datasetUUID: 'uuid-1' to be moved to the primary: 'node-here'"
    assert (str(raised.value), sum(bench.slept), len(bench.slept)) == (text, 120.0, TRIES)
    assert bench.programs.ran == []


@pytest.mark.parametrize(
    ("source", "node", "text"),
    [
        ({"datasetName": "other"}, NODE, "datasetName='other' can not be found using flocker"),
        ({"datasetUUID": "../etc"}, NODE, "State not found by Dataset ID"),
        (SOURCE, {"status": {}}, "this node has no address yet"),
        (
            SOURCE,
            {"status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.9"}]}},
            r"No node found with IP '10.0.0.9', available nodes 10.0.0.1, 10.0.0.2",
        ),
    ],
    ids=["no such name", "no such id", "no address", "no agent"],
)
def test_what_is_not_there_is_told(tmp_path, bench, source, node, text):
    with pytest.raises(VolumeFailed, match=text):
        bench.kind.setup(request(tmp_path, source, node=node))

    assert bench.programs.ran == []


def test_an_id_that_is_a_path_is_refused_even_if_the_service_knows_it(tmp_path, bench, service):
    service.sets["../etc"] = {"name": "x", "primary": HERE}

    with pytest.raises(VolumeFailed, match="must be the id of a data set"):
        bench.kind.setup(request(tmp_path, {"datasetUUID": "../etc"}))


def test_a_move_that_is_refused_is_told(tmp_path, bench, service):
    service.sets["uuid-1"]["primary"] = THERE
    service.refuses["POST", "/v1/configuration/datasets/uuid-1"] = 500

    with pytest.raises(VolumeFailed, match=r"It was impossible to update the dataset: POST .*: 500"):
        bench.kind.setup(request(tmp_path))


def test_a_mount_that_fails_leaves_nothing(tmp_path, server, service):
    del service
    bench = Bench(server, {"mount": Finished(32, "no such folder")})

    with pytest.raises(VolumeFailed, match="no such folder"):
        bench.kind.setup(request(tmp_path))

    assert not (tmp_path / "v").exists()


def claim(**spec):
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1500Mi"}}, **spec}
    return {"metadata": {"name": "c", "namespace": "d"}, "spec": wanted}


def test_a_data_set_is_made_for_a_claim(bench, service):
    service.nodes = service.nodes[:1]
    asked = replace(TestContract().provision_request(), claim=claim())

    made = bench.kind.provision(asked)

    key = made["spec"]["flocker"]["datasetUUID"]
    assert made["spec"] | {"flocker": None} == {
        "capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce"], "flocker": None
    }  # fmt: skip
    assert made["metadata"]["annotations"] == {"kubernetes.io/createdby": "flocker-dynamic-provisioner"}
    metadata = {"type": "k8s-dynamic-prov", "pvc": "c"}
    wanted = {"primary": HERE, "dataset_id": key, "maximum_size": 1500 << 20, "metadata": metadata}
    assert ("POST", "/v1/configuration/datasets", wanted) in service.asked


@pytest.mark.parametrize(
    ("more", "spec", "text"),
    [
        ({"parameters": {"a": "b"}}, {}, "Specified at least one unsupported parameter"),
        ({}, {"selector": {}}, "Specified unsupported selector"),
        ({}, {"volumeMode": "Block"}, "does not support block volume provisioning"),
    ],
    ids=["parameter", "selector", "block"],
)
def test_a_claim_for_what_data_sets_cannot_do_is_refused(bench, service, more, spec, text):
    asked = replace(TestContract().provision_request(), claim=claim(**spec), storage_class=more)

    with pytest.raises(VolumeFailed, match=text):
        bench.kind.provision(asked)

    assert service.asked == []


def test_without_nodes_nothing_is_made(bench, service):
    service.nodes = []

    with pytest.raises(VolumeFailed, match="no nodes found inside the flocker cluster"):
        bench.kind.provision(TestContract().provision_request())


def test_a_volume_is_deleted_by_name_too(bench, service):
    bench.kind.delete({"spec": {"flocker": SOURCE}})
    bench.kind.delete({"spec": {"flocker": SOURCE}})

    assert service.sets == {}
    assert [each for each in service.asked if each[0] == "DELETE"] == [
        ("DELETE", "/v1/configuration/datasets/uuid-1", None)
    ]


def test_the_environment_says_where_the_service_is_and_how_it_is_asked(tmp_path, service):
    now = datetime.now(UTC)
    name = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    authority = issue("ca", authority=True, start=now)
    signed = {
        "server": issue("server", by=authority, server=True, start=now, critical=[name]),
        "user": issue("apiuser", by=authority, start=now),
    }
    (tmp_path / "cluster.crt").write_bytes(authority.pem)
    for file, issued in signed.items():
        (tmp_path / f"{file}.crt").write_bytes(issued.pem)
        key = issued.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        (tmp_path / f"{file}.key").write_bytes(key)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(tmp_path / "cluster.crt"))
    tls.load_cert_chain(tmp_path / "server.crt", tmp_path / "server.key")
    tls.verify_mode = ssl.CERT_REQUIRED
    with serving(Handler) as server:
        server.service = service
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        api = connect({
            "FLOCKER_CONTROL_SERVICE_HOST": "127.0.0.1",
            "FLOCKER_CONTROL_SERVICE_PORT": str(server.server_address[1]),
            "FLOCKER_CONTROL_SERVICE_CA_FILE": str(tmp_path / "cluster.crt"),
            "FLOCKER_CONTROL_SERVICE_CLIENT_KEY_FILE": str(tmp_path / "user.key"),
            "FLOCKER_CONTROL_SERVICE_CLIENT_CERT_FILE": str(tmp_path / "user.crt"),
        })  # fmt: skip

        found = api.objects("/state/nodes")

    assert found == service.nodes


@pytest.mark.parametrize(
    ("environment", "text"),
    [
        ({"FLOCKER_CONTROL_SERVICE_PORT": "http"}, "FLOCKER_CONTROL_SERVICE_PORT 'http' must be a number"),
        ({"FLOCKER_CONTROL_SERVICE_CA_FILE": "/nowhere/ca"}, "cannot use the certificates in /nowhere/ca"),
    ],
    ids=["port", "certificates"],
)
def test_an_environment_that_is_wrong_is_told(environment, text):
    with pytest.raises(VolumeFailed, match=text):
        connect(environment)
