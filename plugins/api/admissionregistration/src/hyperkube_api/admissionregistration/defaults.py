"""Defaults of webhooks and admission policies; in place and idempotent.

Source: kubernetes pkg/apis/admissionregistration/v1/defaults.go.
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object

HTTPS_PORT = 443


def _set(holder: Object, **values: object) -> None:
    for name, value in values.items():
        if holder.get(name) is None:
            holder[name] = value


def default_webhooks(configuration: Object) -> None:
    """Fill in a webhook configuration of either sort."""
    mutating = configuration.get("kind") == "MutatingWebhookConfiguration"
    for webhook in configuration.get("webhooks") or ():
        _set(
            webhook,
            failurePolicy="Fail",
            matchPolicy="Equivalent",
            namespaceSelector={},
            objectSelector={},
            timeoutSeconds=10,
        )
        if mutating:
            _set(webhook, reinvocationPolicy="Never")
        service = (webhook.get("clientConfig") or {}).get("service")
        if service is not None:
            _set(service, port=HTTPS_PORT)
        _default_rules(webhook.get("rules"))


def default_policy(policy: Object) -> None:
    """Fill in a validating or mutating admission policy."""
    spec = policy["spec"]
    _set(spec, failurePolicy="Fail")
    default_match(spec.get("matchConstraints"))


def default_policy_binding(binding: Object) -> None:
    """Fill in the binding of an admission policy."""
    default_match(binding["spec"].get("matchResources"))


def default_match(match: Object | None) -> None:
    """Fill in what a policy matches, if it says so."""
    if match is None:
        return
    _set(match, matchPolicy="Equivalent", namespaceSelector={}, objectSelector={})
    _default_rules(match.get("resourceRules"))
    _default_rules(match.get("excludeResourceRules"))


def _default_rules(rules: list[Object] | None) -> None:
    for rule in rules or ():
        _set(rule, scope="*")
