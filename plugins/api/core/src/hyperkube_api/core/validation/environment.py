"""Environment variables of containers and where their values come from.

Source: kubernetes pkg/apis/core/validation (ValidateEnv, ValidateEnvFrom).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hyperkube_api.core.validation.paths import relative_path
from hyperkube_api.meta.validation import by_rule, named

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
SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")


def validate_env(path: Path, variables: Sequence[Object] | None) -> list[FieldError]:
    """Check the variables of a container."""
    errors: list[FieldError] = []
    for index, variable in enumerate(variables or ()):
        at = path.index(index)
        errors += named(at.child("name"), variable.get("name"), names.relaxed_env_var_name)
        source = variable.get("valueFrom")
        if source is not None:
            errors += _value_from(at.child("valueFrom"), source, bool(variable.get("value")))
    return errors


def _value_from(path: Path, source: Object, has_value: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    found = [member for member in SOURCES if source.get(member) is not None]
    for member in found:
        at, value = path.child(member), source[member]
        if member == "fieldRef":
            errors += field_reference(at, value, ENV_FIELDS)
        elif member == "resourceFieldRef":
            errors += resource_reference(at, value, in_volume=False)
        elif member == "fileKeyRef":
            errors += _file_key(at, value)
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


def _key_reference(path: Path, reference: Object) -> list[FieldError]:
    errors = by_rule(path.child("name"), reference.get("name") or "", names.dns1123_subdomain)
    return errors + named(path.child("key"), reference.get("key"), names.config_map_key)


def _file_key(path: Path, reference: Object) -> list[FieldError]:
    file, at = reference.get("path") or "", path.child("path")
    errors = named(path.child("key"), reference.get("key"), names.relaxed_env_var_name)
    errors += named(path.child("volumeName"), reference.get("volumeName"), names.dns1123_label)
    return errors + (relative_path(at, file) if file else [required(at)])


def validate_file_volumes(
    containers: Iterable[tuple[Path, Object]], volumes: Sequence[Object] | None
) -> list[FieldError]:
    """Check that the files which variables come from are in empty directories of the pod.

    Args:
        containers: the containers of every sort, each with where it is.
        volumes: the volumes of the pod.
    """
    errors: list[FieldError] = []
    for path, container in containers:
        for index, variable in enumerate(container.get("env") or ()):
            reference = (variable.get("valueFrom") or {}).get("fileKeyRef")
            if reference is None:
                continue
            name = reference.get("volumeName") or ""
            known = {volume.get("name") or "": volume for volume in volumes or ()}
            at = path.child("env").index(index).child("valueFrom", "fileKeyRef", "volumeName")
            if name not in known:
                errors.append(not_found(at, name))
            elif known[name].get("emptyDir") is None:
                errors.append(invalid(at, name, "referenced volume must be of type emptyDir"))
    return errors


def validate_env_from(path: Path, sources: Sequence[Object] | None) -> list[FieldError]:
    """Check the maps that a container takes variables from."""
    errors: list[FieldError] = []
    for index, item in enumerate(sources or ()):
        at = path.index(index)
        if item.get("prefix"):
            errors += by_rule(at.child("prefix"), item["prefix"], names.relaxed_env_var_name)
        found = [member for member in ("configMapRef", "secretRef") if item.get(member) is not None]
        for member in found:
            errors += named(at.child(member, "name"), item[member].get("name"), _beginning)
        if not found:
            errors.append(invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"))
        elif len(found) > 1:
            errors.append(invalid(path, "", "may not have more than one field specified at a time"))
    return errors


def _beginning(name: str) -> list[str]:
    """Check a name that may end in a dash, as one does that is still to be completed."""
    return names.dns1123_subdomain(name[:-2] + "a" if len(name) > 1 and name.endswith("-") else name)
