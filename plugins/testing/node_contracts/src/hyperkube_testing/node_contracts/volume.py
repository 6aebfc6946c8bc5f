# ruff: noqa: D102 - tests, whose names are their docstrings
"""What every kind of volume promises: subclass `VolumeContract`, build the plugin and give it a volume."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from hyperkube.hookspecs.volume import (
    Attachable,
    BlockMappable,
    DeviceMountable,
    DeviceRequest,
    MountedVolume,
    Reconstructable,
    Remounts,
    VolumeRequest,
    Volumes,
    VolumeSpec,
)
from hyperkube.hookspecs.volume_storage import Deletable, Expandable, Persistent, Provisionable, ProvisionRequest
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
        volume: an entry of ``spec.volumes`` that the plugin handles.
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
            plugin_dir=str(folder.parent / "plugin"),
        )

    def mounted(self, folder: Path) -> MountedVolume:
        """Return what is known of the volume in `folder` after a restart."""
        return MountedVolume(name="v", pod_uid="uid", path=str(folder), plugin_dir=str(folder.parent / "plugin"))

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

        kind.teardown(self.mounted(tmp_path / "v"))
        kind.teardown(self.mounted(tmp_path / "v"))

        assert not any((tmp_path / "v").glob("*"))

    def test_teardown_needs_nothing_but_what_is_on_the_disk(self, tmp_path: Path) -> None:
        self.kind().setup(self.request(tmp_path / "v"))

        self.kind().teardown(self.mounted(tmp_path / "v"))

        assert not any((tmp_path / "v").glob("*"))

    def test_whether_it_is_mounted_again_depends_on_the_volume_alone(self) -> None:
        kind = self.kind()

        if isinstance(kind, Remounts):
            assert kind.requires_remount(self.volume) == kind.requires_remount({"name": "other", **self.volume})


NODE: Object = {"metadata": {"name": "n"}, "status": {}}


class PersistentVolumeContract:
    """The promises of kinds that may be PersistentVolumes; the tests of what a kind cannot do pass at once.

    Attributes:
        persistent_volume: one that the plugin handles.
    """

    persistent_volume: ClassVar[Object] = {}

    def kind(self) -> Volumes:
        """Return the kind of volume under test."""
        raise NotImplementedError

    def spec(self) -> VolumeSpec:
        """Return the volume of the class."""
        name = self.persistent_volume["metadata"]["name"]
        volume = {"name": name, **self.persistent_volume["spec"]}
        return VolumeSpec(volume=volume, persistent_volume=self.persistent_volume)

    def device_request(self, folder: Path, device: str = "") -> DeviceRequest:
        """Return a request for the volume of the class."""
        return DeviceRequest(
            spec=self.spec(),
            pod=POD,
            node=NODE,
            device=device,
            path=str(folder / "global"),
            plugin_dir=str(folder / "plugin"),
            get_secret=lambda _namespace, name: _find({}, "secrets", name),
        )

    def test_it_handles_the_persistent_volume(self) -> None:
        assert self.kind().supports(self.spec().volume)

    def test_its_access_modes_are_some_of_the_known_ones(self) -> None:
        kind = self.kind()

        if isinstance(kind, Persistent):
            assert set(kind.access_modes()) <= {"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"}

    def test_the_name_of_a_volume_is_stable(self) -> None:
        kind = self.kind()

        if isinstance(kind, (Attachable, DeviceMountable)):
            assert kind.volume_name(self.spec()) == kind.volume_name(self.spec()) != ""

    def test_attach_and_detach_are_idempotent(self) -> None:
        kind, spec = self.kind(), self.spec()

        if isinstance(kind, Attachable) and kind.can_attach(spec):
            assert kind.attach(spec, NODE) == kind.attach(spec, NODE)
            assert kind.volumes_are_attached([spec], NODE) == {spec.name: True}
            kind.detach(kind.volume_name(spec), "n")
            kind.detach(kind.volume_name(spec), "n")
            assert kind.volumes_are_attached([spec], NODE) == {spec.name: False}

    def test_the_place_of_a_device_is_below_the_plugins_own(self, tmp_path: Path) -> None:
        kind, spec = self.kind(), self.spec()

        if isinstance(kind, DeviceMountable) and kind.can_device_mount(spec):
            path = kind.device_mount_path(spec, str(tmp_path))
            assert path == kind.device_mount_path(spec, str(tmp_path))
            assert Path(path).is_relative_to(tmp_path)

    def test_what_was_never_mounted_can_be_unmounted(self, tmp_path: Path) -> None:
        kind = self.kind()

        if isinstance(kind, DeviceMountable):
            kind.unmount_device(str(tmp_path / "nothing"))
        if isinstance(kind, BlockMappable):
            kind.unmap_device(MountedVolume(name="v", pod_uid="uid", path=str(tmp_path / "nothing")))

    def test_a_volume_is_recognized_by_what_is_on_the_disk(self, tmp_path: Path) -> None:
        kind, spec = self.kind(), self.spec()

        if isinstance(kind, Reconstructable) and not isinstance(kind, (Attachable, DeviceMountable)):
            found = kind.construct_spec(MountedVolume(name=spec.name, pod_uid="uid", path=str(tmp_path)))
            assert kind.supports(found.volume)


class ProvisionerContract:
    """The promises of kinds that make volumes for claims."""

    def provisioner(self, folder: Path) -> Volumes:
        """Return the kind of volume under test, which may use `folder`."""
        raise NotImplementedError

    def provision_request(self) -> ProvisionRequest:
        """Return a request that the provisioner can fulfil."""
        wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}
        claim = {"metadata": {"name": "c", "namespace": "d", "uid": "u1"}, "spec": wanted}
        return ProvisionRequest(name="pvc-u1", claim=claim, storage_class={"metadata": {"name": "s"}})

    def test_a_volume_is_made_once_and_deleted_once(self, tmp_path: Path) -> None:
        kind, request = self.provisioner(tmp_path), self.provision_request()
        assert isinstance(kind, Provisionable)
        assert isinstance(kind, Deletable)

        made = kind.provision(request)
        again = kind.provision(request)
        volume = {**made, "metadata": {**made["metadata"], "name": request.name}}
        kind.delete(volume)
        kind.delete(volume)

        assert made == again
        assert kind.supports(made["spec"])

    def test_a_volume_never_shrinks(self, tmp_path: Path) -> None:
        kind, request = self.provisioner(tmp_path), self.provision_request()
        if isinstance(kind, Expandable):
            assert isinstance(kind, Provisionable)
            made = kind.provision(request)
            spec = VolumeSpec(volume={"name": request.name, **made["spec"]}, persistent_volume=made)

            assert kind.expand(spec, 2 << 20, 1 << 20) >= 2 << 20
            assert kind.expand(spec, 2 << 20, 1 << 20) >= 2 << 20


def _find(objects: dict[str, Object], resource: str, name: str) -> Object:
    if name not in objects:
        raise NotFound.about(GroupResource("", resource), name)
    return objects[name]
