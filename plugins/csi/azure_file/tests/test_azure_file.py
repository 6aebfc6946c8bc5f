"""The driver on shares in memory: what CSI promises, the Secret that mounts a share, and that its key is shown nowhere."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from hyperkube_csi.azure_file import AzureFile
from hyperkube_csi.azure_file.node_service import mount_options
from hyperkube_csi.azure_file.services import AzureFileServices
from hyperkube_lib.csi import CsiFailed
from hyperkube_lib.volume_mount import FakePrograms, Finished, Mounter
from hyperkube_testing.csi import CsiDriverContract

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.cloud import CloudThrottled, FileShare, FileShareNotFound
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.kinds.resources import SECRETS
from hyperkube.machinery.errors import Forbidden, NotFound
from hyperkube.plugin import PluginContext

GI = 1 << 30
KEY = "c2VjcmV0LWtleS1vZi10aGUtYWNjb3VudA=="
SECRET = "azure-storage-account-acc1-secret"
USE = {"access_mode": {"mode": "MULTI_NODE_MULTI_WRITER"}, "mount": {}}
CLAIM = {
    "csi.storage.k8s.io/pvc/namespace": "shop",
    "csi.storage.k8s.io/pvc/name": "c",
    "csi.storage.k8s.io/pv/name": "pvc-1",
}
SECRETS_OF_NODE = {"azurestorageaccountname": "acc1", "azurestorageaccountkey": KEY}


class Shares:
    """Shares in memory, of one account."""

    def __init__(self):
        self.sizes, self.asked, self.fault = {}, [], None

    def create(self, request):
        self.asked.append(request)
        if self.fault:
            raise self.fault
        ident = f"group#acc1#{request.name}#"
        size = self.sizes.setdefault(ident, -(-request.size // GI) * GI)
        return FileShare(id=ident, size=size, credentials=SECRETS_OF_NODE)

    def delete(self, share_id):
        self.sizes.pop(share_id, None)

    def resize(self, share_id, size):
        if share_id not in self.sizes:
            raise FileShareNotFound(share_id)
        self.sizes[share_id] = max(size, self.sizes[share_id])
        return self.sizes[share_id]


def driver_of(client=None, **settings):
    return AzureFile(PluginContext(name="azure-file", client=client, settings=settings))


@pytest.fixture
def client():
    return FakeClient()


@pytest.fixture
def shares():
    return Shares()


@pytest.fixture
def driver(client, shares):
    made = driver_of(client, cloud_provider="azure", hostname_override="n1")
    made.in_azure.shares = lambda: shares
    return made


class TestContract(CsiDriverContract):
    """But for the steps on a node, which take a server of SMB: see below."""

    size = GI

    def test_each_step_on_a_node_may_be_repeated(self):
        pytest.skip("shares in memory cannot be mounted")

    test_it_tells_how_full_a_volume_is = test_each_step_on_a_node_may_be_repeated


def make(driver, name="pvc-1", use=USE, **parameters):
    request = {"name": name, "capacity_range": {"required_bytes": GI}, "volume_capabilities": [use]}
    return driver.in_azure.create_volume({**request, "parameters": {**CLAIM, **parameters}})["volume"]


@pytest.mark.parametrize(
    ("settings", "used"),
    [
        ({}, False),
        ({"cloud_provider": "external"}, False),
        ({"cloud_provider": "aws"}, False),
        ({"cloud_provider": "azure"}, True),
        ({"cloud_provider": "external", "external_cloud_volume_plugin": "azure"}, True),
    ],
    ids=["none", "external", "another", "named", "volume-plugin"],
)
def test_it_is_there_in_azure_alone_and_nodes_need_no_credentials(settings, used):
    driver = driver_of(hostname_override="", **settings)

    assert driver.is_configured() == used
    assert "in_azure" not in vars(driver)


def test_controllers_have_it_if_the_provider_has_shares():
    pytest.importorskip("hyperkube_cloud.azure", reason="is the cloud")
    driver = driver_of(cloud_provider="azure")

    assert driver.is_configured()
    assert isinstance(driver.in_azure, AzureFileServices)
    driver.close()


@pytest.mark.parametrize(
    ("parameters", "namespace"),
    [
        ({}, "shop"),
        ({"secretNamespace": "kube-system"}, "kube-system"),
        ({"csi.storage.k8s.io/pvc/namespace": ""}, "default"),
    ],
    ids=["claim's", "class's", "neither"],
)
def test_the_secret_is_made_once_where_it_is_wanted(driver, client, parameters, namespace):
    for _ in range(2):
        made = make(driver, **parameters)

    (secret,) = client.objects(SECRETS)
    assert (secret["metadata"]["namespace"], secret["metadata"]["name"]) == (namespace, SECRET)
    assert secret["type"] == "Opaque"
    assert {key: base64.b64decode(value).decode() for key, value in secret["data"].items()} == SECRETS_OF_NODE
    assert made == {
        "volume_id": "group#acc1#pvc-1#", "capacity_bytes": GI, "volume_context": {"secretnamespace": namespace}
    }  # fmt: skip


def test_the_provider_gets_what_a_class_says_and_nothing_of_the_claim(driver, shares):
    make(driver, skuName="Premium_LRS", secretNamespace="x", secretName=SECRET)

    assert shares.asked[0].parameters == {"skuname": "Premium_LRS", "storageaccount": "acc1"}


@pytest.mark.parametrize("parameters", [{"secretName": "mine"}, {"secretName": SECRET, "storageAccount": "acc2"}])
def test_a_secret_by_whose_name_no_share_is_found_again_is_refused(driver, shares, parameters):
    with pytest.raises(CsiFailed, match="by which volumes are deleted") as raised:
        make(driver, **parameters)

    assert raised.value.code == "INVALID_ARGUMENT"
    assert shares.asked == []


@pytest.mark.parametrize(
    ("why", "namespace", "code"),
    [(Forbidden("no"), "", "UNAVAILABLE"), (NotFound("x"), "elsewhere", "UNAVAILABLE"), (NotFound("x"), "", None)],
    ids=["forbidden", "no-such-namespace", "gone-with-its-claim"],
)
def test_without_a_secret_a_share_is_gone_on_with(driver, client, why, namespace, code, monkeypatch):
    def refuse(*_args, **_more):
        raise why

    monkeypatch.setattr(client, "create", refuse)

    if code is None:  # the volume is made, released and deleted: nothing leaks
        assert make(driver)["volume_id"]
        return
    with pytest.raises(CsiFailed) as raised:
        make(driver, secretNamespace=namespace)
    assert raised.value.code == code
    assert not raised.value.is_final
    assert KEY not in f"{raised.value!r}{raised.value}"


def test_a_device_and_a_copy_are_refused(driver):
    with pytest.raises(CsiFailed, match="no block device"):
        make(driver, use={"access_mode": USE["access_mode"], "block": {}})
    with pytest.raises(CsiFailed, match="made empty"):
        driver.in_azure.create_volume(
            {"name": "n", "volume_capabilities": [USE], "volume_content_source": {"volume": {}}}
        )
    assert "message" in driver.in_azure.validate_volume_capabilities({"volume_capabilities": [{"block": {}}]})


def test_a_cloud_that_throttles_is_asked_again(driver, shares):
    shares.fault = CloudThrottled("slowly")

    with pytest.raises(CsiFailed) as raised:
        make(driver)

    assert raised.value.code == "UNAVAILABLE"


# on a node


class Programs(FakePrograms):
    """Programs that read the file with credentials that they are given."""

    read = ""

    def run(self, arguments, given=""):
        for option in ",".join(arguments).split(","):
            if option.startswith("credentials="):
                self.file = Path(option.partition("=")[2])
                self.read = self.file.read_text()
        return super().run(arguments, given)


def staged(driver, folder, programs, **more):
    driver.in_azure.mounter = Mounter(programs, table=list)
    request = {
        "volume_id": "#acc1#books#", "staging_target_path": str(folder / "staging"), "volume_capability": USE,
        "volume_context": {"sharename": "books"}, "secrets": SECRETS_OF_NODE,
    }  # fmt: skip
    driver.in_azure.node_stage_volume({**request, **more})


def test_a_share_is_mounted_and_its_key_is_on_no_command_line(driver, tmp_path):
    programs = Programs()

    staged(driver, tmp_path, programs)

    (line,) = programs.ran
    command = line.split(" ")
    assert command[:4] == ["mount", "-t", "cifs", "-o"]
    assert command[4].startswith("file_mode=0777,dir_mode=0777,vers=3.0,actimeo=30,mfsymlinks,credentials=")
    assert command[5:] == ["//acc1.file.core.windows.net/books", str(tmp_path / "staging")]
    assert KEY not in line
    assert programs.read == f"username=acc1\npassword={KEY}\n"
    assert not programs.file.exists()


def test_a_mount_that_fails_shows_no_key_and_leaves_no_file(driver, tmp_path):
    programs = Programs({"mount": Finished(32, "mount error(13): Permission denied")})

    with pytest.raises(VolumeFailed, match="Permission denied") as raised:
        staged(driver, tmp_path, programs)

    assert KEY not in str(raised.value)
    assert "credentials" not in str(raised.value)
    assert not programs.file.exists()


def test_the_share_and_the_server_of_a_volume(driver, tmp_path):
    programs = Programs()

    suffix = {"azurestorageendpointsuffix": "core.chinacloudapi.cn"}
    staged(driver, tmp_path, programs, volume_context={}, secrets={**SECRETS_OF_NODE, **suffix})

    assert programs.ran[0].split(" ")[5] == "//acc1.file.core.chinacloudapi.cn/books"


@pytest.mark.parametrize(
    "more",
    [
        {"secrets": {}},
        {"secrets": {**SECRETS_OF_NODE, "azurestorageaccountname": "evil.example/x"}},
        {"secrets": {**SECRETS_OF_NODE, "azurestorageaccountkey": f"{KEY}\ndomain=x"}},
        {"secrets": {**SECRETS_OF_NODE, "azurestorageendpointsuffix": "x/y"}},
        {"volume_context": {"sharename": "../../etc"}},
        {"volume_id": "no", "volume_context": {}},
        {"volume_capability": {"block": {}}},
    ],
    ids=["no-secret", "account", "key", "suffix", "share", "no-share", "device"],
)
def test_what_cannot_be_mounted_is_refused_without_its_key(driver, tmp_path, more):
    programs = Programs()

    with pytest.raises(CsiFailed) as raised:
        staged(driver, tmp_path, programs, **more)

    assert raised.value.code == "INVALID_ARGUMENT"
    assert KEY not in str(raised.value)
    assert programs.ran == []


def test_options_that_a_volume_chooses_are_left_alone():
    assert mount_options(["vers=3.1.1", "gid=7", "mfsymlinks"], "9", read_only=True) == [
        "vers=3.1.1", "gid=7", "mfsymlinks", "file_mode=0777", "dir_mode=0777", "actimeo=30", "ro"
    ]  # fmt: skip
    assert "gid=9" in mount_options([], "9", read_only=False)


def test_a_pod_sees_what_is_staged_only(driver, tmp_path):
    driver.in_azure.mounter = Mounter(Programs(), table=list)
    request = {"volume_id": "#acc1#books#", "target_path": str(tmp_path / "t"), "staging_target_path": str(tmp_path)}

    with pytest.raises(CsiFailed, match="is not staged on this node"):
        driver.in_azure.node_publish_volume(request)
    driver.in_azure.node_unstage_volume(request)
    driver.in_azure.node_unpublish_volume(request)
    assert driver.in_azure.node_get_info({}) == {"node_id": "n1"}
