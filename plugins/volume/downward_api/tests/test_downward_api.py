"""downwardAPI volumes."""

from pathlib import Path
from typing import ClassVar

import pytest
from hyperkube_testing.node_contracts.volume import VolumeContract
from hyperkube_volume.downward_api import DownwardFolders

from hyperkube.hookspecs.volume import VolumeFailed

ITEMS = [
    {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}},
    {"path": "cpu", "resourceFieldRef": {"containerName": "c", "resource": "limits.cpu"}},
    {"path": "memory", "resourceFieldRef": {"containerName": "c", "resource": "limits.memory", "divisor": "1Mi"}},
]


class TestContract(VolumeContract):
    volume: ClassVar = {"downwardAPI": {"items": ITEMS}}

    def kind(self):
        return DownwardFolders()


def test_fields_and_resources_become_files(tmp_path):
    path = Path(DownwardFolders().setup(TestContract().request(tmp_path / "v")))

    assert {name: (path / name).read_text() for name in ("labels", "cpu", "memory")} == {
        "labels": 'app="web"', "cpu": "2", "memory": "1024",
    }  # fmt: skip


def test_an_unknown_field_is_told(tmp_path):
    volume: ClassVar = {
        "name": "v",
        "downwardAPI": {"items": [{"path": "x", "fieldRef": {"fieldPath": "spec.nosuch"}}]},
    }

    with pytest.raises(VolumeFailed, match=r"unsupported fieldPath: spec\.nosuch"):
        DownwardFolders().setup(TestContract().request(tmp_path / "v", volume))
