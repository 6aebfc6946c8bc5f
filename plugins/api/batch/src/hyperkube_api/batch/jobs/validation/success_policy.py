"""Validation of the success policy of a Job, and the notation of sets of indexes.

Source: kubernetes pkg/apis/batch/validation/validation.go.
"""

from __future__ import annotations

import re

from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.validation import counts

from hyperkube.machinery.field import FieldError, Path, invalid, quote, required, too_long, too_many
from hyperkube.machinery.intstr import parse_int
from hyperkube.machinery.objects import Object

MAX_RULES = 20
MAX_TEXT = 65536
_NUMBER = re.compile(r"\+?[0-9]+")


def success_policy(path: Path, spec: Object) -> list[FieldError]:
    """Check the success policy, which only an indexed job may have."""
    policy = spec.get("successPolicy")
    if policy is None:
        return []
    if spec.get("completionMode") != "Indexed":
        shown = go_shape("hyperkube_api.batch.v1:SuccessPolicy", policy)
        return [invalid(path, shown, "requires indexed completion mode")]
    rules, at = policy.get("rules") or [], path.child("rules")
    errors: list[FieldError] = []
    if not rules:
        errors.append(required(at, "at least one rules must be specified when the successPolicy is specified"))
    if len(rules) > MAX_RULES:
        errors.append(too_many(at, len(rules), MAX_RULES))
    for index, rule in enumerate(rules):
        errors += _rule(at.index(index), rule, spec.get("completions") or 0)
    return errors


def _rule(path: Path, rule: Object, completions: int) -> list[FieldError]:
    indexes, count = rule.get("succeededIndexes"), rule.get("succeededCount")
    errors: list[FieldError] = []
    if indexes is None and count is None:
        text = "at least one of succeededCount or succeededIndexes must be specified"
        errors.append(required(path, text))
    total = 0
    if indexes is not None:
        at = path.child("succeededIndexes")
        if len(indexes) > MAX_TEXT:
            errors.append(too_long(at, MAX_TEXT))
        try:
            total = count_indexes(indexes, completions)
        except IndexesUnreadable as error:
            errors.append(invalid(at, indexes, f"error parsing succeededIndexes: {error}"))
    if count is not None:
        errors += counts(path, rule, "succeededCount")
        limits = [(completions, "the number of specified completions")]
        if indexes is not None:
            limits.append((total, "the number of indexes in the specified succeededIndexes field"))
        errors += [
            invalid(path.child("succeededCount"), count, f"must be less than or equal to {limit} ({what})")
            for limit, what in limits
            if count > limit
        ]
    return errors


class IndexesUnreadable(ValueError):
    """A text is no list of indexes in increasing order below the number of completions."""


def count_indexes(text: str, completions: int) -> int:
    """Return how many indexes a text names.

    Raises:
        IndexesUnreadable: it is not in the form, names one that is too large, or is out of order.
    """
    total, last = 0, None
    for part in text.split(",") if text else ():
        first, end = interval(part, completions)
        if last is not None and last >= first:
            raise IndexesUnreadable(f"non-increasing order, previous: {last}, current: {first}")
        total += end - first + 1
        last = end
    return total


def interval(text: str, completions: int) -> tuple[int, int]:
    """Return the first and the last index that one part of a text names.

    Raises:
        IndexesUnreadable: it is not in the form, or names an index that is too large.
    """
    limits = text.split("-")
    if len(limits) > 2:
        raise IndexesUnreadable(
            f"the fragment {quote(text)} violates the requirement that an index interval can have at most two parts "
            "separated by '-'"
        )
    found = [_index(limit, completions) for limit in limits]
    if len(found) == 2 and found[0] >= found[1]:
        raise IndexesUnreadable(f"non-increasing order, previous: {found[0]}, current: {found[1]}")
    return found[0], found[-1]


def _index(text: str, completions: int) -> int:
    if not _NUMBER.fullmatch(text):
        raise IndexesUnreadable(f"cannot convert string to integer for index: {quote(text)}")
    index = parse_int(text)
    if index is None:
        raise IndexesUnreadable(f"cannot convert string to integer for index: {quote(text)}")
    if index >= completions:
        raise IndexesUnreadable(f"too large index: {quote(text)}")
    return index


def overlap(completed: str, failed: str, completions: int) -> int | None:
    """Return an index that two texts both name, None if there is none; parts that cannot be read do not count."""
    for first, end in _readable(completed, completions):
        for other, last in _readable(failed, completions):
            if first <= last and other <= end:
                return max(first, other)
    return None


def _readable(text: str, completions: int) -> list[tuple[int, int]]:
    found = []
    for part in text.split(",") if text else ():
        try:
            found.append(interval(part, completions))
        except IndexesUnreadable:
            continue
    return found
