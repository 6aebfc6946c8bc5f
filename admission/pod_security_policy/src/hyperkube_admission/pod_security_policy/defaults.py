"""What a policy fills in where a pod says nothing.

Source: kubernetes 1.20 ``pkg/security/podsecuritypolicy/provider.go`` (MutatePod) and its strategies.
"""

from __future__ import annotations

from typing import Any

from hyperkube.kinds.pods import containers, spec_of
from hyperkube.machinery.objects import Object, copy_object


def effective(pod: Object, container: Object, member: str) -> Any:
    """Return a setting of a container: its own, or else the pod's."""
    own = (container.get("securityContext") or {}).get(member)
    return own if own is not None else (spec_of(pod).get("securityContext") or {}).get(member)


def first_id(options: Object | None) -> int | None:
    """Return the id that a rule fills in, or None when it fills nothing in."""
    table = options or {}
    ranges = table.get("ranges") or ()
    return int(ranges[0].get("min", 0)) if table.get("rule") == "MustRunAs" and ranges else None


def fill_in(policy: Object, pod: Object) -> None:
    """Complete a pod, in place, as a policy wants it."""
    rules, spec = spec_of(policy), spec_of(pod)
    context = spec.get("securityContext") or {}
    group, further = first_id(rules.get("fsGroup")), first_id(rules.get("supplementalGroups"))
    if context.get("supplementalGroups") is None and further is not None:
        context = {**context, "supplementalGroups": [further]}
    if context.get("fsGroup") is None and group is not None:
        context = {**context, "fsGroup": group}
    labels = _labels(rules)
    if context.get("seLinuxOptions") is None and labels is not None:
        context = {**context, "seLinuxOptions": labels}
    if context:
        spec["securityContext"] = context
    classes = rules.get("runtimeClass") or {}
    if spec.get("runtimeClassName") is None and classes.get("defaultRuntimeClassName"):
        spec["runtimeClassName"] = classes["defaultRuntimeClassName"]
    for container in containers(pod):
        _fill_in_container(rules, pod, container)


def _labels(rules: Object) -> Object | None:
    options = rules.get("seLinux") or {}
    labels = options.get("seLinuxOptions")
    return copy_object(labels) if options.get("rule") == "MustRunAs" and labels is not None else None


def _fill_in_container(rules: Object, pod: Object, container: Object) -> None:
    found: Object = {}
    for member, rule in (("runAsUser", "runAsUser"), ("runAsGroup", "runAsGroup")):
        number = first_id(rules.get(rule))
        if effective(pod, container, member) is None and number is not None:
            found[member] = number
    labels = _labels(rules)
    if effective(pod, container, "seLinuxOptions") is None and labels is not None:
        found["seLinuxOptions"] = labels
    silent = effective(pod, container, "runAsNonRoot") is None and effective(pod, container, "runAsUser") is None
    if silent and "runAsUser" not in found and (rules.get("runAsUser") or {}).get("rule") == "MustRunAsNonRoot":
        found["runAsNonRoot"] = True
    own = container.get("securityContext") or {}
    capabilities = _capabilities(rules, own.get("capabilities"))
    if capabilities != own.get("capabilities"):
        found["capabilities"] = capabilities
    if rules.get("readOnlyRootFilesystem") and own.get("readOnlyRootFilesystem") is None:
        found["readOnlyRootFilesystem"] = True
    escalates = _escalation(rules)
    if own.get("allowPrivilegeEscalation") is None and escalates is not None:
        found["allowPrivilegeEscalation"] = escalates
    if found:
        container["securityContext"] = {**own, **found}


def _escalation(rules: Object) -> bool | None:
    default: bool | None = rules.get("defaultAllowPrivilegeEscalation")
    return False if default is None and not rules.get("allowPrivilegeEscalation", True) else default


def _capabilities(rules: Object, given: Object | None) -> Object | None:
    """Return a container's capabilities with those that are always added and dropped; the given ones if none are."""
    table = given or {}
    added, dropped = table.get("add") or [], table.get("drop") or []
    more = [one for one in rules.get("defaultAddCapabilities") or () if one not in dropped and one not in added]
    less = [one for one in rules.get("requiredDropCapabilities") or () if one not in dropped]
    if not more and not less:
        return given
    both = {"add": sorted({*added, *more}), "drop": sorted({*dropped, *less})}
    return {member: values for member, values in both.items() if values}
