"""What a machine of OpenStack's learns of itself: from its config drive, else from the metadata service."""

import json
from pathlib import Path

import pytest
from hyperkube_cloud.openstack.metadata import FILE, URL, Metadata
from hyperkube_lib.volume_mount.programs import FakePrograms, Finished
from hyperkube_testing.rest_cloud import answer

from hyperkube.hookspecs.cloud import CloudUnavailable

TOLD = {"uuid": "u-1", "name": "node-1", "availability_zone": "nova zone"}
BOTH = ("configDrive", "metadataService")


class Service:
    """The metadata service."""

    def __init__(self, *told):
        self.told, self.asked = told or (200, TOLD), []

    def __call__(self, request):
        self.asked.append(request.url)
        return answer(*self.told)


class Drive(FakePrograms):
    """A machine whose config drive is mounted as one kind of filesystem."""

    def __init__(self, kind, content):
        super().__init__()
        self.kind, self.content = kind, content

    def run(self, arguments, given=""):
        super().run(arguments, given)
        if arguments[0] == "mount":
            if arguments[2] != self.kind:
                return Finished(32, "wrong fs type")
            file = Path(arguments[-1]) / FILE
            file.parent.mkdir(parents=True)
            file.write_text(self.content)
        return Finished(0, "/dev/sr0\n" if arguments[0] == "blkid" else "")


@pytest.fixture
def no_labels(tmp_path):
    return tmp_path / "by-label"


@pytest.mark.parametrize("kind", ["iso9660", "vfat"])
def test_the_drive_is_read_first_and_unmounted(kind, no_labels):
    service, programs = Service(), Drive(kind, json.dumps(TOLD))
    metadata = Metadata(service, BOTH, programs, no_labels)

    assert (metadata.name, metadata.zone) == ("node-1", "nova zone")
    assert service.asked == []
    mounts = [line for line in programs.ran if line.startswith("mount ")]
    assert mounts[-1].startswith(f"mount -t {kind} -o ro /dev/sr0 ")
    assert programs.ran[-1] == f"umount {mounts[-1].split()[-1]}"


def test_a_drive_is_found_by_its_label_without_a_search(tmp_path):
    (tmp_path / "config-2").touch()
    programs = Drive("iso9660", json.dumps(TOLD))

    assert Metadata(Service(), BOTH, programs, tmp_path).name == "node-1"
    assert programs.ran[0].startswith(f"mount -t iso9660 -o ro {tmp_path / 'config-2'} ")


@pytest.mark.parametrize(
    "programs",
    [FakePrograms(), FakePrograms({"blkid": Finished(0, "/dev/sr0"), "mount": Finished(32)}), Drive("vfat", "{}")],
    ids=["no drive", "not mounted", "without an id"],
)
def test_without_a_drive_that_tells_the_service_is_asked_once(programs, no_labels):
    service = Service()
    metadata = Metadata(service, BOTH, programs, no_labels)

    assert (metadata.name, metadata.zone) == ("node-1", "nova zone")
    assert service.asked == [URL]


@pytest.mark.parametrize("told", [(404, b""), (200, b"<html>"), (200, {"name": "node-1"})], ids=str)
def test_what_is_no_machine_of_openstacks_is_said_so(told, no_labels):
    with pytest.raises(CloudUnavailable, match=r"no metadata of this machine: configDrive: .*; metadataService: "):
        _ = Metadata(Service(*told), BOTH, FakePrograms(), no_labels).name


def test_the_file_may_name_the_service_alone(no_labels):
    programs = FakePrograms()

    assert Metadata(Service(), ("metadataService",), programs, no_labels).name == "node-1"
    assert programs.ran == []


def test_a_kubelet_learns_its_name_and_zone(cloud, no_labels):
    cloud.instances._metadata = Metadata(Service(), BOTH, FakePrograms(), no_labels)

    assert cloud.instances.current_node_name("my-host") == "node-1"
    assert cloud.instances.current_zone() == ("nova-zone", "RegionOne")
