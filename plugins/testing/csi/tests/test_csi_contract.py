"""The contract, held by the driver in memory, and not by one that forgets what it has."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from hyperkube_lib.csi import refused
from hyperkube_lib.csi.memory_driver import MemoryDriver
from hyperkube_testing.csi import CsiDriverContract

CONTROLLER = (
    *("CREATE_DELETE_VOLUME", "PUBLISH_UNPUBLISH_VOLUME", "EXPAND_VOLUME", "LIST_VOLUMES", "GET_CAPACITY"),
    *("CREATE_DELETE_SNAPSHOT", "CLONE_VOLUME", "MODIFY_VOLUME"),
)
SERVICES = ("CONTROLLER_SERVICE", "VOLUME_ACCESSIBILITY_CONSTRAINTS")
TESTS = [name for name in dir(CsiDriverContract) if name.startswith("test_")]


class Filing(MemoryDriver):
    """A driver in memory whose volumes are folders, which pods find by links."""

    def __init__(self, folder, services=SERVICES):
        super().__init__(controller=CONTROLLER, services=services)
        self.folder = folder

    def node_publish_volume(self, request):
        self.known(request)
        volume, target = self.folder / request["volume_id"], Path(request["target_path"])
        volume.mkdir(exist_ok=True)
        if not target.is_symlink():
            target.symlink_to(volume)
        return {}

    def node_unpublish_volume(self, request):
        Path(request["target_path"]).unlink(missing_ok=True)
        return {}

    def node_get_volume_stats(self, request):
        if not Path(request["volume_path"]).exists():
            raise refused("NOT_FOUND", "nothing is there")
        return super().node_get_volume_stats(request)


class TestMemoryDriver(CsiDriverContract):
    mounts = False

    @pytest.fixture
    def driver(self, tmp_path):
        return Filing(tmp_path)


class Forgetful(Filing):
    """Knows nothing of what it did before: each request makes another volume, nothing is ever found."""

    def create_volume(self, request):
        self.volumes.clear()
        made = super().create_volume({**request, "name": f"{request.get('name')}-{len(self.calls)}"})
        self.snapshots.clear()
        return made

    def delete_volume(self, request):
        if request["volume_id"] not in self.volumes:
            raise KeyError(request["volume_id"])
        return super().delete_volume(request)


def broken(driver, tmp_path):
    """Return the tests of the contract that a driver does not pass."""
    found = set()
    for name in TESTS:
        test = getattr(TestMemoryDriver(), name)
        words = {"driver": driver(tmp_path), "tmp_path": tmp_path}
        try:
            test(**{word: words[word] for word in inspect.signature(test).parameters})
        except Exception:  # noqa: BLE001  a driver that is wrong may raise anything
            found.add(name)
    return found


def test_a_driver_that_forgets_does_not_keep_its_promises(tmp_path):
    found = broken(Forgetful, tmp_path)

    assert {
        "test_the_same_request_makes_one_volume",
        "test_a_larger_one_of_the_same_name_is_refused",
        "test_a_volume_may_be_deleted_twice_and_made_anew",
    } <= found
    assert "test_its_name_is_a_domain_name" not in found


def test_places_are_told_by_those_only_that_have_them(tmp_path):
    found = broken(lambda folder: Filing(folder, SERVICES[:1]), tmp_path)

    assert found == {"test_it_tells_what_the_node_is_called"}
