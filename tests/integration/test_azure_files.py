"""Volumes of Azure Files from claim to mount and back, over Azure as a double plays it: nothing twice, nothing left, no key.

The class is that of the kind that was in the tree; the csi-provisioner and csi-resizer call the driver in their process.
"""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from pathlib import Path

import pytest
from hyperkube_controller.csi_provisioner import CsiProvisioner
from hyperkube_controller.csi_resizer import CsiResizer
from hyperkube_csi.azure_file import AzureFile
from hyperkube_lib.csi_translation import translated_volume
from hyperkube_lib.volume_mount import FakePrograms, Mounter
from hyperkube_testing.beside import module_at
from hyperkube_testing.cloud_faults import Fault, Killed
from hyperkube_testing.cluster.cluster import ControlPlane

from hyperkube.kinds.resources import EVENTS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, SECRETS, STORAGE_CLASSES
from hyperkube.machinery.errors import ServiceUnavailable
from hyperkube.testing.controller_rig import ControllerRig
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_cloud.azure")

TESTS = Path(__file__).parents[2] / "cloudproviders/azure/tests"
microsoft = module_at(TESTS / "microsoft.py")
storage = module_at(TESTS / "microsoft_storage.py")
GROUP = "kubernetes.io/azure-file-resource-group"
CLAIM = {
    "kind": "PersistentVolumeClaim", "apiVersion": "v1",
    "metadata": {
        "name": "books", "namespace": "shop", "uid": "u",
        "annotations": {"volume.kubernetes.io/storage-provisioner": "file.csi.azure.com"},
    },
    "spec": {
        "storageClassName": "files", "accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "2Gi"}},
    },
    "status": {"phase": "Pending"},
}  # fmt: skip


class World(ControllerRig):
    """A claim, its class, and what makes and grows volumes."""

    def __init__(self, double, folder, earlier=None, provisioner="kubernetes.io/azure-file", **parameters):
        shares = microsoft.provider(microsoft.built(double, folder)).file_shares

        def own(plugin):
            self.driver = AzureFile(plugin.context)
            self.driver.in_azure.shares = lambda: shares
            return {"file.csi.azure.com": self.driver}

        kinds = [type(each.__name__, (each,), {"own_drivers": own}) for each in (CsiProvisioner, CsiResizer)]
        super().__init__(*kinds)
        if earlier is not None:
            self.client.inherit(earlier.client)
            return
        storage_class = {"kind": "StorageClass", "metadata": {"name": "files"}, "provisioner": provisioner}
        self.client.seed(STORAGE_CLASSES, {**storage_class, "parameters": parameters, "allowVolumeExpansion": True})
        self.client.seed(PERSISTENT_VOLUME_CLAIMS, CLAIM)

    def go_on(self):
        """Let time pass until what failed has been tried again."""
        for _ in range(4):
            self.settle()
            self.clock.advance(120)
        self.settle()

    def volume(self):
        (found,) = self.client.objects(PERSISTENT_VOLUMES)
        return found

    def bind(self):
        """Do as the binder."""
        volume = self.volume()
        self.client.patch(PERSISTENT_VOLUMES, "pvc-u", {"spec": {"claimRef": {"uid": "u"}}})
        self.client.update(PERSISTENT_VOLUMES, {**self.volume(), "status": {"phase": "Bound"}}, subresource="status")
        held = {"phase": "Bound", "capacity": volume["spec"]["capacity"]}
        self.client.patch(PERSISTENT_VOLUME_CLAIMS, "books", {"spec": {"volumeName": "pvc-u"}}, "shop")
        bound = {**self.client.get(PERSISTENT_VOLUME_CLAIMS, "books", "shop"), "status": held}
        self.client.update(PERSISTENT_VOLUME_CLAIMS, bound, "shop", subresource="status")

    def release(self):
        """Do as the binder when the claim is gone."""
        self.client.delete(PERSISTENT_VOLUME_CLAIMS, "books", "shop")
        released = {**self.volume(), "status": {"phase": "Released"}}
        self.client.update(PERSISTENT_VOLUMES, released, subresource="status")

    def told(self):
        """Return all that anybody may read."""
        self.plugins[0].recorder.flush()
        return json.dumps(
            [self.client.objects(kind) for kind in (EVENTS, PERSISTENT_VOLUMES, PERSISTENT_VOLUME_CLAIMS)]
        )


