"""Validation of webhook configurations.

Source: kubernetes pkg/apis/admissionregistration/validation/validation.go.
"""

from __future__ import annotations

from hyperkube_api.admissionregistration.matching import validate_conditions, validate_rule
from hyperkube_api.meta.validation import by_rule, label_selector
from hyperkube_api.meta.webhook_clients import client_config

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, duplicate, invalid, not_supported, repeated, required
from hyperkube.machinery.objects import Object

_WEBHOOKS = ROOT.child("webhooks")
_CHOICES = (("failurePolicy", ("Fail", "Ignore")), ("matchPolicy", ("Equivalent", "Exact")))


def validate_webhooks(obj: Object) -> list[FieldError]:
    """Check the webhooks of a configuration of either sort."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, webhook in enumerate(obj.get("webhooks") or ()):
        at, name = _WEBHOOKS.index(index), webhook.get("name") or ""
        errors += _webhook(at, webhook)
        errors += _versions(at.child("admissionReviewVersions"), webhook.get("admissionReviewVersions") or [])
        if name and name in seen:
            errors.append(duplicate(at.child("name"), name))
        seen.add(name)
    return errors


def _webhook(path: Path, webhook: Object) -> list[FieldError]:
    name = webhook.get("name") or ""
    errors = (
        [invalid(path.child("name"), name, text) for text in names.fully_qualified_name(name)]
        if name
        else [required(path.child("name"))]
    )
    for index, rule in enumerate(webhook.get("rules") or ()):
        errors += validate_rule(path.child("rules").index(index), rule)
    for member, known in _CHOICES:
        value = webhook.get(member)
        if value is not None and value not in known:
            errors.append(not_supported(path.child(member), value, known))
    effects = webhook.get("sideEffects")
    if effects not in {"None", "NoneOnDryRun"}:
        at = path.child("sideEffects")
        known = ("None", "NoneOnDryRun")
        if effects is None:
            errors.append(required(at, "must specify one of None, NoneOnDryRun"))
        else:
            errors.append(not_supported(at, effects, known))
    timeout = webhook.get("timeoutSeconds")
    if timeout is not None and not 1 <= timeout <= 30:
        text = "the timeout value must be between 1 and 30 seconds"
        errors.append(invalid(path.child("timeoutSeconds"), timeout, text))
    for member in ("namespaceSelector", "objectSelector"):
        errors += label_selector(path.child(member), webhook.get(member))
    again = webhook.get("reinvocationPolicy")
    if again is not None and again not in {"IfNeeded", "Never"}:
        errors.append(not_supported(path.child("reinvocationPolicy"), again, ("IfNeeded", "Never")))
    errors += client_config(path.child("clientConfig"), webhook.get("clientConfig") or {})
    return errors + validate_conditions(path.child("matchConditions"), webhook.get("matchConditions"))


def _versions(path: Path, versions: list[str]) -> list[FieldError]:
    known = {"v1", "v1beta1"}
    if not versions:
        return [required(path, "must specify one of v1, v1beta1")]
    errors: list[FieldError] = []
    again = dict(repeated(versions))
    for index, version in enumerate(versions):
        if index in again:
            errors.append(invalid(path.index(index), version, "duplicate version"))
            continue
        errors += by_rule(path.index(index), version, names.dns1035_label)
    if not known & set(versions):
        errors.append(invalid(path, versions, "must include at least one of v1, v1beta1"))
    return errors
