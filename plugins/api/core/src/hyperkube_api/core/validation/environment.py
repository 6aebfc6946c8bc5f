"""Environment variables of containers and where their values come from.

Source: kubernetes pkg/apis/core/validation (ValidateEnv, ValidateEnvFrom).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hyperkube_api.meta.validation import by_rule

from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, invalid, not_found, not_supported, required
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import parse

ENV_FIELDS = (
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
    "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
)  # fmt: skip
CONVERTIBLE = frozenset(
    {
        "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid",
        "spec.nodeName", "spec.restartPolicy", "spec.serviceAccountName", "spec.schedulerName", "status.phase",
        "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs", "spec.host",
    }
)  # fmt: skip
_SUBSCRIPT = re.compile(r"(metadata\.(?:labels|annotations))\['(.*)'\]")
_AMOUNT = re.compile(r"(?:limits|requests)\.(?:cpu|memory|ephemeral-storage|hugepages-.+)")
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
SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")


def validate_env(
    path: Path, variables: Sequence[Object] | None, volumes: dict[str, Object] | None = None
) -> list[FieldError]:
    """Check the variables of a container."""
    errors: list[FieldError] = []
    for index, variable in enumerate(variables or ()):
        at, name = path.index(index), variable.get("name") or ""
        errors += by_rule(at.child("name"), name, names.relaxed_env_var_name) if name else [required(at.child("name"))]
        source = variable.get("valueFrom")
        if source is not None:
            errors += _value_from(at.child("valueFrom"), source, bool(variable.get("value")), volumes or {})
    return errors


def _value_from(path: Path, source: Object, has_value: bool, volumes: dict[str, Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    found = [member for member in SOURCES if source.get(member) is not None]
    for member in found:
        at, value = path.child(member), source[member]
        if member == "fieldRef":
            errors += field_reference(at, value, ENV_FIELDS, subscripts=True)
        elif member == "resourceFieldRef":
            errors += resource_reference(at, value, in_volume=False)
        elif member == "fileKeyRef":
            errors += _file_key(at, value, volumes)
        else:
            errors += _key_reference(at, value)
    if not found:
        text = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        errors.append(invalid(path, "", text))
    elif has_value:
        errors.append(invalid(path, "", "may not be specified when `value` is not empty"))
    elif len(found) > 1:
        errors.append(invalid(path, "", "may not have more than one field specified at a time"))
    return errors


def field_reference(
    path: Path, reference: Object, fields: Sequence[str], *, subscripts: bool = True
) -> list[FieldError]:
    """Check a reference to a field of the pod."""
    if not reference.get("apiVersion"):
        return [required(path.child("apiVersion"))]
    value = reference.get("fieldPath") or ""
    if not value:
        return [required(path.child("fieldPath"))]
    at = path.child("fieldPath")
    match = _SUBSCRIPT.fullmatch(value)
    if match is not None and subscripts:
        key = match[2].lower() if match[1].endswith("annotations") else match[2]
        return [invalid(at, key, text) for text in names.qualified_name(key)]
    if value not in CONVERTIBLE:
        return [invalid(at, value, f"error converting fieldPath: field label not supported: {value}")]
    return [] if value in fields else [not_supported(at, value, sorted(fields))]


def resource_reference(path: Path, reference: Object, *, in_volume: bool) -> list[FieldError]:
    """Check a reference to a container's requests or limits."""
    if in_volume and not reference.get("containerName"):
        return [required(path.child("containerName"))]
    resource = reference.get("resource") or ""
    if not resource:
        return [required(path.child("resource"))]
    if not _AMOUNT.fullmatch(resource):
        return [not_supported(path.child("resource"), resource, ENV_AMOUNTS)]
    divisor = str(parse(reference.get("divisor") or "0"))
    if divisor == "0":
        return []
    at = path.child("divisor")
    if resource.endswith(".cpu"):
        if divisor not in _CPU_DIVISORS:
            return [invalid(at, divisor, "only divisor's values 1m and 1 are supported with the cpu resource")]
    elif divisor not in _BYTE_DIVISORS:
        kind = resource.split(".", 1)[1]
        text = (
            "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei "
            f"are supported with the {kind} resource"
        )
        return [invalid(at, divisor, text)]
    return []


def _key_reference(path: Path, reference: Object) -> list[FieldError]:
    name, key = reference.get("name") or "", reference.get("key") or ""
    errors = by_rule(path.child("name"), name, names.dns1123_subdomain) if name else []
    return errors + (by_rule(path.child("key"), key, names.config_map_key) if key else [required(path.child("key"))])


def _file_key(path: Path, reference: Object, volumes: dict[str, Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    key, volume, file = reference.get("key") or "", reference.get("volumeName") or "", reference.get("path") or ""
    errors += by_rule(path.child("key"), key, names.env_var_name) if key else [required(path.child("key"))]
    if not volume:
        errors.append(required(path.child("volumeName")))
    elif volume not in volumes or volumes[volume].get("emptyDir") is None:
        errors.append(not_found(path.child("volumeName"), volume))
    if not file:
        errors.append(required(path.child("path")))
    return errors


def validate_env_from(path: Path, sources: Sequence[Object] | None) -> list[FieldError]:
    """Check the maps that a container takes variables from."""
    errors: list[FieldError] = []
    for item in sources or ():
        if item.get("prefix"):
            errors += by_rule(path.child("prefix"), item["prefix"], names.relaxed_env_var_name)
        found = [member for member in ("configMapRef", "secretRef") if item.get(member) is not None]
        for member in found:
            name = item[member].get("name") or ""
            if not name:
                errors.append(required(path.child(member, "name")))
            else:
                errors += by_rule(path.child(member, "name"), name, names.dns1123_subdomain)
        if not found:
            errors.append(invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"))
        elif len(found) > 1:
            errors.append(invalid(path, "", "may not have more than one field specified at a time"))
    return errors
