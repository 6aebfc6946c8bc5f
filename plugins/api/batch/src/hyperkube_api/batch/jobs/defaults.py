"""Defaults of Jobs; in place and idempotent.

Source: kubernetes pkg/apis/batch/v1/defaults.go.
"""

from __future__ import annotations

from hyperkube_api.core.pod_specs.defaults import default_template

from hyperkube.machinery.objects import Object

NO_LIMIT = 2**31 - 1
"""The back-off limit of a job whose indexes have limits of their own."""


def default_job(job: Object) -> None:
    """Fill in a job."""
    spec = job["spec"]
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = spec["parallelism"] = 1
    if spec.get("parallelism") is None:
        spec["parallelism"] = 1
    if spec.get("backoffLimit") is None:
        spec["backoffLimit"] = 6 if spec.get("backoffLimitPerIndex") is None else NO_LIMIT
    template: Object = spec.get("template") or {}
    if spec.get("completionMode") is None:
        spec["completionMode"] = "NonIndexed"
    for flag in ("suspend", "manualSelector"):
        if spec.get(flag) is None:
            spec[flag] = False
    if spec.get("podReplacementPolicy") is None:
        spec["podReplacementPolicy"] = "TerminatingOrFailed" if spec.get("podFailurePolicy") is None else "Failed"
    default_pod_failure_policy(spec)
    default_template(template)


def default_pod_failure_policy(spec: Object) -> None:
    """Fill in the status of the conditions that a pod failure policy matches."""
    for rule in (spec.get("podFailurePolicy") or {}).get("rules") or ():
        for pattern in rule.get("onPodConditions") or ():
            if not pattern.get("status"):
                pattern["status"] = "True"
