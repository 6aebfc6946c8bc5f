"""What controllers do with the storage behind volumes: make it, delete it, empty it, grow it, change it.

Small protocols that the object of `hyperkube.hookspecs.volume.volume_kinds` may have beside those of the node.

Source: kubernetes ``pkg/volume/plugins.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from hyperkube.hookspecs.volume import DeviceRequest, VolumeSpec
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object


@runtime_checkable
class Persistent(Protocol):
    """Volumes that may be PersistentVolumes."""

    def access_modes(self) -> Sequence[str]:
        """Return the access modes that the kind can have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvisionRequest:
    """A volume to be made.

    Attributes:
        name: of the PersistentVolume to be.
        claim: that asks for it.
        storage_class: of the claim.
        node_name: where its first pod will run, if that is decided already; empty if it does not matter.
    """

    name: str
    claim: Object
    storage_class: Object
    node_name: str = ""


@runtime_checkable
class Provisionable(Protocol):
    """Volumes that can be made for a claim."""

    def provision(self, request: ProvisionRequest) -> Object:
        """Create the storage and return the PersistentVolume to be created for it; idempotent per name.

        Raises:
            VolumeFailed: it cannot be made now.
        """


@runtime_checkable
class TakesMountOptions(Protocol):
    """Volumes made for claims whose class may name mount options; a kind that does not say so takes none."""

    def supports_mount_option(self) -> bool:
        """Tell whether the ``mountOptions`` of a class reach the mount."""


@runtime_checkable
class Deletable(Protocol):
    """Volumes whose storage can be deleted."""

    def delete(self, volume: Object) -> None:
        """Delete the storage behind a released PersistentVolume; no error if it is gone.

        Raises:
            VolumeFailed: it cannot be deleted now.
        """


@runtime_checkable
class Recyclable(Protocol):
    """Volumes that can be emptied and used again (the reclaim policy ``Recycle``)."""

    def recycler_pod(self, volume: Object) -> Object:
        """Return the pod that empties a released PersistentVolume: it succeeds when it has."""


@runtime_checkable
class Expandable(Protocol):
    """Volumes that a controller can grow."""

    def requires_fs_resize(self) -> bool:
        """Tell whether the node has work to do after it (see `NodeExpandable`)."""

    def expand(self, spec: VolumeSpec, size: int, old_size: int) -> int:
        """Grow to at least `size` bytes and return how many it has now; idempotent.

        Raises:
            VolumeFailed: it cannot be grown now.
        """


@runtime_checkable
class NodeExpandable(Protocol):
    """Volumes whose file system the node can grow while it is mounted."""

    def node_expand(self, request: DeviceRequest, size: int) -> bool:
        """Grow what is on the device or at ``request.path`` to `size` bytes; tell whether that is done.

        Raises:
            VolumeFailed: it cannot be grown now.
        """


@runtime_checkable
class Modifiable(Protocol):
    """Volumes that can get other attributes (VolumeAttributesClass)."""

    def modify(self, volume: Object, parameters: Mapping[str, str]) -> None:
        """Give a PersistentVolume the parameters of another class; idempotent.

        Raises:
            VolumeFailed: it cannot be modified.
        """
