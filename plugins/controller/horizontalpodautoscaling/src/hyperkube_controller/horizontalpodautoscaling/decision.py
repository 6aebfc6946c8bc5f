"""What an autoscaler does about its target now, and what it says.

Source: kubernetes ``pkg/controller/podautoscaler/horizontal.go`` (reconcileAutoscaler).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from hyperkube_controller.horizontalpodautoscaling.limits import History, bound
from hyperkube_controller.horizontalpodautoscaling.usage import NoMetric, Proposal

from hyperkube.kinds.conditions import with_condition
from hyperkube.machinery.objects import Object, metadata

GOT_SCALE = ("SucceededGetScale", "the HPA controller was able to get the target's current scale")
ZERO = ("ScalingDisabled", "scaling is disabled since the replica count of the target is zero")


@dataclass(slots=True)
class Decision:
    """What to do.

    Attributes:
        status: the autoscaler's new status, but for what a change of the target adds.
        replicas: what the target is to have, or None to leave it.
        reason: why, for the event.
        events: (type, reason, message) about the autoscaler.
    """

    status: Object
    replicas: int | None = None
    reason: str = ""
    events: list[tuple[str, str, str]] = field(default_factory=list)


def say(status: Object, now: datetime, kind: str, value: str, reason: str, message: str) -> None:
    """Put a condition into a status."""
    said = {"type": kind, "status": value, "reason": reason, "message": message}
    status["conditions"] = with_condition(status.get("conditions") or [], said, now)


def decide(
    autoscaler: Object,
    current: int,
    found: Sequence[Proposal | NoMetric],
    history: History,
    now: datetime,
    seconds: float,
) -> Decision:
    """Return what to do.

    Args:
        autoscaler: the HorizontalPodAutoscaler, v2.
        current: the replicas that the target is to have now.
        found: for each metric what it asks for, or why that is not known.
        history: what was recommended and done lately; the recommendation of now is added to it.
        now: the wall time, for conditions.
        seconds: the monotonic time, for the history.
    """
    spec = autoscaler["spec"]
    least, most = spec.get("minReplicas") or 1, spec["maxReplicas"]
    status = dict(autoscaler.get("status") or {})
    status |= {"observedGeneration": metadata(autoscaler).get("generation", 1), "currentReplicas": current}
    decision = Decision(status)
    say(status, now, "AbleToScale", "True", *GOT_SCALE)
    desired = current
    if current == 0:
        desired = 0
        say(status, now, "ScalingActive", "False", *ZERO)
    elif current > most:
        desired, decision.reason = most, "Current number of replicas above Spec.MaxReplicas"
    elif current < least:
        desired, decision.reason = least, "Current number of replicas below Spec.MinReplicas"
    else:
        wanted = _wanted(decision, found, current, now)
        if wanted is None:
            status["desiredReplicas"] = current  # what is not known changes nothing
            return decision
        history.recommended.append((seconds, wanted.replicas))
        bounded = bound(spec, current, wanted.replicas, history, seconds)
        for condition in bounded.conditions:
            say(status, now, *condition)
        desired = bounded.replicas
        above = f"{wanted.name} above target"
        decision.reason = above if desired > current else "All metrics below target"
    status["desiredReplicas"] = desired
    decision.replicas = desired if desired != current else None
    return decision


def _wanted(decision: Decision, found: Sequence[Proposal | NoMetric], current: int, now: datetime) -> Proposal | None:
    """Return the highest proposal; None when none can be had, or when fewer are proposed and one is not known."""
    proposals = [each for each in found if isinstance(each, Proposal)]
    failures = [each for each in found if isinstance(each, NoMetric)]
    decision.status["currentMetrics"] = [each.current for each in proposals]
    decision.events += [("Warning", failure.reason, str(failure)) for failure in failures]
    best = max(proposals, key=lambda each: each.replicas, default=None)
    if best is None or (failures and best.replicas < current):
        first = failures[0]
        text = f"the HPA was unable to compute the replica count: {first}"
        say(decision.status, now, "ScalingActive", "False", first.reason, text)
        summary = f"invalid metrics ({len(failures)} invalid out of {len(found)}), first error is: {first}"
        decision.events.append(("Warning", "FailedComputeMetricsReplicas", summary))
        return None
    text = f"the HPA was able to successfully calculate a replica count from {best.name}"
    say(decision.status, now, "ScalingActive", "True", "ValidMetricFound", text)
    return best
