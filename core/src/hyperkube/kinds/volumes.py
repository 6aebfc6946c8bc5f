"""Pure functions on a pod's volumes, on claims and on storage classes.

Sources: kubernetes component-helpers ``storage/ephemeral/ephemeral.go`` and ``storage/volume/helpers.go``,
``pkg/volume/util/storageclass.go``.
"""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube.kinds.pods import spec_of
from hyperkube.machinery.objects import Object, annotations_of, controller_of, metadata, name_of, namespace_of, uid_of

BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
"""The annotation by which claims and volumes once named their class; it goes before the field."""
_DEFAULT_CLASS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


def claim_name(pod: Object, volume: Object) -> str | None:
    """Return the name of the claim that a volume of the pod stands for, or None if it stands for none.

    An ephemeral volume has a claim of its own, named after the pod and the volume.
    """
    if (claim := volume.get("persistentVolumeClaim")) is not None:
        return str(claim.get("claimName") or "")
    return f"{name_of(pod)}-{volume.get('name', '')}" if volume.get("ephemeral") is not None else None


def claim_names(pod: Object) -> list[tuple[str, bool]]:
    """Return the names of the pod's claims, and which of them are made for its ephemeral volumes."""
    return [
        (name, volume.get("persistentVolumeClaim") is None)
        for volume in spec_of(pod).get("volumes") or ()
        if (name := claim_name(pod, volume)) is not None
    ]


def claim_keys(pod: Object) -> tuple[str, ...]:
    """Return the keys of the pod's claims: an index of pods by claim."""
    return tuple([f"{namespace_of(pod)}/{name}" for name, _ in claim_names(pod)])


def not_made_for(claim: Object, pod: Object) -> str:
    """Return upstream's complaint about a claim that has an ephemeral volume's name but was made for something else."""
    owner = controller_of(claim)
    if owner is not None and owner.get("uid") == uid_of(pod):
        return ""
    claimed, asking = (f"{namespace_of(each)}/{name_of(each)}" for each in (claim, pod))
    return f"PVC {claimed} was not created for pod {asking} (pod is not owner)"


def class_name(obj: Object) -> str:
    """Return the name of a claim's or volume's storage class, empty for none."""
    beta = annotations_of(obj).get(BETA_CLASS)
    return str(beta if beta is not None else (obj.get("spec") or {}).get("storageClassName") or "")


def leaves_class_open(claim: Object) -> bool:
    """Tell whether a claim says nothing about its class; an empty name is a choice."""
    return (claim.get("spec") or {}).get("storageClassName") is None and BETA_CLASS not in annotations_of(claim)


def is_default_class(storage_class: Object) -> bool:
    """Tell whether a storage class is marked as default."""
    return any(annotations_of(storage_class).get(mark) == "true" for mark in _DEFAULT_CLASS)


def newest(classes: Iterable[Object]) -> Object | None:
    """Return the class that was created last, of several the first by name; None if there is none.

    Of several classes that are marked as default, this is the one that counts.
    """
    by_name = sorted(classes, key=name_of)
    return max(by_name, key=lambda one: str(metadata(one).get("creationTimestamp") or ""), default=None)
