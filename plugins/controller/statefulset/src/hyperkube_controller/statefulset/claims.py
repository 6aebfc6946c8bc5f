"""The volume claims of a stateful set's pods: what they are, and who owns them.

By ``persistentVolumeClaimRetentionPolicy`` a claim outlives all, goes with the set (which then is its owner), or goes
when the set scales down below its pod (which then is its owner).
Source: kubernetes ``pkg/controller/statefulset/stateful_set_utils.go`` (isClaimOwnerUpToDate and what it calls).
"""

from __future__ import annotations

from hyperkube.kinds.workloads import controller_reference
from hyperkube.machinery.objects import (
    Object,
    copy_object,
    metadata,
    name_of,
    namespace_of,
    owners_of,
    uid_of,
)

_SET, _POD = ("apps/v1", "StatefulSet"), ("v1", "Pod")


def claim_names(stateful_set: Object, ordinal: int) -> dict[str, str]:
    """Return the claim of each claim template for one ordinal: ``{template: template-set-ordinal}``."""
    templates = (stateful_set.get("spec") or {}).get("volumeClaimTemplates") or []
    return {name_of(entry): f"{name_of(entry)}-{name_of(stateful_set)}-{ordinal}" for entry in templates}


def claims_of(stateful_set: Object, ordinal: int) -> list[Object]:
    """Return the volume claims that the pod of an ordinal needs, to be created."""
    made = []
    names = claim_names(stateful_set, ordinal)
    selected = ((stateful_set.get("spec") or {}).get("selector") or {}).get("matchLabels") or {}
    for template in (stateful_set.get("spec") or {}).get("volumeClaimTemplates") or []:
        claim = copy_object({key: value for key, value in template.items() if key != "status"})
        meta = {key: value for key, value in metadata(claim).items() if key in {"annotations", "labels"}}
        meta |= {"name": names[name_of(template)], "namespace": namespace_of(stateful_set)}
        meta["labels"] = {**(meta.get("labels") or {}), **selected}
        made.append({**claim, "kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": meta})
    return made


def _policy(stateful_set: Object) -> tuple[bool, bool]:
    """Return whether claims are deleted (with the set, with pods that the set scales down)."""
    policy = (stateful_set.get("spec") or {}).get("persistentVolumeClaimRetentionPolicy") or {}
    return policy.get("whenDeleted") == "Delete", policy.get("whenScaled") == "Delete"


def deletes_when_scaled(stateful_set: Object) -> bool:
    """Tell whether claims go with the pods that the set scales down."""
    return _policy(stateful_set)[1]


def _refers(reference: Object, owner: Object, kind: tuple[str, str]) -> bool:
    """Tell whether the reference means an object of that kind and name, be it this one or an earlier one."""
    return (reference.get("apiVersion"), reference.get("kind")) == kind and reference.get("name") == name_of(owner)


def has_stale_owner(claim: Object, owner: Object, kind: tuple[str, str] = _POD) -> bool:
    """Tell whether the claim belongs to an earlier object of the owner's name."""
    found = next((each for each in owners_of(claim) if _refers(each, owner, kind)), None)
    return found is not None and found.get("uid") != uid_of(owner)


def _owns(owner: Object, claim: Object) -> bool:
    return any(each.get("uid") == uid_of(owner) for each in owners_of(claim))


def has_unexpected_controller(claim: Object, stateful_set: Object, pod: Object) -> bool:
    """Tell whether something else, or an earlier set or pod, controls a claim that the policy would delete."""
    if not any(_policy(stateful_set)):
        return False
    for reference in owners_of(claim):
        for owner, kind in ((stateful_set, _SET), (pod, _POD)):
            if _refers(reference, owner, kind):
                if reference.get("uid") != uid_of(owner):
                    return True
                break
        else:
            if reference.get("controller"):
                return True
    return False


def is_claim_owner_up_to_date(claim: Object, stateful_set: Object, pod: Object, *, scaled_down: bool) -> bool:
    """Tell whether the claim has the owners that the policy asks for.

    A claim of an earlier set or pod of the name is left to the garbage collector: it counts as up to date.
    """
    if has_stale_owner(claim, stateful_set, _SET) or has_stale_owner(claim, pod, _POD):
        return True
    by_set, by_pod = _owns(stateful_set, claim), _owns(pod, claim)
    if has_unexpected_controller(claim, stateful_set, pod):
        return not by_set and not by_pod
    own = {uid_of(stateful_set), uid_of(pod)}
    if any(each.get("uid") in own and not each.get("controller") for each in owners_of(claim)):
        return False
    return (by_set, by_pod) == _wanted_owners(stateful_set, scaled_down=scaled_down)


def _wanted_owners(stateful_set: Object, *, scaled_down: bool) -> tuple[bool, bool]:
    """Return whether (the set, the pod) is to own the claim."""
    when_deleted, when_scaled = _policy(stateful_set)
    return when_deleted and not (when_scaled and scaled_down), when_scaled and scaled_down


def update_claim_owners(claim: Object, stateful_set: Object, pod: Object, *, scaled_down: bool) -> Object:
    """Return the claim with the owners that the policy asks for, other ones kept."""
    kept = [each for each in owners_of(claim) if not _refers(each, stateful_set, _SET) and not _refers(each, pod, _POD)]
    if not has_unexpected_controller(claim, stateful_set, pod):
        by_set, by_pod = _wanted_owners(stateful_set, scaled_down=scaled_down)
        if by_set:
            kept.append(controller_reference(stateful_set, *_SET))
        if by_pod:
            kept.append(controller_reference(pod, *_POD))
    return {**claim, "metadata": {**metadata(claim), "ownerReferences": kept}}
