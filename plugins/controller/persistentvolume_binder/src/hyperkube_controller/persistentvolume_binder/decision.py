"""The next step for a claim or a volume: one write at a time, so that every step stands on what is stored.

Source: kubernetes ``pkg/controller/volume/persistentvolume/pv_controller.go``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from hyperkube_controller.persistentvolume_binder.matching import find, is_for, misfit, mode_mismatches
from hyperkube_lib.csi_translation import kind_of_provisioner

from hyperkube.client.actions import Action, Emit, Update
from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from hyperkube.kinds.volumes import class_name, leaves_class_open
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, annotations_of, metadata, name_of, namespace_of, uid_of

COMPLETED = "pv.kubernetes.io/bind-completed"
BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
PROVISIONERS = ("volume.beta.kubernetes.io/storage-provisioner", "volume.kubernetes.io/storage-provisioner")
SELECTED_NODE = "volume.kubernetes.io/selected-node"
MIGRATED_TO = "pv.kubernetes.io/migrated-to"
_NO_CLASS = "no persistent volumes available for this claim and no storage class is set"
_WAITING = "waiting for first consumer to be created before binding"
_EXTERNAL = (
    "Waiting for a volume to be created either by the external provisioner '{}' or manually by the system"
    " administrator. If volume creation is delayed, please verify that the provisioner is running and correctly"
    " registered."
)


@dataclass(frozen=True, slots=True)
class Provision:
    """Make a volume for the claim, by a provisioner that is installed here."""

    claim: Object
    storage_class: Object


@dataclass(frozen=True, slots=True)
class Reclaim:
    """Delete the storage behind the volume, then the volume."""

    volume: Object


@dataclass(frozen=True, slots=True)
class Recycle:
    """Empty the volume, so that it is available again."""

    volume: Object


Step = Action | Provision | Reclaim | Recycle


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimWorld:
    """What a decision about a claim knows.

    Attributes:
        volumes: all volumes.
        storage_class: the claim's class, if there is one.
        default_class: the name of the class for claims that say none, or the empty string.
        node: the node that a pod with the claim was given, or the empty string.
        waiting_pods: the names of the pods with the claim that have no node yet.
        installed: the provisioners that are installed here.
        provisions: whether volumes are made for claims (``--enable-dynamic-provisioning``).
    """

    volumes: Iterable[Object]
    storage_class: Object | None
    default_class: str = ""
    node: str = ""
    waiting_pods: tuple[str, ...] = ()
    installed: frozenset[str] = frozenset()
    provisions: bool = True


def decide_claim(claim: Object, world: ClaimWorld) -> list[Step]:
    """Return the claim's next step."""
    if (marked := _migrated(claim, PROVISIONERS, world.installed)) is not claim:
        return [Update(PERSISTENT_VOLUME_CLAIMS, marked)]
    by_name = {name_of(volume): volume for volume in world.volumes}
    wanted = (claim.get("spec") or {}).get("volumeName", "")
    if COMPLETED in annotations_of(claim):
        return _decide_bound(claim, wanted, by_name.get(wanted))
    if not wanted:
        return _decide_open(claim, world, by_name.values())
    volume = by_name.get(wanted)
    if volume is None:
        return _pending(claim)  # it may come yet
    if not (volume.get("spec") or {}).get("claimRef"):
        why = misfit(volume, claim)
        if why:
            text = f'Cannot bind to requested volume "{wanted}": {why}'
            return [Emit(claim, "Warning", "VolumeMismatch", text), *_pending(claim)]
        return _bind(volume, claim)
    if is_for(volume, claim):
        return _bind(volume, claim)
    if BY_CONTROLLER in annotations_of(claim):
        return []  # the mark of a completed binding was taken off, and nothing is known to be right
    text = f'volume "{wanted}" already bound to a different claim.'
    return [Emit(claim, "Warning", "FailedBinding", text), *_pending(claim)]


