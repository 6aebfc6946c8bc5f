"""Which kind of volume a controller has to do with."""

from hyperkube_lib.volume_kinds import VolumeKinds, spec_of_persistent_volume

from hyperkube.hookspecs.volume import VolumeSpec
from hyperkube.plugin import PluginContext


class Disks:
    """Attaches every other disk."""

    def supports(self, volume):
        return "disk" in volume

    def can_attach(self, spec):
        return spec.volume["disk"] != "local"

    def volume_name(self, spec):
        return spec.volume["disk"]

    def attach(self, spec, node): ...

    def volumes_are_attached(self, specs, node): ...

    def wait_for_attach(self, spec, device, pod, node): ...

    def detach(self, volume_name, node_name): ...


def kinds():
    found = VolumeKinds(PluginContext(name="test"))
    found._kinds = [("example.com/disk", Disks())]
    return found


def test_most_volumes_load_no_plugin():
    found = VolumeKinds(PluginContext(name="test"))

    assert found.find(VolumeSpec(volume={"name": "v", "emptyDir": {}})) is None
    assert found._kinds is None


def test_a_volume_that_is_attached_has_a_unique_name():
    volume = {"metadata": {"name": "pv"}, "spec": {"disk": "d1"}}

    name, kind = kinds().attachable(spec_of_persistent_volume(volume))

    assert name == "example.com/disk/d1"
    assert kinds().by_unique_name(name)[0] == kind.volume_name(spec_of_persistent_volume(volume)) == "d1"
    assert kinds().attachable(VolumeSpec(volume={"name": "v", "disk": "local"})) is None
    assert kinds().attachable(VolumeSpec(volume={"name": "v", "tape": {}})) is None
    assert kinds().by_unique_name("example.com/tape/1") is None
