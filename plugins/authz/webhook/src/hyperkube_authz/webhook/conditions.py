"""Match conditions: which questions a webhook is asked at all, by expressions over the SubjectAccessReview.

Source: kubernetes apiserver ``pkg/authorization/cel/{compile,matcher}.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from hyperkube_authz.webhook.reviews import selectors_of
from hyperkube_lib.cel import CompilationFailed, EvaluationError, Program, base_environment
from hyperkube_lib.cel.environment import Environment
from hyperkube_lib.cel.types import BOOL, STRING, list_of, map_of, output_name, struct

from hyperkube.hookspecs.authz import Attributes
from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.field import FieldError, Path, duplicate, invalid, required, too_many

MOST_CONDITIONS = 64
_TEXTS = list_of(STRING)
_REQUIREMENT = struct("kubernetes.SelectorRequirement", {"key": STRING, "operator": STRING, "values": _TEXTS})
_SELECTOR = {"rawSelector": STRING, "requirements": list_of(_REQUIREMENT)}
_NAMES = ("namespace", "verb", "group", "version", "resource", "subresource", "name")
_RESOURCE = struct(
    "kubernetes.ResourceAttributes",
    {
        **dict.fromkeys(_NAMES, STRING),
        "fieldSelector": struct("kubernetes.FieldSelectorAttributes", _SELECTOR),
        "labelSelector": struct("kubernetes.LabelSelectorAttributes", _SELECTOR),
    },
)
_REQUEST = struct(
    "kubernetes.SubjectAccessReviewSpec",
    {
        "resourceAttributes": _RESOURCE,
        "nonResourceAttributes": struct("kubernetes.NonResourceAttributes", {"path": STRING, "verb": STRING}),
        "user": STRING,
        "groups": _TEXTS,
        "extra": map_of(STRING, _TEXTS),
        "uid": STRING,
    },
)


class ConditionFailed(HyperkubeError):
    """A condition has no answer, and no other one says no: the failure policy decides."""


@lru_cache(1)
def _environment() -> Environment:
    return base_environment({"request": _REQUEST})


def compile_conditions(path: Path, rows: Sequence[Any]) -> tuple[tuple[Program, ...], list[FieldError]]:
    """Return the conditions of a webhook, and what is wrong with them."""
    if len(rows) > MOST_CONDITIONS:
        return (), [too_many(path, len(rows), MOST_CONDITIONS)]
    programs: list[Program] = []
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, row in enumerate(rows):
        at, source = path.index(index).child("expression"), str((row or {}).get("expression") or "")
        if not source.strip():
            errors.append(required(at))
        elif source in seen:
            errors.append(duplicate(at, source))
        else:
            try:
                program = _environment().compile(source)
            except CompilationFailed as error:
                errors.append(invalid(at, source, f"compilation failed: {error}"))
            else:
                programs.append(program)
                if program.result != BOOL:
                    got = output_name(program.result)
                    errors.append(invalid(at, source, f"must evaluate to bool but got {got}"))
        seen.add(source)
    return tuple(programs), errors


def shown(attributes: Attributes) -> dict[str, Any]:
    """Return what a user wants to do as expressions see it: with all texts, also the empty ones."""
    user = attributes.user
    extra = {key: list(values) for key, values in (user.extra or {}).items()}
    request: dict[str, Any] = {"user": user.name, "groups": list(user.groups), "uid": user.uid, "extra": extra}
    if attributes.is_resource:
        request["resourceAttributes"] = {name: getattr(attributes, name) for name in _NAMES} | selectors_of(attributes)
    else:
        request["nonResourceAttributes"] = {"path": attributes.path, "verb": attributes.verb}
    return request


def all_hold(conditions: Sequence[Program], attributes: Attributes) -> bool:
    """Tell whether a webhook is to be asked; one condition that says no outweighs those without an answer.

    Raises:
        ConditionFailed: one has no answer, and none says no.
    """
    names = {"request": shown(attributes)}
    failures = []
    for condition in conditions:
        try:
            if condition.evaluate(names) is not True:
                return False
        except EvaluationError as error:
            failures.append(f"cel evaluation error: expression '{condition.source}' resulted in error: {error}")
    if failures:
        raise ConditionFailed(aggregate(failures))
    return True
