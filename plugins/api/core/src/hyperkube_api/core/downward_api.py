"""References to fields of the pod and to resources of its containers, from variables and from volumes.

Source: kubernetes pkg/apis/core/validation (validateObjectFieldSelector, validateContainerResourceFieldSelector).
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_api.meta.validation import by_rule

from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, invalid, not_supported, required
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import parse

CONVERTIBLE = frozenset(
    {
        "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid",
        "spec.nodeName", "spec.restartPolicy", "spec.serviceAccountName", "spec.schedulerName", "status.phase",
        "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs", "spec.host",
    }
)  # fmt: skip
_MAPS = frozenset({"metadata.annotations", "metadata.labels"})
_PAGES = ("limits.hugepages-", "requests.hugepages-")
_KINDS = {"memory": "memory", "ephemeral-storage": "local ephemeral storage"}
"""What messages call the resources that come in bytes; others are huge pages."""
ENV_AMOUNTS = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_CPU_DIVISORS = frozenset({"1m", "1"})
_BYTE_DIVISORS = frozenset({"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"})


def field_reference(path: Path, reference: Object, fields: Sequence[str]) -> list[FieldError]:
    """Check a reference to a field of the pod."""
    version, value = reference.get("apiVersion"), reference.get("fieldPath") or ""
    if not version:
        return [required(path.child("apiVersion"))]
    at = path.child("fieldPath")
    if not value:
        return [required(at)]
    if version != "v1":
        return [invalid(at, value, f"error converting fieldPath: unsupported pod version: {version}")]
    if value in fields:
        return []
    holder, bracket, key = value.partition("['")
    if bracket and holder and key.endswith("']"):
        return _entry(path, value, holder, key.removesuffix("']"))
    if value not in CONVERTIBLE:
        return [invalid(at, value, f"error converting fieldPath: field label not supported: {value}")]
    meant = "spec.nodeName" if value == "spec.host" else value
    return [] if meant in fields else [not_supported(at, meant, sorted(fields))]


def _entry(path: Path, value: str, holder: str, key: str) -> list[FieldError]:
    """Check a reference to one label or annotation."""
    if holder not in _MAPS:
        text = f"error converting fieldPath: field label does not support subscript: {value}"
        return [invalid(path.child("fieldPath"), value, text)]
    return by_rule(path, key.lower() if holder == "metadata.annotations" else key, names.qualified_name)


def resource_reference(path: Path, reference: Object, *, in_volume: bool) -> list[FieldError]:
    """Check a reference to a container's requests or limits."""
    resource, errors = reference.get("resource") or "", list[FieldError]()
    if in_volume and not reference.get("containerName"):
        errors.append(required(path.child("containerName")))
    elif not resource:
        errors.append(required(path.child("resource")))
    elif resource not in ENV_AMOUNTS and not resource.startswith(_PAGES):
        errors.append(not_supported(path.child("resource"), resource, ENV_AMOUNTS))
    divisor = reference.get("divisor")
    return errors if divisor is None else errors + _divisor(path.child("divisor"), resource, str(parse(divisor)))


def _divisor(path: Path, resource: str, divisor: str) -> list[FieldError]:
    if divisor == "0" or (resource not in ENV_AMOUNTS and not resource.startswith(_PAGES)):
        return []
    kind = resource.partition(".")[2]
    if kind == "cpu":
        if divisor in _CPU_DIVISORS:
            return []
        return [invalid(path, resource, "only divisor's values 1m and 1 are supported with the cpu resource")]
    if divisor in _BYTE_DIVISORS:
        return []
    text = (
        "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei "
        f"are supported with the {_KINDS.get(kind, 'hugepages')} resource"
    )
    return [invalid(path, resource, text)]
