"""Eviction: delete a pod, unless that leaves a disruption budget short.

Source: kubernetes pkg/registry/core/pod/storage/eviction.go.
"""

from __future__ import annotations

from datetime import datetime

from hyperkube.hookspecs.api import Call
from hyperkube.kinds.conditions import with_condition
from hyperkube.kinds.pods import disruption_target, is_active, is_ready, phase
from hyperkube.kinds.resources import POD_DISRUPTION_BUDGETS, PODS
from hyperkube.machinery.errors import ApiError, BadRequest, Forbidden, TooManyRequests
from hyperkube.machinery.labels import from_label_selector
from hyperkube.machinery.objects import Object, labels_of, metadata
from hyperkube.machinery.times import format_time

SUCCESS: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
MAX_DISRUPTED_PODS = 2000
TWO_BUDGETS = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
ALWAYS_ALLOW = "AlwaysAllow"


def evict(call: Call) -> Object:
    """Delete the pod in the path if its budget allows and return a Success status.

    Raises:
        TooManyRequests: the budget would be broken, or has not been observed yet.
        ApiError: more than one budget covers the pod, or the dry run of the request is not that of the eviction.
        Invalid: the options are none.
    """
    eviction = call.body or {}
    name = metadata(eviction).get("name")
    if name != call.name:
        raise BadRequest("name in URL does not match name in Eviction object")
    options = _delete_options(call, eviction)
    dry_run = bool(options.get("dryRun"))
    pod = call.objects.get(PODS, call.name, call.namespace)
    if not _can_ignore_budgets(pod):
        _decrement_budget(call, pod, dry_run=dry_run)
    if not dry_run:
        _add_disruption_target(call)
    options.setdefault("preconditions", {}).setdefault("uid", metadata(pod).get("uid"))
    call.objects.delete(PODS, call.name, call.namespace, options=options)
    return dict(SUCCESS)


def _delete_options(call: Call, eviction: Object) -> Object:
    """Return the options of the eviction, with the dry run of the request."""
    options: Object = dict(eviction.get("deleteOptions") or {})
    asked, own = ["All"] if call.dry_run else [], options.get("dryRun") or []
    if asked and own and asked != own:
        text = "Non-matching dry-run options in request and content"
        raise ApiError(f"{text}: [{' '.join(asked)}] and [{' '.join(own)}]")
    if asked or own:
        options["dryRun"] = own or asked
    return options


def _can_ignore_budgets(pod: Object) -> bool:
    """A pod that is finished, not yet running or already going does not count as available."""
    return not is_active(pod) or phase(pod) == "Pending"


def _add_disruption_target(call: Call) -> None:
    """Add the condition DisruptionTarget, by which a Job's failure policy tells an eviction from a failure."""
    target = {**disruption_target("EvictionByEvictionAPI", "Eviction API: evicting"), "lastProbeTime": None}

    def add_condition(pod: Object) -> Object:
        status = pod.setdefault("status", {})
        status["conditions"] = with_condition(status.get("conditions") or (), target, call.clock.now())
        return pod

    call.objects.change(PODS, call.name, call.namespace, add_condition)


def _decrement_budget(call: Call, pod: Object, *, dry_run: bool) -> None:
    labels = labels_of(pod)
    budgets = [
        budget
        for budget in call.objects.list(POD_DISRUPTION_BUDGETS, call.namespace)
        if (budget.get("spec") or {}).get("selector") is not None
        and from_label_selector(budget["spec"]["selector"]).matches(labels)
    ]
    if len(budgets) > 1:
        raise ApiError(TWO_BUDGETS)
    if not budgets:
        return
    budget = budgets[0]
    if not is_ready(pod) and _may_evict_unhealthy(budget):
        return
    now = call.clock.now()

    def decrement(current: Object) -> Object:
        return _check_and_decrement(current, call.name, now)

    call.objects.change(POD_DISRUPTION_BUDGETS, metadata(budget)["name"], call.namespace, decrement, dry_run=dry_run)


def _may_evict_unhealthy(budget: Object) -> bool:
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == ALWAYS_ALLOW:
        return True
    status = budget.get("status") or {}
    return bool(status.get("currentHealthy", 0) >= status.get("desiredHealthy", 0) > 0)


def _check_and_decrement(budget: Object, pod_name: str, now: datetime) -> Object:
    name = metadata(budget)["name"]
    status = budget.setdefault("status", {})
    if status.get("observedGeneration", 0) < metadata(budget).get("generation", 0):
        cause = {
            "reason": "DisruptionBudget",
            "message": f"The disruption budget {name} is still being processed by the server.",
        }
        raise TooManyRequests(
            "Cannot evict pod as it would violate the pod's disruption budget.",
            retry_after_seconds=10,
            details={"causes": [cause]},
        )
    allowed = status.get("disruptionsAllowed", 0)
    if allowed < 0:
        raise Forbidden.about(POD_DISRUPTION_BUDGETS.group_resource, name, "pdb disruptions allowed is negative")
    disrupted = status.get("disruptedPods") or {}
    if len(disrupted) > MAX_DISRUPTED_PODS:
        raise Forbidden.about(
            POD_DISRUPTION_BUDGETS.group_resource,
            name,
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
        )
    if allowed == 0:
        needed, healthy = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
        message = f"The disruption budget {name} needs {needed} healthy pods and has {healthy} currently"
        raise TooManyRequests(
            "Cannot evict pod as it would violate the pod's disruption budget.",
            retry_after_seconds=0,
            details={"causes": [{"reason": "DisruptionBudget", "message": message}]},
        )
    status["disruptionsAllowed"] = allowed - 1
    status["disruptedPods"] = {**disrupted, pod_name: format_time(now)}
    if allowed == 1:
        _set_disruption_not_allowed(status, now)
    return budget


def _set_disruption_not_allowed(status: Object, now: datetime) -> None:
    exhausted = {
        "type": "DisruptionAllowed",
        "status": "False",
        "observedGeneration": status.get("observedGeneration") or 0,
        "reason": "InsufficientPods",
        "message": "",
    }
    status["conditions"] = with_condition(status.get("conditions") or (), exhausted, now)
