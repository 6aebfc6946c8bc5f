"""secret volumes."""

from pathlib import Path
from typing import ClassVar

from hyperkube_testing.node_contracts.volume import VolumeContract
from hyperkube_volume.secret import SecretFolders


class TestContract(VolumeContract):
    volume: ClassVar = {"secret": {"secretName": "s"}}
    secrets: ClassVar = {"s": {"data": {"password": "aHVudGVyMg=="}}}

    def kind(self):
        return SecretFolders()


def test_values_are_decoded_and_the_mode_is_the_one_given(tmp_path):
    volume: ClassVar = {"name": "v", "secret": {"secretName": "s", "defaultMode": 0o400}}

    path = Path(SecretFolders().setup(TestContract().request(tmp_path / "v", volume)))

    assert (path / "password").read_text() == "hunter2"
    assert (path / "password").stat().st_mode & 0o777 == 0o400