@pytest.fixture
def double():
    made = storage.MicrosoftStorage()
    made.account("mine", group="data")
    return made


@pytest.mark.parametrize(
    ("parameters", "group"),
    [({"skuName": "Standard_LRS"}, "shop"), ({"resourceGroup": "data", "storageAccount": "mine"}, "data")],
    ids=["made", "named"],
)
def test_a_claim_gets_a_share_that_grows_is_mounted_and_goes_with_it(double, tmp_path, caplog, parameters, group):
    caplog.set_level(logging.DEBUG)
    world = World(double, tmp_path, **parameters)
    world.settle()

    volume, (secret,), (share,) = world.volume(), world.client.objects(SECRETS), double.shares.values()
    account = share["id"].split("/")[8]
    assert volume["spec"]["azureFile"] == {
        "shareName": "pvc-u", "secretName": f"azure-storage-account-{account}-secret", "secretNamespace": "shop"
    }  # fmt: skip
    assert volume["metadata"]["annotations"][GROUP] == group
    assert volume["spec"]["capacity"] == {"storage": "2Gi"}
    assert (secret["metadata"]["namespace"], secret["metadata"]["name"]) == (
        "shop",
        volume["spec"]["azureFile"]["secretName"],
    )

    programs, csi = FakePrograms(), translated_volume(volume)["spec"]["csi"]
    world.driver.in_azure.mounter = Mounter(programs, table=list)
    assert csi["nodeStageSecretRef"] == {"name": secret["metadata"]["name"], "namespace": "shop"}
    world.driver.in_azure.node_stage_volume({
        "volume_id": csi["volumeHandle"], "volume_context": csi["volumeAttributes"], "volume_capability": {"mount": {}},
        "secrets": {"azurestorageaccountname": account, "azurestorageaccountkey": storage.KEY},
        "staging_target_path": str(tmp_path / "staging"),
    })  # fmt: skip
    assert f"//{account}.file.core.windows.net/pvc-u" in programs.ran[0]

    world.bind()
    world.settle()
    asked = {"spec": {"resources": {"requests": {"storage": "5Gi"}}}}
    world.client.patch(PERSISTENT_VOLUME_CLAIMS, "books", asked, "shop")
    world.settle()
    assert next(iter(double.shares.values()))["properties"]["shareQuota"] == 5
    assert world.volume()["spec"]["capacity"] == {"storage": "5Gi"}

    told = world.told()
    world.release()
    world.settle()
    assert world.client.objects(PERSISTENT_VOLUMES) == []
    assert double.shares == {}
    assert storage.KEY not in told + world.told() + caplog.text + " ".join(programs.ran)


@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.name)
def test_whatever_happens_at_a_call_a_claim_has_one_share(double, tmp_path, fault):
    at, met = 0, True
    while met:
        at += 1
        double.accounts.clear()
        double.shares.clear()
        world = World(double, tmp_path)
        with double.faulty(fault, at), suppress(Exception):
            world.settle()
        met = double.met
        if fault is Fault.KILL:
            world = World(double, tmp_path, earlier=world)
        world.go_on()

        assert world.volume()["metadata"]["name"] == "pvc-u"
        assert [len(each) for each in (double.accounts, double.shares, world.client.objects(SECRETS))] == [1, 1, 1]
        assert storage.KEY not in world.told()
    assert at == 3


