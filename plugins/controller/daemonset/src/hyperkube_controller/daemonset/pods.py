"""The pods of a daemon set: which node each is for, where one should run, and what it is made of.

The scheduler binds the pods; the controller aims each at its node by an affinity to the node's name.
Sources: kubernetes ``pkg/controller/daemon/util/daemonset_util.go``, ``pkg/controller/daemon/daemon_controller.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hyperkube_lib.revisions import HASH_LABEL

from hyperkube.kinds import taints, workloads
from hyperkube.kinds.node_selectors import NAME_FIELD, fits_required_affinity
from hyperkube.kinds.pods import is_terminal, spec_of
from hyperkube.machinery.objects import (
    Object,
    annotations_of,
    copy_object,
    is_being_deleted,
    labels_of,
    metadata,
    name_of,
)

TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
"""Annotation of daemon sets: the generation of their template as extensions/v1beta1 counted it."""
TEMPLATE_GENERATION_LABEL = "pod-template-generation"

_ALWAYS_TOLERATED = (
    (taints.NOT_READY, taints.NO_EXECUTE),
    (taints.UNREACHABLE, taints.NO_EXECUTE),
    (taints.DISK_PRESSURE, taints.NO_SCHEDULE),
    (taints.MEMORY_PRESSURE, taints.NO_SCHEDULE),
    (taints.PID_PRESSURE, taints.NO_SCHEDULE),
    (taints.UNSCHEDULABLE, taints.NO_SCHEDULE),
)

PodsByNode = dict[str, list[Object]]


def tolerations_of(template: Object) -> list[Object]:
    """Return the tolerations of the set's pods: the template's, and what a daemon always tolerates."""
    spec = template.get("spec") or {}
    added = list(_ALWAYS_TOLERATED)
    if spec.get("hostNetwork"):
        added.append((taints.NETWORK_UNAVAILABLE, taints.NO_SCHEDULE))
    made = [{"key": key, "operator": "Exists", "effect": effect} for key, effect in added]
    # One that replaces another of the same key, operator, value and effect stands where that one stood.
    kept = list(spec.get("tolerations") or [])
    for toleration in made:
        same = [place for place, known in enumerate(kept) if _matches(known, toleration)]
        if same:
            kept[same[0]] = toleration
        else:
            kept.append(toleration)
    return kept


def _matches(one: Object, other: Object) -> bool:
    parts = {"key": "", "operator": "", "value": "", "effect": ""}
    return all(one.get(part, default) == other.get(part, default) for part, default in parts.items())


def node_should_run_daemon_pod(daemon_set: Object, node: Object) -> tuple[bool, bool]:
    """Return (should run there, may go on running there) for the set's pod on a node."""
    template = (daemon_set.get("spec") or {}).get("template") or {}
    spec = template.get("spec") or {}
    if spec.get("nodeName") and spec["nodeName"] != name_of(node):
        return False, False
    if not fits_required_affinity(spec, name_of(node), labels_of(node)):
        return False, False
    present: Sequence[Object] = (node.get("spec") or {}).get("taints") or []
    if not present:  # of thousands of nodes nearly all, and each sync asks for all of them
        return True, True
    tolerated = tolerations_of(template)
    if taints.untolerated(present, tolerated, taints.keeps_off) is None:
        return True, True
    evicting = taints.untolerated(present, tolerated, lambda taint: taint.get("effect") == taints.NO_EXECUTE)
    return False, evicting is None


def node_of(pod: Object) -> str:
    """Return the node that the pod is on or aims at."""
    spec = spec_of(pod)
    if spec.get("nodeName"):
        return str(spec["nodeName"])
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or []:
        for entry in term.get("matchFields") or []:
            if entry.get("key") == NAME_FIELD and len(entry.get("values") or []) == 1:
                return str(entry["values"][0])
    return ""


def pods_by_node(pods: Iterable[Object]) -> PodsByNode:
    """Return the pods of each node; those that ended and are being deleted are no concern of the set's any more."""
    found: PodsByNode = {}
    for pod in pods:
        if not (is_terminal(pod) and is_being_deleted(pod)):
            found.setdefault(node_of(pod), []).append(pod)
    return found


def by_age(pods: Iterable[Object]) -> list[Object]:
    """Return the pods with a node first, then the oldest first, then by name."""
    return sorted(
        pods,
        key=lambda pod: (not spec_of(pod).get("nodeName"), metadata(pod).get("creationTimestamp", ""), name_of(pod)),
    )


def is_updated(daemon_set: Object, pod: Object, digest: str) -> bool:
    """Tell whether the pod is of the set's present template."""
    labels = labels_of(pod)
    generation = annotations_of(daemon_set).get(TEMPLATE_GENERATION, "")
    is_same_generation = generation.isdecimal() and labels.get(TEMPLATE_GENERATION_LABEL) == generation
    return is_same_generation or (bool(digest) and labels.get(HASH_LABEL) == digest)


def pod_of(daemon_set: Object, node: str, digest: str) -> Object:
    """Return the pod for a node."""
    reference = workloads.controller_reference(daemon_set, "apps/v1", "DaemonSet")
    template = (daemon_set.get("spec") or {}).get("template") or {}
    pod = workloads.pod_from_template(template, daemon_set, reference)
    generation = annotations_of(daemon_set).get(TEMPLATE_GENERATION)
    marks = {HASH_LABEL: digest} | ({TEMPLATE_GENERATION_LABEL: generation} if generation else {})
    pod["metadata"]["labels"] = {**labels_of(pod), **marks}
    spec = pod["spec"]
    spec["tolerations"] = tolerations_of(template)
    # The node was chosen by the template's own terms: from here on its name says all.
    aim = [{"matchFields": [{"key": NAME_FIELD, "operator": "In", "values": [node]}]}]
    affinity = copy_object(spec.get("affinity") or {})
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": aim}}
    affinity["nodeAffinity"] = {**(affinity.get("nodeAffinity") or {}), **required}
    spec["affinity"] = affinity
    return pod
