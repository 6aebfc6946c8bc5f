"""What an autoscaler does about its target now, and what it says.

Source: kubernetes ``pkg/controller/podautoscaler/horizontal.go`` (reconcileAutoscaler).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from datetime import datetime

from hyperkube_controller.horizontalpodautoscaling.metric_sources import BadSelector, Failure, Proposal
from hyperkube_controller.horizontalpodautoscaling.normalize import History, normalize_desired_replicas

from hyperkube.kinds.conditions import with_condition
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object

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


@dataclass(frozen=True, slots=True)
class Moment:
    """The wall time, for conditions; the monotonic seconds, for the history; the window downwards of those without."""

    now: datetime
    seconds: float
    stabilization: float = 300.0


def set_condition(status: Object, now: datetime, kind: str, value: str, reason: str, message: str) -> None:
    """Put a condition into a status."""
    condition = {"type": kind, "status": value, "reason": reason, "message": message}
    status["conditions"] = with_condition(status.get("conditions") or [], condition, now)


def decide(
    autoscaler: Object,
    current: int,
    found: Sequence[Proposal | Failure] | BadSelector,
    history: History,
    moment: Moment,
) -> Decision:
    """Return what to do.

    Args:
        autoscaler: the HorizontalPodAutoscaler, v2.
        current: the replicas that the target is to have now.
        found: for each metric what it asks for, or why that is not known; or what is wrong with the target's selector.
        history: what was recommended and done lately; the recommendation of now is added to it.
        moment: when this is.
    """
    spec, now = autoscaler["spec"], moment.now
    given = spec.get("minReplicas")
    least, most = 1 if given is None else given, spec["maxReplicas"]
    status = dict(autoscaler.get("status") or {})
    status.pop("currentMetrics", None)
    status["currentReplicas"] = current
    decision = Decision(status)
    set_condition(status, now, "AbleToScale", "True", *GOT_SCALE)
    desired = current
    history.begin(moment.seconds, current)
    if current == 0 and least:
        set_condition(status, now, "ScalingActive", "False", *ZERO)
    elif current > most:
        desired, decision.reason = most, "Current number of replicas above Spec.MaxReplicas"
    elif current < least:
        desired, decision.reason = least, "Current number of replicas below Spec.MinReplicas"
    else:
        wanted = _wanted(decision, found, current, now) if not isinstance(found, BadSelector) else None
        if isinstance(found, BadSelector):
            set_condition(status, now, "ScalingActive", "False", found.condition_reason, found.condition)
            decision.events.append(("Warning", found.reason, found.message))
            decision.events.append(("Warning", "FailedComputeMetricsReplicas", found.message))
        if wanted is None:
            status.setdefault("desiredReplicas", 0)  # what is not known changes nothing
            return decision
        window = moment.stabilization
        normalized = normalize_desired_replicas(spec, current, wanted.replicas, history, moment.seconds, window)
        for condition in normalized.conditions:
            set_condition(status, now, *condition)
        desired = normalized.replicas
        # The reason is that of the metrics, also where the bounds make it the opposite.
        decision.reason = _reason(wanted, current)
    status["desiredReplicas"] = desired
    decision.replicas = desired if desired != current else None
    return decision


def _reason(wanted: Proposal, current: int) -> str:
    if wanted.replicas > current:
        return f"{wanted.name} above target"
    return "All metrics below target" if wanted.replicas < current else ""


def _wanted(decision: Decision, found: Sequence[Proposal | Failure], current: int, now: datetime) -> Proposal | None:
    """Return the highest proposal; None when none can be had, or when fewer are proposed and one is not known."""
    proposals = [each for each in found if isinstance(each, Proposal)]
    failures = [each for each in found if isinstance(each, Failure)]
    # A metric that is not known has its place, without a type.
    decision.status["currentMetrics"] = [each.current if isinstance(each, Proposal) else {"type": ""} for each in found]
    decision.events += [("Warning", failure.reason, failure.message) for failure in failures]
    best = max(proposals, key=lambda each: each.replicas, default=None)
    if best is None or (failures and best.replicas < current):
        first = failures[0]
        text = f"the HPA was unable to compute the replica count: {first.message}"
        set_condition(decision.status, now, "ScalingActive", "False", first.reason, text)
        decision.events.append(("Warning", "FailedComputeMetricsReplicas", _summary(failures, len(found))))
        return None
    text = f"the HPA was able to successfully calculate a replica count from {best.name}"
    set_condition(decision.status, now, "ScalingActive", "True", "ValidMetricFound", text)
    return best


def _summary(failures: Sequence[Failure], metrics: int) -> str:
    return f"invalid metrics ({len(failures)} invalid out of {metrics}), first error is: {failures[0].summary}"
