"""The pods of a stateful set: their ordinals, what each is made of, how each stands.

Source: kubernetes ``pkg/controller/statefulset/stateful_set_utils.go``.
"""

from __future__ import annotations

from hyperkube_lib.revisions import HASH_LABEL, template_of

from hyperkube.kinds import workloads
from hyperkube.kinds.pods import spec_of
from hyperkube.machinery.objects import Object, labels_of, name_of

_MAX_ORDINAL = 2**31 - 1
POD_NAME_LABEL, POD_INDEX_LABEL = "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"


def ordinal_of(stateful_set: Object, pod: Object) -> int:
    """Return the number at the end of the pod's name, or -1 when the name is not the set's."""
    parent, _, number = name_of(pod).rpartition("-")
    is_member = parent == name_of(stateful_set) and number.isascii() and number.isdecimal()
    return int(number) if is_member and int(number) <= _MAX_ORDINAL else -1


def ordinals(stateful_set: Object) -> range:
    """Return the ordinals that the set is to have pods for."""
    spec = stateful_set.get("spec") or {}
    start = (spec.get("ordinals") or {}).get("start", 0)
    return range(start, start + spec.get("replicas", 1))


def revision_of(pod: Object) -> str:
    """Return the name of the revision that the pod was made of; empty if it has none."""
    return labels_of(pod).get(HASH_LABEL, "")


def partition(stateful_set: Object) -> int:
    """Return how many of the first pods an update leaves alone."""
    rolling = ((stateful_set.get("spec") or {}).get("updateStrategy") or {}).get("rollingUpdate") or {}
    return int(rolling.get("partition") or 0)


def is_rolling(stateful_set: Object) -> bool:
    """Tell whether the set's pods are replaced by themselves after a change of the template."""
    strategy = (stateful_set.get("spec") or {}).get("updateStrategy") or {}
    return bool(strategy.get("type") != "OnDelete")


def revision_for(stateful_set: Object, ordinal: int, current: Object, update: Object) -> Object:
    """Return the revision of which a pod of the ordinal is to be made now."""
    position = ordinal - ordinals(stateful_set).start
    strategy = (stateful_set.get("spec") or {}).get("updateStrategy") or {}
    if strategy.get("type") == "RollingUpdate" and strategy.get("rollingUpdate") is None:
        kept = (stateful_set.get("status") or {}).get("currentReplicas", 0)
    else:
        kept = partition(stateful_set)
    return current if position < kept else update


def pod_of(stateful_set: Object, ordinal: int, revision: Object) -> Object:
    """Return the pod of an ordinal, of the template that the revision keeps."""
    reference = workloads.controller_reference(stateful_set, "apps/v1", "StatefulSet")
    name = f"{name_of(stateful_set)}-{ordinal}"
    pod = workloads.pod_from_template(template_of(revision), stateful_set, reference, name=name)
    pod["metadata"]["labels"] = {**labels_of(pod), HASH_LABEL: name_of(revision)}
    pod["spec"]["hostname"] = name
    if (stateful_set.get("spec") or {}).get("serviceName"):
        pod["spec"]["subdomain"] = stateful_set["spec"]["serviceName"]
    return conformed(stateful_set, pod) or pod


def conformed(stateful_set: Object, pod: Object) -> Object | None:
    """Return the pod with the labels and volumes of its identity, or None when it has them."""
    from hyperkube_controller.statefulset.claims import claim_names

    ordinal = ordinal_of(stateful_set, pod)
    labels = {**labels_of(pod), POD_NAME_LABEL: name_of(pod), POD_INDEX_LABEL: str(ordinal)}
    names = claim_names(stateful_set, ordinal)
    volumes = spec_of(pod).get("volumes") or []
    claimed = {each.get("name"): (each.get("persistentVolumeClaim") or {}).get("claimName") for each in volumes}
    changed = dict(pod)
    if labels_of(pod).get(POD_NAME_LABEL) != name_of(pod) or POD_INDEX_LABEL not in labels_of(pod):
        changed["metadata"] = {**pod["metadata"], "labels": labels}
    if any(claimed.get(volume) != claim for volume, claim in names.items()):
        own = [{"name": volume, "persistentVolumeClaim": {"claimName": claim}} for volume, claim in names.items()]
        others = [volume for volume in volumes if volume.get("name") not in names]
        changed["spec"] = {**spec_of(pod), "volumes": [*own, *others]}
    return changed if changed != pod else None
