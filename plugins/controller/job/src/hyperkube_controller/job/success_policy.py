"""When an indexed job has succeeded early: the first rule of its success policy that the finished indexes meet.

Source: kubernetes ``pkg/controller/job/success_policy.go``.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from hyperkube_controller.job.indexes import read_indexes

from hyperkube.machinery.objects import Object


def match_success_policy(job: Object, succeeded: AbstractSet[int]) -> str:
    """Return the message of the rule that is met by the indexes that succeeded, or the empty string."""
    spec = job.get("spec") or {}
    rules = (spec.get("successPolicy") or {}).get("rules") or []
    if not succeeded:
        return ""
    for position, rule in enumerate(rules):
        if _is_met(rule, succeeded, spec.get("completions") or 0):
            return f"Matched rules at index {position}"
    return ""


def _is_met(rule: Object, succeeded: AbstractSet[int], completions: int) -> bool:
    count, named = rule.get("succeededCount"), rule.get("succeededIndexes")
    if named is None:
        return count is not None and len(succeeded) >= count
    required = read_indexes(named, completions)
    if not required:
        return False
    met = len(required & succeeded)
    return met == len(required) or (count is not None and met >= count)
