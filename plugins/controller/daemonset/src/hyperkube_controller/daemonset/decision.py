"""Which nodes get a pod and which pods go, but for updates.

Source: kubernetes ``pkg/controller/daemon/daemon_controller.go`` (manage, podsShouldBeOnNode).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from hyperkube_controller.daemonset.observed import Observed
from hyperkube_controller.daemonset.pods import by_age, node_should_run_daemon_pod
from hyperkube_controller.daemonset.rolling_update import max_surge
from hyperkube_lib.revisions import HASH_LABEL

from hyperkube.kinds.pods import is_ready, phase, spec_of
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, is_being_deleted, labels_of, name_of, namespace_of


@dataclass(slots=True)
class Decision:
    """Nodes that need a pod, pods that have to go, and what to say about them: (type, reason, message)."""

    create: list[str] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)
    events: list[tuple[str, str, str]] = field(default_factory=list)


def manage(observed: Observed) -> Decision:
    """Return which nodes get a pod and which pods go: misplaced, doubled and ended ones."""
    decision = Decision()
    known = {name_of(node) for node in observed.nodes}
    for node in observed.nodes:
        _manage_node(observed, node, decision)
    # Pods that run on a node that is gone are the pod garbage collector's; nothing schedules one that aims at it.
    decision.delete += [
        pod
        for name, there in observed.by_node.items()
        if name not in known
        for pod in there
        if not spec_of(pod).get("nodeName") and not is_being_deleted(pod)
    ]
    return decision


def _manage_node(observed: Observed, node: Object, decision: Decision) -> None:
    should, may_stay = node_should_run_daemon_pod(observed.daemon_set, node)
    there = observed.by_node.get(name_of(node), [])
    living = [pod for pod in there if not is_being_deleted(pod)]
    if not may_stay:
        decision.delete += living
        return
    if should and not there:
        decision.create.append(name_of(node))
        return
    running = by_age(pod for pod in living if not _is_over(observed, node, pod, decision))
    if not max_surge(observed.daemon_set, 1):
        decision.delete += running[1:]
    elif not running and should:
        # While surging, a pod that is being deleted does not keep the next one waiting.
        decision.create.append(name_of(node))
    else:
        decision.delete += _beyond_surge(observed, running)


def _is_over(observed: Observed, node: Object, pod: Object, decision: Decision) -> bool:
    """Tell whether the pod ended; if so, have it deleted, a failed one when its node's back-off allows."""
    about = f"daemon pod {namespace_of(pod)}/{name_of(pod)} on node {name_of(node)}"
    if phase(pod) == "Failed":
        if observed.may_replace(name_of(node)):
            decision.events.append(("Warning", "FailedDaemonPod", f"Found failed {about}, will try to kill it"))
            decision.delete.append(pod)
        return True
    if phase(pod) == "Succeeded":
        decision.events.append(("Normal", "SucceededDaemonPod", f"Found succeeded {about}, will try to delete it"))
        decision.delete.append(pod)
        return True
    return False


def _beyond_surge(observed: Observed, running: Sequence[Object]) -> list[Object]:
    """Return the pods too many while surging.

    One of the present template and one of an older one may be there, until the new one is available or the old one is
    no longer ready.
    """
    new = [pod for pod in running if labels_of(pod).get(HASH_LABEL) == observed.digest]
    old = [pod for pod in running if labels_of(pod).get(HASH_LABEL) != observed.digest]
    going = new[1:] + old[1:]
    if new and old and (not is_ready(old[0]) or observed.is_available(new[0])):
        going.append(old[0])
    return going
