"""emptyDir volumes."""

from pathlib import Path
from typing import ClassVar

from hyperkube_testing.node_contracts.volume import VolumeContract
from hyperkube_volume.empty_dir import EmptyFolders


class TestContract(VolumeContract):
    volume: ClassVar = {"emptyDir": {}}

    def kind(self):
        return EmptyFolders()


def test_content_stays_while_the_pod_lives(tmp_path):
    kind, request = EmptyFolders(), TestContract().request(tmp_path / "v")
    Path(kind.setup(request), "file").write_text("kept")

    assert Path(kind.setup(request), "file").read_text() == "kept"


def test_medium_memory_lies_in_memory_and_is_removed(tmp_path):
    memory = tmp_path / "shm"
    memory.mkdir()
    kind = EmptyFolders(memory)
    request = TestContract().request(tmp_path / "v", {"name": "v", "emptyDir": {"medium": "Memory"}})

    path = Path(kind.setup(request))
    again = Path(kind.setup(request))
    kind.teardown(TestContract().mounted(tmp_path / "v"))

    assert path == again
    assert path.parent == memory
    assert not path.exists()
