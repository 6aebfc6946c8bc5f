"""Volumes: data made available to a pod as a folder of the node.

Like Kubernetes' plugins, small protocols instead of one fat class: each `Volumes` can mount; what can also attach,
provision or expand says so by implementing more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from hyperkube.hookspecs import hookspec
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import Object


class VolumeFailed(HyperkubeError):
    """The volume cannot be made ready now; it is retried with back-off and shown as a FailedMount event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeRequest:
    """One volume of one pod.

    Attributes:
        volume: the entry of ``spec.volumes``, with a claim already resolved into its volume's source.
        pod: the pod, read-only.
        path: the folder to fill; it exists and belongs to the pod.
        read_only: whether every mount of it is read-only.
        get_config_map, get_secret: (namespace, name) → object, from the kubelet's caches; raise NotFound.
        request_token: (audience, expiry seconds) → token status of the pod's service account.
        node: the node object.
    """

    volume: Object
    pod: Object
    path: str
    read_only: bool
    node: Object
    get_config_map: Callable[[str, str], Object]
    get_secret: Callable[[str, str], Object]
    request_token: Callable[[str, int], Object]


class Volumes(Protocol):
    """One kind of volume."""

    def supports(self, volume: Object) -> bool:
        """Tell whether a ``spec.volumes`` entry or a PersistentVolume's spec is of this kind."""

    def setup(self, request: VolumeRequest) -> str:
        """Make the data available and return the folder or file to mount, usually ``request.path``.

        Called before the pod's containers start and again at every sync, so that content follows its source; must be
        idempotent and replace changed content atomically (a reader sees all of the old or all of the new).

        Raises:
            VolumeFailed: the message says what is missing.
            NotFound: a source that is not optional does not exist.
        """

    def teardown(self, request: VolumeRequest) -> None:
        """Undo `setup` after the pod ended; no error if nothing is left."""


@runtime_checkable
class Provisions(Protocol):
    """Volumes that can be made for a claim."""

    def provision(self, claim: Object, storage_class: Object) -> Object:
        """Create the storage and return the PersistentVolume to be created for it; idempotent per claim uid."""

    def reclaim(self, volume: Object) -> None:
        """Delete the storage behind a released PersistentVolume."""


@runtime_checkable
class Attaches(Protocol):
    """Volumes that are attached to a node before they are mounted."""

    def attach(self, volume: Object, node: Object) -> str:
        """Attach and return the device path; idempotent."""

    def detach(self, volume: Object, node: Object) -> None:
        """Detach; no error if it is not attached."""


@runtime_checkable
class Expands(Protocol):
    """Volumes that can grow."""

    def expand(self, volume: Object, size: str) -> None:
        """Grow to at least `size` (a quantity)."""


@hookspec
def volume_kinds() -> Volumes:
    """Return the kind of volume this plugin handles.

    Called: once by the kubelet (mounting) and by the volume controllers (provisioning).
    Order: the first that `supports` a volume handles it.
    Must: keep secret content out of logs and readable by the pod's user only.
    """


class VolumeHooks(Protocol):
    """How a host calls the hooks of this family: by keyword, all plugins at once."""

    def volume_kinds(self) -> list[Volumes]:
        """Call `volume_kinds` of all plugins."""
