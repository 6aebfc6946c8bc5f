"""The storage class of a local cluster."""

from hyperkube_addon.local_path_storage_class import LocalPathStorageClass

from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.addon import AddonContract


class TestContract(AddonContract):
    def build(self):
        return LocalPathStorageClass(PluginContext(name="local-path-storage-class"))


def test_it_is_the_default_class():
    (made,) = TestContract().build().addon_objects()

    assert made["provisioner"] == "hyperkube.dev/local-path"
    assert made["metadata"]["annotations"] == {"storageclass.kubernetes.io/is-default-class": "true"}
