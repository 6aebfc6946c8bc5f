"""The contracts hold for simple twins, and name the promise that a broken one does not keep."""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from hyperkube_testing.node_contracts.network import NetworkContract
from hyperkube_testing.node_contracts.volume import VolumeContract

from hyperkube.hookspecs.network import PodNetwork, PodNetworkRequest
from hyperkube.hookspecs.volume import MountedVolume, VolumeRequest
from hyperkube.machinery.objects import Object


class NumberedNetwork:
    """Gives pods the addresses of 10.0.0.0/24 in turn; a file per sandbox remembers them."""

    def __init__(self, state: Path) -> None:
        self._state = state

    def setup(self, pod: PodNetworkRequest) -> PodNetwork:
        file = self._state / pod.sandbox_id
        if not file.exists():
            taken = {each.read_text() for each in self._state.iterdir()}
            file.write_text(next(address for address in _addresses() if address not in taken))
        return PodNetwork((file.read_text(),))

    def teardown(self, pod: PodNetworkRequest) -> None:
        (self._state / pod.sandbox_id).unlink(missing_ok=True)

    def status(self) -> str:
        return ""

    def set_pod_cidr(self, cidr: str) -> None:
        """Its range is fixed."""


class ForgetfulNetwork(NumberedNetwork):
    """Removes what it remembers whenever it starts."""

    def __init__(self, state: Path) -> None:
        super().__init__(state)
        for each in state.iterdir():
            each.unlink()


def _addresses() -> Iterator[str]:
    return (f"10.0.0.{number}" for number in range(1, 255))


class TestNumberedNetwork(NetworkContract):
    def build(self, state):
        return NumberedNetwork(state)


def test_a_network_that_forgets_its_addresses_is_caught(tmp_path):
    class Forgetful(NetworkContract):
        def build(self, state):
            return ForgetfulNetwork(state)

    with pytest.raises(AssertionError):
        Forgetful().test_addresses_outlive_the_kubelet(tmp_path)


class Folders:
    """A kind of volume: an empty folder."""

    def supports(self, volume: Object) -> bool:
        return "folder" in volume

    def setup(self, request: VolumeRequest) -> str:
        folder = Path(request.path) / "data"
        folder.mkdir(exist_ok=True)
        return str(folder)

    def teardown(self, mounted: MountedVolume) -> None:
        folder = Path(mounted.path) / "data"
        if folder.exists():
            folder.rmdir()


class TestFolders(VolumeContract):
    volume: ClassVar[Object] = {"folder": {}}

    def kind(self):
        return Folders()


def test_a_kind_of_volume_that_takes_every_volume_is_caught():
    class Greedy(TestFolders):
        def kind(self):
            kind = Folders()
            kind.supports = lambda _volume: True
            return kind

    with pytest.raises(AssertionError):
        Greedy().test_it_handles_its_own_volumes_and_no_others()
