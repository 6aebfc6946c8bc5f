"""Which pods make room for a critical one.

As few as possible, of as little importance as possible: those of the class BestEffort first, then Burstable, then
Guaranteed; among equals those that ask for least.

Source: kubernetes ``pkg/kubelet/preemption/preemption.go``, ``pkg/kubelet/types/pod_update.go`` (Preemptable).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hyperkube_host.kubelet.qos.policy import is_critical
from hyperkube_host.kubelet.types.pod_status import Failure

from hyperkube.kinds.pods import disruption_target, pod_requests, priority_of
from hyperkube.kinds.qos import BEST_EFFORT, BURSTABLE, GUARANTEED, qos_class
from hyperkube.machinery.objects import Object

PREEMPTED = Failure("Preempting", "Preempted in order to admit critical pod")
DISRUPTION = disruption_target("TerminationByKubelet", "Pod was preempted by Kubelet to accommodate a critical pod.")
Shortages = Mapping[str, int]
"""Resource → how much is missing: CPU in thousandths, pods as their number, all else in its own unit."""


def is_preemptable(preemptor: Object, pod: Object) -> bool:
    """Tell whether a pod may be stopped for another one."""
    if is_critical(preemptor) and not is_critical(pod):
        return True
    return "priority" in preemptor["spec"] and "priority" in pod["spec"] and priority_of(preemptor) > priority_of(pod)


def victims(preemptor: Object, pods: Iterable[Object], shortages: Shortages) -> list[Object] | None:
    """Return the pods to stop, so that nothing is missing; None when not even all that may be stopped are enough."""
    classes: dict[str, list[Object]] = {BEST_EFFORT: [], BURSTABLE: [], GUARANTEED: []}
    for pod in pods:
        if is_preemptable(preemptor, pod):
            classes[qos_class(pod)].append(pod)
    best_effort, burstable, guaranteed = classes[BEST_EFFORT], classes[BURSTABLE], classes[GUARANTEED]
    if _left(shortages, [*best_effort, *burstable, *guaranteed]):
        return None
    # Each class gives only what the others cannot, if they gave all: the class of most importance is asked first.
    from_guaranteed = _nearest(guaranteed, _left(shortages, [*best_effort, *burstable]))
    from_burstable = _nearest(burstable, _left(shortages, [*best_effort, *from_guaranteed]))
    from_best_effort = _nearest(best_effort, _left(shortages, [*from_burstable, *from_guaranteed]))
    return [*from_best_effort, *from_burstable, *from_guaranteed]


def requested(pod: Object, resource: str) -> int:
    """Return how much a pod asks for, in the unit of `Shortages`."""
    if resource == "pods":
        return 1
    amount = pod_requests(pod).get(resource)
    if amount is None:
        return 0
    return amount.milli_value() if resource == "cpu" else amount.value()


def _left(shortages: Shortages, pods: Sequence[Object]) -> Shortages:
    """Return what is still missing once these pods are gone."""
    missing = {name: amount - sum(requested(pod, name) for pod in pods) for name, amount in shortages.items()}
    return {name: amount for name, amount in missing.items() if amount > 0}


def _nearest(pods: Sequence[Object], shortages: Shortages) -> list[Object]:
    """Choose pods one by one, each time the one that comes nearest to what is missing."""
    left, chosen = list(pods), list[Object]()
    while shortages and left:
        best = min(left, key=lambda pod: (_distance(pod, shortages), requested(pod, "memory"), requested(pod, "cpu")))
        left.remove(best)
        chosen.append(best)
        shortages = _left(shortages, [best])
    return chosen


def _distance(pod: Object, shortages: Shortages) -> float:
    """Return how far a pod is from giving all that is missing: resources count by the share that stays open."""
    missing = ((amount, amount - requested(pod, name)) for name, amount in shortages.items())
    return sum((rest / amount) ** 2 for amount, rest in missing if rest > 0)
