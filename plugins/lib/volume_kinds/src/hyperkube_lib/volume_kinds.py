"""The installed kinds of volumes, loaded when a controller first meets a volume that may need one.

Source: kubernetes ``pkg/volume/plugins.go`` (VolumePluginMgr), ``pkg/volume/util/util.go`` (GetUniqueVolumeName).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from hyperkube_lib.csi_translation import taken_over

from hyperkube.hookspecs import volume as volume_specs
from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.volume import Attachable, VolumeHooks, Volumes, VolumeSpec
from hyperkube.machinery.objects import Object, name_of
from hyperkube.plugin import PluginHost, load
from hyperkube.plugin.loader import installed

_OF_THE_NODE = frozenset(
    {
        "cephfs",
        "configMap",
        "downwardAPI",
        "emptyDir",
        "gitRepo",
        "glusterfs",
        "hostPath",
        "image",
        "local",
        "nfs",
        "projected",
        "secret",
    }
)
"""Sources that no controller has anything to do with: most pods have no others, and cost no plugin."""


class VolumeKinds:
    """The kinds with their names; thread-safe."""

    def __init__(self, context: PluginContext) -> None:
        """Load kinds for the plugin of `context`, each with settings of its own."""
        self._contexts = {name: context.of_plugin("volume", name) for name in installed("volume")}
        self._lock = threading.Lock()
        self._host: PluginHost[VolumeHooks] | None = None
        self._kinds: list[tuple[str, Volumes]] | None = None

    def kinds(self) -> Sequence[tuple[str, Volumes]]:
        """Return all kinds, with their names."""
        with self._lock:
            if self._kinds is None:
                names = sorted(self._contexts)
                self._host = load("volume", names, volume_specs, self._contexts.__getitem__)
                self._kinds = list(zip(names, self._host.hook.volume_kinds(), strict=True))
            return self._kinds

    def find(self, spec: VolumeSpec) -> tuple[str, Volumes] | None:
        """Return the kind of a volume with its name; None for one that only nodes deal with, or none handles."""
        if not spec.volume.keys().isdisjoint(_OF_THE_NODE):
            return None
        return next(((name, kind) for name, kind in self.kinds() if kind.supports(spec.volume)), None)

    def as_known(self, spec: VolumeSpec, namespace: str) -> VolumeSpec:
        """Return a volume that no kind handles as the CSI driver knows it that took its kind over; others as they are.

        Raises:
            VolumeFailed: what it says the driver cannot be told.
        """
        return spec if self.find(spec) is not None else taken_over(spec, namespace) or spec

    def attachable(self, spec: VolumeSpec) -> tuple[str, Attachable] | None:
        """Return the unique name and the kind of a volume that is attached to nodes; None for one that is not.

        Raises:
            VolumeFailed: the volume has no name.
        """
        found = self.find(spec)
        if found is None:
            return None
        name, kind = found
        if not isinstance(kind, Attachable) or not kind.can_attach(spec):
            return None
        return f"{name}/{kind.volume_name(spec)}", kind

    def by_unique_name(self, unique_name: str) -> tuple[str, Attachable] | None:
        """Return the storage's own name of a volume and its kind, given its unique name."""
        for name, kind in self.kinds():
            if unique_name.startswith(f"{name}/") and isinstance(kind, Attachable):
                return unique_name.removeprefix(f"{name}/"), kind
        return None

    def close(self) -> None:
        """Close the plugins."""
        if self._host is not None:
            self._host.close()


def spec_of_persistent_volume(volume: Object, *, read_only: bool = False) -> VolumeSpec:
    """Return a PersistentVolume as a volume."""
    spec = {"name": name_of(volume), **(volume.get("spec") or {})}
    return VolumeSpec(volume=spec, persistent_volume=volume, read_only=read_only)
