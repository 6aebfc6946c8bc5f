"""hostPath volumes."""

from typing import ClassVar

import pytest
from hyperkube_testing.node_contracts.volume import VolumeContract
from hyperkube_volume.host_path import HostPaths

from hyperkube.hookspecs.volume import VolumeFailed


class TestContract(VolumeContract):
    volume: ClassVar = {"hostPath": {"path": "/"}}

    def kind(self):
        return HostPaths()


def setup(tmp_path, **source):
    return HostPaths().setup(TestContract().request(tmp_path / "v", {"name": "v", "hostPath": source}))


@pytest.mark.parametrize("kind", ["DirectoryOrCreate", "FileOrCreate"])
def test_it_is_made_when_its_type_says_so(tmp_path, kind):
    path = tmp_path / "new"

    assert setup(tmp_path, path=str(path), type=kind) == str(path)
    assert path.is_dir() == (kind == "DirectoryOrCreate")


@pytest.mark.parametrize("kind", ["Directory", "Socket", "CharDevice", "BlockDevice"])
def test_it_must_be_of_its_type(tmp_path, kind):
    path = tmp_path / "file"
    path.touch()

    with pytest.raises(VolumeFailed, match="hostPath type check failed"):
        setup(tmp_path, path=str(path), type=kind)


def test_without_a_type_nothing_is_looked_at(tmp_path):
    path = str(tmp_path / "nosuch")

    assert setup(tmp_path, path=path) == path


@pytest.mark.parametrize(("kind", "word"), [("DirectoryOrCreate", "directory"), ("Socket", "socket file")])
def test_what_is_there_already_must_be_of_its_type(tmp_path, kind, word):
    with pytest.raises(VolumeFailed, match=f"/dev/null is not a {word}"):
        setup(tmp_path, path="/dev/null", type=kind)
