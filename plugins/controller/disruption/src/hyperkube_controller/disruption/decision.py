"""The status of a PodDisruptionBudget, and which disruptions were announced and did not come.

Source: kubernetes ``pkg/controller/disruption/disruption.go`` (trySync, failSafe, updatePdbStatus).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from hyperkube_lib.go_strings import label_selector_string

from hyperkube.client.actions import Action, Again, Emit, Update
from hyperkube.kinds.conditions import condition, with_condition
from hyperkube.kinds.pods import DISRUPTION_TARGET, is_ready, is_terminal
from hyperkube.kinds.resources import POD_DISRUPTION_BUDGETS
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.intstr import is_percent, scaled
from hyperkube.machinery.objects import Object, is_being_deleted, metadata, name_of, namespace_of
from hyperkube.machinery.times import parse_time

DELETION_TIMEOUT = timedelta(seconds=120)
STALE_DISRUPTION_TIMEOUT = timedelta(seconds=120)
_BY_KUBELET = "TerminationByKubelet"
_UNMANAGED = (
    "Pods selected by this PodDisruptionBudget (selector: {}) were found to be unmanaged. As a result, the status of "
    "the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please "
    'set ".spec.minAvailable" field of the PDB to an integer value.'
)


@dataclass(frozen=True, slots=True)
class Scale:
    """How many pods the controllers of the selected pods are to have, and whether pods without one are among them."""

    replicas: int = 0
    has_unmanaged: bool = False


@dataclass(frozen=True, slots=True)
class Observed:
    """A budget, the pods that it selects, the scale of their controllers where that matters, and the time."""

    budget: Object
    pods: Sequence[Object]
    scale: Scale
    now: datetime


def counts_controllers(budget: Object) -> bool:
    """Tell whether the budget is a share of what the controllers of its pods are to have."""
    spec = budget.get("spec") or {}
    return spec.get("maxUnavailable") is not None or is_percent(spec.get("minAvailable") or 0)


def needed(observed: Observed) -> tuple[int, int]:
    """Return (expected pods, healthy pods that must stay)."""
    spec, replicas = observed.budget.get("spec") or {}, observed.scale.replicas
    if spec.get("maxUnavailable") is not None:
        spare = scaled(spec["maxUnavailable"], replicas, round_up=True)
        return replicas, max(0, replicas - spare)
    least = spec.get("minAvailable")
    if least is None:
        return 0, 0
    if is_percent(least):
        return replicas, scaled(least, replicas, round_up=True)
    return len(observed.pods), int(least)


def decide(observed: Observed) -> list[Action]:
    """Return the status that is due, what to tell, and when an announced disruption has been waited for long enough."""
    budget, now = observed.budget, observed.now
    actions: list[Action] = []
    if not observed.pods:
        actions.append(Emit(budget, "Normal", "NoPods", "No matching pods found"))
    if observed.scale.has_unmanaged:
        selector = label_selector_string((budget.get("spec") or {}).get("selector"))
        actions.append(Emit(budget, "Warning", "UnmanagedPods", _UNMANAGED.format(selector)))
    announced, overdue = _disrupted(observed)
    # The namespace twice, as upstream has it.
    where = f"{namespace_of(budget)}/{namespace_of(budget)}"
    text = f"Pod was expected by PDB {where} to be deleted but it wasn't"
    actions += [Emit(pod, "Warning", "NotDeleted", text) for pod in overdue]
    healthy = sum(
        is_ready(pod) and not is_being_deleted(pod) and name_of(pod) not in announced for pod in observed.pods
    )
    expected, must_stay = needed(observed)
    # None is expected while no pod is: the first pods would else be let go before this controller has seen them.
    allowed = max(0, healthy - must_stay) if expected > 0 else 0
    status = budget.get("status") or {}
    generation = metadata(budget).get("generation")
    reason = "SufficientPods" if allowed else "InsufficientPods"
    allowed_now: Object = {"type": "DisruptionAllowed", "status": str(bool(allowed)), "reason": reason, "message": ""}
    allowed_now["observedGeneration"] = generation
    fresh = {
        "observedGeneration": generation,
        "disruptionsAllowed": allowed,
        "currentHealthy": healthy,
        "desiredHealthy": must_stay,
        "expectedPods": expected,
        "conditions": with_condition(status.get("conditions") or [], allowed_now, now),
    } | ({"disruptedPods": announced} if announced else {})
    if fresh != status:
        actions.append(Update(POD_DISRUPTION_BUDGETS, {**budget, "status": fresh}, "status"))
    ends = [parse_time(moment) + DELETION_TIMEOUT for moment in announced.values()]
    return actions + [Again((end - now).total_seconds()) for end in ends]


def _disrupted(observed: Observed) -> tuple[dict[str, str], list[Object]]:
    """Return the announced disruptions that may still come, and the pods for which one is overdue."""
    announced: dict[str, str] = {}
    overdue: list[Object] = []
    disrupted = (observed.budget.get("status") or {}).get("disruptedPods") or {}
    for pod in observed.pods:
        moment = disrupted.get(name_of(pod))
        if moment is None or is_being_deleted(pod):
            continue
        if parse_time(moment) + DELETION_TIMEOUT <= observed.now:
            overdue.append(pod)
        else:
            announced[name_of(pod)] = moment
    return announced, overdue


def fail_safe(budget: Object, error: str, now: datetime) -> list[Action]:
    """Return the status when the budget cannot be computed: nothing may go, and why."""
    status = budget.get("status") or {}
    sync_failed = {
        "type": "DisruptionAllowed",
        "status": "False",
        "reason": "SyncFailed",
        "message": error,
        "observedGeneration": status.get("observedGeneration", 0),
    }
    conditions = with_condition(status.get("conditions") or [], sync_failed, now)
    failed = {**status, "disruptionsAllowed": 0, "conditions": conditions}
    return [] if failed == status else [Update(POD_DISRUPTION_BUDGETS, {**budget, "status": failed}, "status")]


def stale_disruption(pod: Object, now: datetime) -> float | None:
    """Return the seconds until a disruption that did not come is taken back; None if there is nothing to take back.

    What the kubelet announces may take as long as it takes, and what has ended needs no truth about the future.
    """
    found = condition(pod.get("status") or {}, DISRUPTION_TARGET)
    if found is None or found.get("status") != "True" or found.get("reason") == _BY_KUBELET:
        return None
    if is_being_deleted(pod) or is_terminal(pod):
        return None
    since = parse_time(found["lastTransitionTime"]) if found.get("lastTransitionTime") else now
    return max(0.0, (since + STALE_DISRUPTION_TIMEOUT - now).total_seconds())


def without_disruption(pod: Object, now: datetime) -> Object:
    """Return the pod with its condition DisruptionTarget set to False."""
    status = pod.get("status") or {}
    taken_back = {"type": DISRUPTION_TARGET, "status": "False"}
    return {**pod, "status": {**status, "conditions": with_condition(status["conditions"], taken_back, now)}}
