"""What a KubeSchedulerConfiguration cannot say, beside its sets of plugins, whose reader refuses what is wrong there.

Source: kubernetes ``pkg/scheduler/apis/config/validation/validation.go`` (ValidateKubeSchedulerConfiguration).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.field import ROOT, FieldError, Path, duplicate, invalid, repeated
from hyperkube.machinery.objects import Object

FIRST_BACKOFF, LONGEST_BACKOFF = 1, 10
"""Seconds, where a configuration says nothing."""
_ALL = 100


def validate(obj: Object) -> None:
    """Refuse a configuration that cannot be.

    Raises:
        UsageError: what is wrong with it, in one line: a problem, or a list of problems in brackets.
    """
    problems = [
        *_positive(ROOT.child("parallelism"), obj.get("parallelism"), "should be an integer value greater than zero"),
        *_percentage(ROOT.child("percentageOfNodesToScore"), obj.get("percentageOfNodesToScore")),
        *_profiles(ROOT.child("profiles"), obj.get("profiles") or ()),
        *_backoff(obj),
        *_extenders(ROOT.child("extenders"), obj.get("extenders") or ()),
    ]
    if problems:
        raise UsageError(aggregate(problems))


def _number(path: Path, value: Any) -> Iterator[FieldError]:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        yield invalid(path, value, "must be a number")


def _positive(path: Path, value: Any, detail: str) -> Iterator[FieldError]:
    wrong = list(_number(path, value))
    yield from wrong
    if value is not None and not wrong and value <= 0:
        yield invalid(path, value, detail)


def _percentage(path: Path, value: Any) -> Iterator[FieldError]:
    wrong = list(_number(path, value))
    yield from wrong
    if value is not None and not wrong and not 0 <= value <= _ALL:
        yield invalid(path, value, "not in valid range [0-100]")


def _profiles(path: Path, profiles: Sequence[Object]) -> Iterator[FieldError]:
    for index, profile in enumerate(profiles):
        at = path.index(index)
        yield from _percentage(at.child("percentageOfNodesToScore"), profile.get("percentageOfNodesToScore"))
        names = [given.get("name") for given in profile.get("pluginConfig") or ()]
        for twice, name in repeated(names):
            yield duplicate(at.child("pluginConfig").index(twice), name)


def _backoff(obj: Object) -> Iterator[FieldError]:
    first, longest = obj.get("podInitialBackoffSeconds"), obj.get("podMaxBackoffSeconds")
    first_path, longest_path = ROOT.child("podInitialBackoffSeconds"), ROOT.child("podMaxBackoffSeconds")
    wrong = [*_positive(first_path, first, "must be greater than 0"), *_number(longest_path, longest)]
    yield from wrong
    first = FIRST_BACKOFF if first is None else first
    longest = LONGEST_BACKOFF if longest is None else longest
    if not wrong and longest < first:
        yield invalid(longest_path, longest, "must be greater than or equal to PodInitialBackoffSeconds")


def _extenders(path: Path, extenders: Sequence[Object]) -> Iterator[FieldError]:
    managed: set[str] = set()
    for index, extender in enumerate(extenders):
        at, weight = path.index(index), extender.get("weight") or 0
        if extender.get("prioritizeVerb") and weight <= 0:
            yield invalid(at.child("weight"), weight, "must have a positive weight applied to it")
        for place, resource in enumerate(extender.get("managedResources") or ()):
            name = resource.get("name", "")
            if name in managed:
                name_path = at.child("managedResources").index(place).child("name")
                yield invalid(name_path, name, "duplicate extender managed resource name")
            managed.add(name)
    binders = sum(bool(extender.get("bindVerb")) for extender in extenders)
    if binders > 1:
        yield invalid(path, f"found {binders} extenders implementing bind", "only one extender can implement bind")
