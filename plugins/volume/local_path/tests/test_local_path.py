"""local volumes, and the provisioner of folders."""

from typing import ClassVar

import pytest
from hyperkube_testing.node_contracts.volume import PersistentVolumeContract, ProvisionerContract, VolumeContract
from hyperkube_volume.local_path import LocalFolders, LocalPath

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.hookspecs.volume_storage import Provisionable, ProvisionRequest
from hyperkube.plugin import PluginContext


def claim(**spec):
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    return {"metadata": {"name": "c", "namespace": "d", "uid": "u1"}, "spec": wanted}


def asked(claim, node=""):
    return ProvisionRequest(name="pvc-u1", claim=claim, storage_class={}, node_name=node)


class TestContract(VolumeContract, PersistentVolumeContract):
    volume: ClassVar = {"local": {"path": "/"}}
    persistent_volume: ClassVar = {"metadata": {"name": "pv"}, "spec": {"local": {"path": "/"}}}

    def kind(self):
        return LocalFolders()


class TestProvisionerContract(ProvisionerContract):
    def provisioner(self, folder):
        return LocalFolders(folder)


def test_a_missing_folder_is_told(tmp_path):
    request = TestContract().request(tmp_path / "v", {"name": "v", "local": {"path": "/no/such"}})

    with pytest.raises(VolumeFailed, match='path "/no/such" does not exist'):
        LocalFolders().setup(request)


def test_a_folder_is_made_and_removed(tmp_path):
    kind = LocalPath(PluginContext(name="l", settings={"local_path_dir": str(tmp_path)})).volume_kinds()
    assert isinstance(kind, Provisionable)

    volume = kind.provision(asked(claim()))
    again = kind.provision(asked(claim()))
    made = (tmp_path / "pvc-u1").is_dir()
    kind.delete({**volume, "metadata": {"name": "pvc-u1"}})
    kind.delete({**volume, "metadata": {"name": "pvc-u1"}})

    assert made
    assert volume == again
    assert volume["spec"]["capacity"] == {"storage": "1Gi"}
    assert not (tmp_path / "pvc-u1").exists()


def test_a_chosen_node_is_where_it_is(tmp_path):
    made = LocalFolders(tmp_path).provision(asked(claim(), node="n"))

    (term,) = made["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]

    assert term["matchExpressions"] == [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["n"]}]


@pytest.mark.parametrize("path", ["elsewhere", "made/other", "made/pvc-u1/.."])
def test_other_folders_are_never_removed(tmp_path, path):
    target = tmp_path / path
    (tmp_path / "made" / "pvc-u1").mkdir(parents=True)
    target.mkdir(parents=True, exist_ok=True)
    volume = {"metadata": {"name": "pvc-u1"}, "spec": {"local": {"path": str(target)}}}

    with pytest.raises(VolumeFailed, match="was not made by this provisioner"):
        LocalFolders(tmp_path / "made").delete(volume)

    assert target.exists()


def test_what_cannot_be_provisioned(tmp_path):
    with pytest.raises(VolumeFailed, match="block device"):
        LocalFolders(tmp_path).provision(asked(claim(volumeMode="Block")))
    with pytest.raises(VolumeFailed, match="--local-path-dir"):
        LocalFolders().provision(asked(claim()))
