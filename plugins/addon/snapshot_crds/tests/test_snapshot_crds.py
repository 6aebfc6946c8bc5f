"""The custom resources of snapshots."""

from hyperkube_addon.snapshot_crds import SnapshotCrds

from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.addon import AddonContract


class TestContract(AddonContract):
    def build(self):
        return SnapshotCrds(PluginContext(name="snapshot-crds"))


def test_the_kinds_have_upstreams_names():
    made = TestContract().build().addon_objects()
    names = {each["metadata"]["name"]: each["spec"]["names"]["shortNames"] for each in made}

    assert names == {
        "volumesnapshotclasses.snapshot.storage.k8s.io": ["vsclass", "vsclasses"],
        "volumesnapshotcontents.snapshot.storage.k8s.io": ["vsc", "vscs"],
        "volumesnapshots.snapshot.storage.k8s.io": ["vs"],
    }
    assert {each["spec"]["scope"] for each in made} == {"Cluster", "Namespaced"}