@pytest.mark.parametrize("resource", ["secrets", "persistentvolumes"])
@pytest.mark.parametrize("is_killed", [False, True], ids=["refused", "killed"])
def test_whatever_happens_after_a_share_was_made_its_claim_gets_that_one(double, tmp_path, resource, is_killed):
    world = World(double, tmp_path)
    world.client.fail_next("create", resource, Killed() if is_killed else ServiceUnavailable("not now"))
    with suppress(Killed):
        world.settle()
    before = set(double.shares)
    assert len(before) == 1
    if is_killed:
        world = World(double, tmp_path, earlier=world)
    world.go_on()

    assert world.volume()["spec"]["azureFile"]["shareName"] == "pvc-u"
    assert set(double.shares) == before
    assert len(world.client.objects(SECRETS)) == 1


def test_a_claim_of_another_protocol_is_told_so(double, tmp_path):
    world = World(double, tmp_path, protocol="nfs")
    world.settle()

    assert "protocol 'nfs' is not supported: shares are mounted by 'smb'" in world.told()
    assert double.shares == {}


def test_a_class_of_the_drivers_name_says_which_secret_nodes_get(double, tmp_path):
    double.account("mine")
    secret = {"name": "azure-storage-account-mine-secret", "namespace": "${pvc.namespace}"}
    reference = {f"csi.storage.k8s.io/node-stage-secret-{part}": value for part, value in secret.items()}
    world = World(double, tmp_path, provisioner="file.csi.azure.com", storageAccount="mine", **reference)
    world.settle()

    csi = world.volume()["spec"]["csi"]
    assert csi["volumeHandle"] == "shop#mine#pvc-u#"
    assert csi["nodeStageSecretRef"] == {"name": "azure-storage-account-mine-secret", "namespace": "shop"}
    assert world.client.get(SECRETS, "azure-storage-account-mine-secret", "shop")


def test_a_cluster_makes_binds_grows_and_deletes_them_with_the_rights_of_its_controllers(double, tmp_path, monkeypatch):
    azure = pytest.importorskip("hyperkube_cloud.azure").Azure
    monkeypatch.setattr(azure, "ways", lambda _self, _config: (double, microsoft.metadata()))
    config = tmp_path / "azure.json"
    config.write_text(json.dumps({"subscriptionId": "sub", "resourceGroup": "shop", "location": "westeurope"}))
    flags = {
        "cloud-provider": "external", "external-cloud-volume-plugin": "azure", "cloud-config": str(config),
        "use-service-account-credentials": True,
    }  # fmt: skip
    storage_class = {
        "metadata": {"name": "files"},
        "provisioner": "kubernetes.io/azure-file",
        "allowVolumeExpansion": True,
    }
    claim = {"metadata": {"name": "books"}, "spec": CLAIM["spec"]}
    with ControlPlane(controller_manager=flags, scheduler=None) as cluster:
        client = cluster.client
        client.create(STORAGE_CLASSES, {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", **storage_class})
        client.create(
            PERSISTENT_VOLUME_CLAIMS, {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **claim}, "default"
        )

        def held():
            return client.get(PERSISTENT_VOLUME_CLAIMS, "books", "default")

        eventually(lambda: held()["status"]["phase"] == "Bound", 30)
        volume = client.get(PERSISTENT_VOLUMES, held()["spec"]["volumeName"])
        assert client.get(SECRETS, volume["spec"]["azureFile"]["secretName"], "default")["type"] == "Opaque"

        more = {"spec": {"resources": {"requests": {"storage": "5Gi"}}}}
        client.patch(PERSISTENT_VOLUME_CLAIMS, "books", more, "default")
        eventually(lambda: held()["status"]["capacity"] == {"storage": "5Gi"}, 30)
        assert [each["properties"]["shareQuota"] for each in double.shares.values()] == [5]

        client.delete(PERSISTENT_VOLUME_CLAIMS, "books", "default")
        eventually(lambda: client.list(PERSISTENT_VOLUMES).items == [], 30)
        assert double.shares == {}
        assert storage.KEY not in json.dumps(client.list(EVENTS).items)