def _decide_open(claim: Object, world: ClaimWorld, volumes: Iterable[Object]) -> list[Step]:
    """Bind to a volume that fits; without one wait, or have one made.

    A claim whose class binds late is bound to a free volume by the scheduler. Only where that knows no volumes, and has
    placed the pod without selecting a node for the claim, it is done here.
    """
    storage_class = world.storage_class
    late = storage_class is not None and storage_class.get("volumeBindingMode") == "WaitForFirstConsumer"
    has_node = bool(world.node)
    volume = find(volumes, claim, prebound_only=late and (not has_node or SELECTED_NODE in annotations_of(claim)))
    if volume is not None:
        return _bind(volume, claim)
    if world.default_class and leaves_class_open(claim):
        spec = {**(claim.get("spec") or {}), "storageClassName": world.default_class}
        return [Update(PERSISTENT_VOLUME_CLAIMS, {**claim, "spec": spec})]
    if late and not has_node:
        return [_waiting(claim, world.waiting_pods), *_pending(claim)]
    name = class_name(claim)
    if not name:
        return [Emit(claim, "Normal", "FailedBinding", _NO_CLASS), *_pending(claim)]
    if not world.provisions:
        return []
    if storage_class is None:
        why = f'storageclass.storage.k8s.io "{name}" not found'
        return [Emit(claim, "Warning", "ProvisioningFailed", why)]
    return _decide_provisioning(claim, storage_class, world)


def _decide_provisioning(claim: Object, storage_class: Object, world: ClaimWorld) -> list[Step]:
    """Have a volume made: here, or by an external provisioner, which looks for claims with its name on them."""
    provisioner = str(storage_class.get("provisioner", ""))
    if provisioner in world.installed:
        named: dict[str, str] = dict.fromkeys(PROVISIONERS, provisioner)
        if not named.items() <= annotations_of(claim).items():
            return [Update(PERSISTENT_VOLUME_CLAIMS, _annotated(claim, named))]
        return [Provision(claim, storage_class)]
    kind = kind_of_provisioner(provisioner)
    external = kind.driver if kind is not None else provisioner
    if external.startswith("kubernetes.io/"):
        text = f"no volume plugin matched name: {provisioner}"
        return [Emit(claim, "Warning", "ProvisioningFailed", text)]
    steps: list[Step] = [Emit(claim, "Normal", "ExternalProvisioning", _EXTERNAL.format(external))]
    wanted: dict[str, str] = dict.fromkeys(PROVISIONERS, external)
    if world.node:
        wanted[SELECTED_NODE] = world.node
    if not wanted.items() <= annotations_of(claim).items():
        steps.append(Update(PERSISTENT_VOLUME_CLAIMS, _annotated(claim, wanted)))
    return steps


def _migrated(obj: Object, keys: Iterable[str], installed: Collection[str]) -> Object:
    """Return a claim or a volume with the annotation that names the driver which took its provisioner over, if one did.

    Source: kubernetes ``pkg/controller/volume/persistentvolume/pv_controller.go`` (updateMigrationAnnotations).
    """
    found = annotations_of(obj)
    provisioner = next((found[key] for key in keys if key in found), "")
    kind = None if provisioner in installed else kind_of_provisioner(provisioner)
    if not provisioner or found.get(MIGRATED_TO, "") == (kind.driver if kind is not None else ""):
        return obj
    if kind is not None:
        return _annotated(obj, {MIGRATED_TO: kind.driver})
    kept = {key: value for key, value in found.items() if key != MIGRATED_TO}
    return {**obj, "metadata": {**metadata(obj), "annotations": kept}}


def _waiting(claim: Object, pods: tuple[str, ...]) -> Emit:
    """Return the event that tells what a claim of a late binding class waits for."""
    if not pods:
        return Emit(claim, "Normal", "WaitForFirstConsumer", _WAITING)
    noun = "pod" if len(pods) == 1 else "pods"
    return Emit(claim, "Normal", "WaitForPodScheduled", f"waiting for {noun} {','.join(sorted(pods))} to be scheduled")


