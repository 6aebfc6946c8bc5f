"""Warnings about the specification of a Job.

Source: kubernetes pkg/api/job/warnings.go.
"""

from __future__ import annotations

from hyperkube_api.core.pod_specs.warnings import template_warnings

from hyperkube.machinery.objects import Object

_HIGH_COMPLETIONS = 10**5
_HIGH_PARALLELISM = 10**4


def job_warnings(spec: Object, path: str) -> list[str]:
    """Return the warnings about a Job's specification at a path."""
    found: list[str] = []
    high = (spec.get("completions") or 0) > _HIGH_COMPLETIONS and (spec.get("parallelism") or 0) > _HIGH_PARALLELISM
    if spec.get("completionMode") == "Indexed" and high:
        found.append(
            f"{path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than "
            "10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        )
    return found + template_warnings(spec.get("template"), f"{path}.template", None)
