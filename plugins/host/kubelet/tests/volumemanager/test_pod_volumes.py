"""Entries of pods and the kinds that handle them."""

import pytest
from hyperkube_host.kubelet.volumemanager.pod_volumes import PodVolumes

from hyperkube.hookspecs.volume import VolumeFailed

POD = {"metadata": {"name": "p", "namespace": "shop", "uid": "u"}, "spec": {}}
DISK = {"name": "v", "awsElasticBlockStore": {"volumeID": "aws://z/vol-1", "readOnly": True, "fsType": "ext4"}}


class Kind:
    """Handles one source."""

    def __init__(self, source):
        self.source = source

    def supports(self, volume):
        return self.source in volume


def volumes(*sources):
    return PodVolumes([(source, Kind(source)) for source in sources], None)


def test_a_kind_that_a_driver_took_over_is_the_drivers():
    found = volumes("hostPath", "csi").resolve(POD, DISK)

    assert (found.name, found.plugin_name, found.spec.name) == ("v", "csi", "ebs.csi.aws.com-vol-1")
    assert found.spec.volume["csi"] == {
        "driver": "ebs.csi.aws.com", "volumeHandle": "vol-1", "readOnly": True, "fsType": "ext4",
        "volumeAttributes": {"partition": "0"},
    }  # fmt: skip
    assert found.spec.read_only


def test_a_kind_that_is_installed_handles_its_own():
    assert volumes("csi", "awsElasticBlockStore").resolve(POD, DISK).plugin_name == "awsElasticBlockStore"


def test_what_no_kind_handles_is_refused_with_those_that_there_are():
    with pytest.raises(VolumeFailed, match=r"no volume plugin handles 'quobyte' \(installed: hostPath, csi\)"):
        volumes("hostPath", "csi").resolve(POD, {"name": "v", "quobyte": {}})