def _pending(claim: Object) -> list[Step]:
    """Return the update that makes the claim's status say that it has no volume."""
    status = claim.get("status") or {}
    pending = {key: value for key, value in status.items() if key not in {"accessModes", "capacity"}}
    pending["phase"] = "Pending"
    return [] if pending == status else [Update(PERSISTENT_VOLUME_CLAIMS, {**claim, "status": pending}, "status")]


def _decide_bound(claim: Object, wanted: str, volume: Object | None) -> list[Step]:
    """Finish what a bound claim needs, or declare it lost."""
    if not wanted:
        return _lost(
            claim, "ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!"
        )
    if volume is None:
        return _lost(claim, "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!")
    if not (volume.get("spec") or {}).get("claimRef") or is_for(volume, claim):
        return _bind(volume, claim)
    text = "Two claims are bound to the same volume, this one is bound incorrectly"
    return _lost(claim, "ClaimMisbound", text)


def _lost(claim: Object, reason: str, text: str) -> list[Step]:
    status = claim.get("status") or {}
    if status.get("phase") == "Lost":
        return []
    lost = {key: value for key, value in status.items() if key not in {"accessModes", "capacity"}} | {"phase": "Lost"}
    return [
        Update(PERSISTENT_VOLUME_CLAIMS, {**claim, "status": lost}, "status"),
        Emit(claim, "Warning", reason, text),
    ]


def _annotated(obj: Object, annotations: dict[str, str]) -> Object:
    return {**obj, "metadata": {**metadata(obj), "annotations": {**annotations_of(obj), **annotations}}}


def reference_to(claim: Object) -> Object:
    """Return the ``claimRef`` of a volume."""
    return {
        "kind": "PersistentVolumeClaim",
        "apiVersion": "v1",
        "namespace": namespace_of(claim),
        "name": name_of(claim),
        "uid": uid_of(claim),
        "resourceVersion": metadata(claim).get("resourceVersion", ""),
    }


def _bind(volume: Object, claim: Object) -> list[Step]:
    """Return the next write of the four that bind: the volume first, so that no other claim takes it."""
    spec = volume.get("spec") or {}
    reference = spec.get("claimRef") or {}
    if reference.get("uid") != uid_of(claim):
        changed = volume if reference else _annotated(volume, {BY_CONTROLLER: "yes"})
        return [Update(PERSISTENT_VOLUMES, {**changed, "spec": {**spec, "claimRef": reference_to(claim)}})]
    wanted = claim.get("spec") or {}
    if wanted.get("volumeName") != name_of(volume) or COMPLETED not in annotations_of(claim):
        marks = {COMPLETED: "yes"} | ({} if wanted.get("volumeName") else {BY_CONTROLLER: "yes"})
        changed = _annotated(claim, marks)
        return [Update(PERSISTENT_VOLUME_CLAIMS, {**changed, "spec": {**wanted, "volumeName": name_of(volume)}})]
    status = claim.get("status") or {}
    bound: dict[str, Any] = {"phase": "Bound", "accessModes": spec.get("accessModes") or []}
    if status.get("phase") != "Bound":
        # Later the two may differ on purpose: a file system is smaller than its device, a change of class is under way.
        bound["capacity"] = spec.get("capacity") or {}
        if spec.get("volumeAttributesClassName"):
            bound["currentVolumeAttributesClassName"] = spec["volumeAttributesClassName"]
    if bound.items() <= status.items():
        return []
    return [Update(PERSISTENT_VOLUME_CLAIMS, {**claim, "status": {**status, **bound}}, "status")]


