"""configMap volumes."""

from pathlib import Path
from typing import ClassVar

import pytest
from hyperkube_testing.node_contracts.volume import VolumeContract
from hyperkube_volume.config_map import ConfigMapFolders

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.errors import NotFound


class TestContract(VolumeContract):
    volume: ClassVar = {"configMap": {"name": "cm"}}
    config_maps: ClassVar = {"cm": {"data": {"a": "1", "b": "2"}, "binaryData": {"c": "AAE="}}}

    def kind(self):
        return ConfigMapFolders()


def setup(tmp_path, **source):
    return Path(ConfigMapFolders().setup(TestContract().request(tmp_path / "v", {"name": "v", "configMap": source})))


def test_each_key_is_a_file(tmp_path):
    path = setup(tmp_path, name="cm")

    assert {file.name: file.read_bytes() for file in path.iterdir() if not file.name.startswith("..")} == {
        "a": b"1", "b": b"2", "c": b"\x00\x01",
    }  # fmt: skip


def test_items_choose_keys_paths_and_modes(tmp_path):
    path = setup(tmp_path, name="cm", items=[{"key": "a", "path": "deep/one", "mode": 0o400}])

    assert (path / "deep/one").read_text() == "1"
    assert (path / "deep/one").stat().st_mode & 0o777 == 0o400
    assert not (path / "b").exists()


def test_a_missing_map_is_not_found(tmp_path):
    with pytest.raises(NotFound, match='configmaps "nosuch" not found'):
        setup(tmp_path, name="nosuch")


def test_a_missing_optional_map_is_an_empty_folder(tmp_path):
    path = setup(tmp_path, name="nosuch", optional=True)

    assert [entry.name for entry in path.iterdir() if not entry.name.startswith("..")] == []


def test_a_missing_key_is_told(tmp_path):
    with pytest.raises(VolumeFailed, match="references non-existent config key: z"):
        setup(tmp_path, name="cm", items=[{"key": "z", "path": "z"}])
