# ruff: noqa: D102 - tests, whose names are their docstrings
"""What every kind of volume promises: subclass `VolumeContract`, build the plugin and give it a volume."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from hyperkube.hookspecs.volume import VolumeRequest, Volumes
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.groups import GroupResource
from hyperkube.machinery.objects import Object

POD: Object = {
    "metadata": {"name": "p", "namespace": "ns", "uid": "uid", "labels": {"app": "web"}},
    "spec": {"nodeName": "n", "containers": [{"name": "c", "resources": {"limits": {"cpu": "1500m"}}}]},
}


class VolumeContract:
    """The promises of `hyperkube.hookspecs.volume`, as tests.

    Attributes:
        volume: an entry of ``spec.volumes`` that the plugin handles; ``{path}`` in its strings becomes a fresh folder.
        config_maps, secrets: name → object, for volumes made of them.
    """

    volume: ClassVar[Object] = {}
    config_maps: ClassVar[dict[str, Object]] = {}
    secrets: ClassVar[dict[str, Object]] = {}

    def kind(self) -> Volumes:
        """Return the kind of volume under test."""
        raise NotImplementedError

    def request(self, folder: Path, volume: Object | None = None, pod: Object | None = None) -> VolumeRequest:
        """Return a request for `volume`, or for the class's own, in `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        return VolumeRequest(
            volume=volume or {"name": "v", **self.volume},
            pod=pod or POD,
            path=str(folder),
            read_only=False,
            node={"status": {"allocatable": {"cpu": "4", "memory": "1Gi"}}},
            get_config_map=lambda _namespace, name: _find(self.config_maps, "configmaps", name),
            get_secret=lambda _namespace, name: _find(self.secrets, "secrets", name),
            request_token=lambda audience, seconds: {"token": f"token for {audience or 'all'}, {seconds}s"},
        )

    def test_it_handles_its_own_volumes_and_no_others(self) -> None:
        kind = self.kind()

        assert kind.supports({"name": "v", **self.volume})
        assert not kind.supports({"name": "v", "nosuchSource": {}})

    def test_setup_is_idempotent(self, tmp_path: Path) -> None:
        kind, request = self.kind(), self.request(tmp_path / "v")

        first = kind.setup(request)
        again = kind.setup(request)

        assert first == again
        assert Path(first).exists()

    def test_teardown_is_idempotent(self, tmp_path: Path) -> None:
        kind, request = self.kind(), self.request(tmp_path / "v")
        kind.setup(request)

        kind.teardown(request)
        kind.teardown(request)

        assert not any((tmp_path / "v").glob("*"))


def _find(objects: dict[str, Object], resource: str, name: str) -> Object:
    if name not in objects:
        raise NotFound.about(GroupResource("", resource), name)
    return objects[name]
