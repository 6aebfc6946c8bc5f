"""DeviceTaintRules: which devices a rule taints, and what its status says of the evictions.

They count where the feature gate DRADeviceTaintRules is on, which it is not unless asked for.
Source: kubernetes ``pkg/controller/devicetainteviction/device_taint_eviction.go`` (maybeUpdateRuleStatus).
"""

from __future__ import annotations

from datetime import datetime

from hyperkube_lib.scheduling.device_taints import selects, taint_of

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, metadata
from hyperkube.machinery.times import format_time, parse_time

RULES_GATE = "DRADeviceTaintRules"
NO_EXECUTE, NO_EFFECT = "NoExecute", "None"
IN_PROGRESS = "EvictionInProgress"
STATUS_SECONDS = 10.0
"""The shortest time between two changes of a rule's status, unless the rule itself has changed."""
_ONCE = (
    "if the effect was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to trigger"
    " an update."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCounts:
    """What a rule's status counts.

    Attributes:
        published: devices in slices that the rule selects.
        allocated: devices of claims that it selects.
        pods: pods that are to be evicted because of it, or would be.
        namespaces: of these pods.
        evicted: pods that were, since the controller started.
    """

    published: int = 0
    allocated: int = 0
    pods: int = 0
    namespaces: int = 0
    evicted: int = 0


def selects_any(rule: Object, results: list[Object]) -> bool:
    """Tell whether a rule taints one of a claim's devices."""
    return any(selects(rule, row["driver"], row["pool"], row["device"]) for row in results)


def condition_in(rule: Object) -> Object | None:
    """Return the condition that tells of the evictions, if there is one."""
    conditions = (rule.get("status") or {}).get("conditions") or ()
    return next((each for each in conditions if each.get("type") == IN_PROGRESS), None)


def seconds_left(rule: Object, now: datetime) -> float:
    """Return for how long the status stays as it is: it was written lately, and for this generation of the rule."""
    told = condition_in(rule)
    if told is None or told.get("observedGeneration") != metadata(rule).get("generation"):
        return 0.0
    return STATUS_SECONDS - (now - parse_time(told["lastTransitionTime"])).total_seconds()


def with_condition(rule: Object, counts: RuleCounts, now: datetime) -> list[Object] | None:
    """Return the rule's conditions with what the counts say, None if that is what they say already."""
    status, reason, message = _told(taint_of(rule).get("effect", ""), counts)
    if counts.evicted:
        evicted = f"{_number(counts.evicted, 'pod')} evicted since starting the controller."
        message = f"{message} {evicted}" if message else evicted
    new = {
        "type": IN_PROGRESS,
        "status": status,
        "observedGeneration": metadata(rule).get("generation", 0),
        "reason": reason,
        "message": message,
    }
    old = condition_in(rule)
    if old is not None and {**old, **new} == old:
        return None
    others = [each for each in (rule.get("status") or {}).get("conditions") or () if each.get("type") != IN_PROGRESS]
    return [*others, {**new, "lastTransitionTime": format_time(now)}]


def _told(effect: str, counts: RuleCounts) -> tuple[str, str, str]:
    """Return status, reason and message."""
    places = "1 namespace" if counts.namespaces == 1 else f"{counts.namespaces} different namespaces"
    if effect == NO_EXECUTE:
        if counts.pods:
            need = "needs" if counts.pods == 1 else "need"
            return "True", "PodsPendingEviction", f"{_number(counts.pods, 'pod')} {need} to be evicted in {places}."
        return "False", "Completed" if counts.evicted else "NotStarted", ""
    if effect == NO_EFFECT:
        published = _number(counts.published, "published device")
        allocated = _number(counts.allocated, "allocated device")
        would = f"{_number(counts.pods, 'pod')} would be evicted in {places} {_ONCE}"
        return "False", "NoEffect", f"{published} selected. {allocated} selected. {would}"
    return "False", "OtherEffect", "Eviction only happens for the NoExecute effect."


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
