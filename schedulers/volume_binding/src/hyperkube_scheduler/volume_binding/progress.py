"""How the binding of a pod's volumes comes along: done, not yet, or failed for a reason.

Source: kubernetes ``pkg/scheduler/framework/plugins/volumebinding/binder.go`` (checkBindings).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hyperkube_lib.scheduling.claims import Claims, is_bound
from hyperkube_scheduler.volume_binding.matching import is_reachable_from
from hyperkube_scheduler.volume_binding.plans import SELECTED_NODE, Plan

from hyperkube.machinery.objects import Object, annotations_of, key_of, name_of, namespace_of

_Misses = Callable[[Object], str]


def progress(plan: Plan, node: str, labels: Mapping[str, str] | None, known: Claims) -> tuple[bool, str]:
    """Tell whether all is bound, and if not, why it never will be; an empty text means that it may still be.

    Args:
        plan: what was asked for, with the objects as they were stored.
        node: the node's name.
        labels: the node's labels; None if they are unknown, and then they are not looked at.
        known: where to look up what became of it.
    """
    csi_node = known.csi_node(node)

    def misses(volume: Object) -> str:
        if labels is None or is_reachable_from(volume, node, labels, csi_node):
            return ""
        return f'pv "{name_of(volume)}" node affinity doesn\'t match node "{node}": no matching NodeSelectorTerms'

    for claim, asked in plan.joined:
        done, why = _joined(claim, asked, known, misses)
        if not done:
            return False, why
    for claim in plan.provisioned:
        done, why = _provisioned(claim, node, known, misses)
        if not done:
            return False, why
    return True, ""


def _joined(claim: Object, asked: Object, known: Claims, misses: _Misses) -> tuple[bool, str]:
    volume = known.volume(name_of(asked))
    if volume is None:
        return False, f"failed to check binding: {_missing('PersistentVolume', name_of(asked))}"
    now = known.claim(namespace_of(claim), name_of(claim))
    if now is None:
        return False, f"failed to check binding: {_missing('PersistentVolumeClaim', key_of(claim))}"
    if _version(volume) < _version(asked):
        return False, ""
    why = misses(volume)
    if why:
        return False, why
    if not (volume["spec"].get("claimRef") or {}).get("uid"):
        return False, f'ClaimRef got reset for pv "{name_of(volume)}"'
    return is_bound(now), ""


def _provisioned(claim: Object, node: str, known: Claims, misses: _Misses) -> tuple[bool, str]:
    now = known.claim(namespace_of(claim), name_of(claim))
    if now is None:
        return False, f"failed to check provisioning pvc: {_missing('PersistentVolumeClaim', key_of(claim))}"
    if _version(now) < _version(claim):
        return False, ""
    if now["metadata"].get("annotations") is None:
        return False, f'selectedNode annotation reset for PVC "{name_of(claim)}"'
    if annotations_of(now).get(SELECTED_NODE) != node:
        return False, f'provisioning failed for PVC "{name_of(claim)}"'
    bound_to = now["spec"].get("volumeName")
    if bound_to:
        volume = known.volume(bound_to)
        if volume is None:
            return False, ""
        why = misses(volume)
        if why:
            return False, why
    return is_bound(now), ""


def _missing(kind: str, name: str) -> str:
    return f'could not find v1.{kind} "{name}": object not found'


def _version(obj: Object) -> int:
    return int(obj["metadata"].get("resourceVersion") or 0)
