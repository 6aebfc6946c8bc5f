"""What to attach to a node and to detach from it, given what its pods want and what it has.

Source: kubernetes ``pkg/controller/volume/attachdetach/reconciler/reconciler.go``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from hyperkube_controller.attachdetach.actual_state_of_world import AttachState

from hyperkube.hookspecs.volume import VolumeSpec
from hyperkube.kinds.conditions import is_true
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, annotations_of, name_of, namespace_of

MANAGED = "volumes.kubernetes.io/controller-managed-attach-detach"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
FORCE_SECONDS = 360.0
"""How long a node may take to unmount a volume until it is detached all the same."""
_SHARED = frozenset({"ReadOnlyMany", "ReadWriteMany"})
_INLINE_FOR_ONE_NODE = frozenset({"azureDisk", "cinder"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """A volume that pods of a node want."""

    spec: VolumeSpec
    pods: tuple[Object, ...]

    @property
    def is_for_one_node(self) -> bool:
        """Whether it may be attached to one node at a time only; what says nothing of it is left to the storage.

        Source: kubernetes ``pkg/volume/util/util.go`` (IsMultiAttachAllowed).
        """
        if self.spec.persistent_volume is None:
            return not _INLINE_FOR_ONE_NODE.isdisjoint(self.spec.volume)
        modes = self.spec.volume.get("accessModes") or ()
        return bool(modes) and _SHARED.isdisjoint(modes)


@dataclass(frozen=True, slots=True)
class Attach:
    """Attach a volume."""

    unique_name: str
    wanted: Wanted


@dataclass(frozen=True, slots=True)
class Refuse:
    """Tell pods that their volume is on another node."""

    unique_name: str
    wanted: Wanted
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Detach:
    """Detach a volume; with a reason whether or not the node may have it mounted."""

    unique_name: str
    force_reason: str = ""


@dataclass(frozen=True, slots=True)
class Wait:
    """Look again after so many seconds: the node may have mounted a volume that it should not have.

    None stands for when something changes.
    """

    unique_name: str
    seconds: float | None


Operation = Attach | Refuse | Detach
Step = Operation | Wait


def is_managed(node: Object) -> bool:
    """Tell whether the controller attaches the node's volumes, and not its kubelet."""
    return annotations_of(node).get(MANAGED) == "true"


def decide(
    node: Object | None,
    wanted: Mapping[str, Wanted],
    attached: Mapping[str, AttachState],
    elsewhere: Mapping[str, Sequence[str]],
    unwanted_seconds: Mapping[str, float],
    *,
    in_use: Collection[str] | None,
    forces: bool = True,
) -> list[Step]:
    """Return what to do for a node.

    Args:
        node: None for one that is gone.
        wanted: what its pods want, by unique name.
        attached: what it has or may have.
        elsewhere: which other nodes have what is wanted.
        unwanted_seconds: how long a volume it has has not been wanted.
        in_use: what it said last that it has mounted, or is about to; None where it has not said.
        forces: detach from a node that is unhealthy for too long.
    """
    # Detached first: a pod that moves away may make room for the one that comes.
    steps: list[Step] = [
        _detach(node, name, unwanted_seconds.get(name, 0.0), in_use, forces=forces)
        for name in attached
        if name not in wanted
    ]
    for name, volume in wanted.items():
        if attached.get(name) is AttachState.ATTACHED:
            continue
        others = tuple(elsewhere.get(name) or ())
        steps.append(Refuse(name, volume, others) if others and volume.is_for_one_node else Attach(name, volume))
    return steps


def _detach(
    node: Object | None, name: str, seconds: float, in_use: Collection[str] | None, *, forces: bool
) -> Detach | Wait:
    """Detach what is not mounted, and from a node that is out of service or unhealthy for too long what may be.

    A node that is gone counts as unhealthy: its machine may run on.
    """
    if node is not None and any(
        taint.get("key") == OUT_OF_SERVICE for taint in (node.get("spec") or {}).get("taints") or ()
    ):
        return Detach(name, "out-of-service")
    is_healthy = node is not None and is_true(node.get("status") or {}, "Ready")
    if seconds >= FORCE_SECONDS and not is_healthy and forces:
        return Detach(name, "timeout")
    if in_use is not None and name not in in_use:
        return Detach(name)
    return Wait(name, FORCE_SECONDS - seconds if seconds < FORCE_SECONDS else None)


def multi_attach_message(volume_name: str, pod: Object, others: Iterable[Object]) -> str:
    """Return what a pod is told whose volume pods on other nodes have; pods of other namespaces are only counted."""
    found = list(others)
    local = sorted(name_of(other) for other in found if namespace_of(other) == namespace_of(pod))
    foreign = len(found) - len(local)
    if not found:
        text = "Volume is already exclusively attached to one node and can't be attached to another"
    elif not local:
        text = f"Volume is already used by {foreign} pod(s) in different namespaces"
    else:
        text = f"Volume is already used by pod(s) {', '.join(local)}"
        text += f" and {foreign} pod(s) in different namespaces" if foreign else ""
    return f'Multi-Attach error for volume "{volume_name}" {text}'