def decide_volume(volume: Object, claim: Object | None, installed: frozenset[str] = frozenset()) -> Sequence[Step]:
    """Return the volume's next step.

    Args:
        volume: the volume.
        claim: the claim that it names, by namespace and name, if there is one.
        installed: the provisioners that are installed here.
        provisions: whether volumes are made for claims (``--enable-dynamic-provisioning``).
    """
    if (marked := _migrated(volume, (PROVISIONED_BY,), installed)) is not volume:
        return [Update(PERSISTENT_VOLUMES, marked)]
    spec = volume.get("spec") or {}
    reference = spec.get("claimRef") or {}
    if not reference or not reference.get("uid"):
        return _phase(volume, "Available")
    if claim is None or uid_of(claim) != reference["uid"]:
        return _release(volume, installed)
    bound_to = (claim.get("spec") or {}).get("volumeName", "")
    if bound_to == name_of(volume):
        return _phase(volume, "Bound")
    if not bound_to:
        return _mismatch(volume, claim)  # else it is the claim's own next step
    if PROVISIONED_BY in annotations_of(volume) and spec.get("persistentVolumeReclaimPolicy") == "Delete":
        return _release(volume, installed)
    return [Update(PERSISTENT_VOLUMES, unbound(volume))]


def unbound(volume: Object) -> Object:
    """Return the volume free of its claim; what a user bound beforehand stays reserved for the claim's name."""
    spec = volume["spec"]
    if BY_CONTROLLER in annotations_of(volume):
        kept = {key: value for key, value in annotations_of(volume).items() if key != BY_CONTROLLER}
        left = {key: value for key, value in spec.items() if key != "claimRef"}
        return {**volume, "metadata": {**metadata(volume), "annotations": kept}, "spec": left}
    named = {key: value for key, value in spec["claimRef"].items() if key not in {"uid", "resourceVersion"}}
    return {**volume, "spec": {**spec, "claimRef": named}}


def _mismatch(volume: Object, claim: Object) -> list[Step]:
    """Tell of a volume that was reserved for a claim that can never have it."""
    if not mode_mismatches(volume, claim):
        return []
    why = "due to incompatible volumeMode."
    of_volume = f'Cannot bind PersistentVolume to requested PersistentVolumeClaim "{name_of(claim)}" {why}'
    of_claim = f'Cannot bind PersistentVolume "{name_of(volume)}" to requested PersistentVolumeClaim {why}'
    return [Emit(volume, "Warning", "VolumeMismatch", of_volume), Emit(claim, "Warning", "VolumeMismatch", of_claim)]


def _phase(volume: Object, phase: str, message: str = "") -> list[Action]:
    status = volume.get("status") or {}
    if status.get("phase") == phase and status.get("message", "") == message:
        return []
    said = {key: value for key, value in status.items() if key not in {"message", "reason", "lastPhaseTransitionTime"}}
    said |= {"phase": phase} | ({"message": message} if message else {})
    return [Update(PERSISTENT_VOLUMES, {**volume, "status": said}, "status")]


def _release(volume: Object, installed: frozenset[str]) -> Sequence[Step]:
    """Say that the claim is gone, then do with the storage what the policy says."""
    if (volume.get("status") or {}).get("phase") not in {"Released", "Failed"}:
        return _phase(volume, "Released")
    policy = (volume.get("spec") or {}).get("persistentVolumeReclaimPolicy", "Retain")
    if policy == "Recycle":
        return [Recycle(volume)]  # one that has failed, too: later
    if policy == "Retain":
        return []
    if policy != "Delete":
        return failed(volume, "VolumeUnknownReclaimPolicy", "Volume has unrecognized PersistentVolumeReclaimPolicy")
    provisioner = annotations_of(volume).get(PROVISIONED_BY, "")
    if provisioner in installed:
        return [Reclaim(volume)]  # one that has failed, too
    if provisioner:
        return []  # its maker deletes it
    text = f'error getting deleter volume plugin for volume "{name_of(volume)}": no deletable volume plugin matched'
    return failed(volume, "VolumeFailedDelete", text)


def failed(volume: Object, reason: str, text: str) -> list[Action]:
    """Return what says that a volume has failed, once."""
    if (volume.get("status") or {}).get("phase") == "Failed":
        return []
    return [*_phase(volume, "Failed", text), Emit(volume, "Warning", reason, text)]
