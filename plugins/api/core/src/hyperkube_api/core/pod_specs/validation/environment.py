"""Environment variables of containers and where their values come from.

Source: kubernetes pkg/apis/core/validation (ValidateEnv, ValidateEnvFrom).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hyperkube_api.core.downward_api import field_reference, resource_reference
from hyperkube_api.core.paths import relative_path
from hyperkube_api.meta.validation import by_rule, named

from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, invalid, not_found, required
from hyperkube.machinery.objects import Object

ENV_FIELDS = (
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
    "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
)  # fmt: skip
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
