"""Annotations that mean something to pods, most of them from before there were fields for it.

Source: kubernetes pkg/apis/core/validation (ValidatePodSpecificAnnotations, validateSeccompAnnotationsAndFields,
validateAppArmorAnnotationsAndFieldsMatchOnCreate).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import orjson
from hyperkube_api.core.go_json import syntax_error
from hyperkube_api.core.paths import relative_path
from hyperkube_api.core.pod_specs.annotations import (
    APP_ARMOR,
    DELETION_COST,
    MIRROR,
    SECCOMP,
    SECCOMP_POD,
    TOLERATIONS,
)
from hyperkube_api.core.pod_specs.validation.containers import all_containers
from hyperkube_api.core.pod_specs.validation.scheduling import validate_tolerations

from hyperkube.machinery.field import FieldError, Path, forbidden, invalid, quote
from hyperkube.machinery.intstr import parse_int
from hyperkube.machinery.objects import Object

_LOCALHOST = "localhost/"
_DEFAULTS = ("runtime/default", "docker/default")


def validate_pod_annotations(path: Path, annotations: Mapping[str, str], spec: Object) -> list[FieldError]:
    """Check the annotations of a pod or of a template.

    Args:
        path: where they are.
        annotations: the annotations.
        spec: the specification beside them.
    """
    errors: list[FieldError] = []
    if MIRROR in annotations and not spec.get("nodeName"):
        text = "must set spec.nodeName if mirror pod annotation is set"
        errors.append(invalid(path.key(MIRROR), annotations[MIRROR], text))
    if annotations.get(TOLERATIONS):
        errors += _tolerations(path, annotations[TOLERATIONS])
    cost = annotations.get(DELETION_COST)
    if cost is not None and not _is_int32(cost):
        errors.append(invalid(path.key(DELETION_COST), cost, "must be a 32bit integer"))
    if SECCOMP_POD in annotations:
        errors += _seccomp_name(path.child(SECCOMP_POD), annotations[SECCOMP_POD])
    for key in sorted(key for key in annotations if key.startswith(SECCOMP)):
        errors += _seccomp_name(path.child(key), annotations[key])
    for key in sorted(key for key in annotations if key.startswith(APP_ARMOR)):
        errors += _app_armor_name(path.key(key), key.removeprefix(APP_ARMOR), annotations[key], spec)
    return errors


def _is_int32(text: str) -> bool:
    digits = text.removeprefix("-")
    if not (digits.isdecimal() and digits.isascii()) or (text.startswith("0") and text != "0"):
        return False
    return parse_int(text, 32) is not None


def _tolerations(path: Path, text: str) -> list[FieldError]:
    try:
        tolerations = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return [invalid(path, TOLERATIONS, syntax_error(error))]
    if not isinstance(tolerations, list) or not all(isinstance(item, dict) for item in tolerations):
        return [invalid(path, TOLERATIONS, "json: cannot unmarshal into Go value of type []v1.Toleration")]
    return validate_tolerations(path.child(TOLERATIONS), tolerations)


def _seccomp_name(path: Path, name: str) -> list[FieldError]:
    if name in _DEFAULTS or name == "unconfined":
        return []
    if name.startswith(_LOCALHOST):
        local = name.removeprefix(_LOCALHOST)
        return relative_path(path, local)
    return [invalid(path, name, "must be a valid seccomp profile")]


def _app_armor_name(path: Path, container: str, name: str, spec: Object) -> list[FieldError]:
    known = {item.get("name") for _, item in all_containers(path, spec)}
    errors = [] if container in known else [invalid(path, container, "container not found")]
    if name not in {"", "runtime/default", "unconfined"} and not name.startswith(_LOCALHOST):
        errors.append(invalid(path, name, f"invalid AppArmor profile name: {quote(name)}"))
    return errors


def validate_profiles_agree(path: Path, annotations: Mapping[str, str], spec: Object) -> list[FieldError]:
    """Check that annotations and fields name the same profiles.

    Args:
        path: where the specification is.
        annotations: the annotations beside it.
        spec: the specification.
    """
    if not any(key == SECCOMP_POD or key.startswith((SECCOMP, APP_ARMOR)) for key in annotations):
        return []
    errors: list[FieldError] = []
    owners = [(SECCOMP_POD, path, spec)]
    owners += [(SECCOMP + str(item.get("name")), at, item) for at, item in all_containers(path, spec)]
    for key, at, owner in owners:
        profile = (owner.get("securityContext") or {}).get("seccompProfile")
        if profile is not None and key in annotations:
            where = at.child("securityContext", "seccompProfile")
            errors += _agree(where, annotations[key], profile, "seccomp", _DEFAULTS)
    if (spec.get("os") or {}).get("name") == "windows":
        return errors
    whole = (spec.get("securityContext") or {}).get("appArmorProfile")
    for at, container in all_containers(path, spec):
        profile = (container.get("securityContext") or {}).get("appArmorProfile") or whole
        key = APP_ARMOR + str(container.get("name"))
        if profile is not None and key in annotations:
            where = at.child("securityContext", "appArmorProfile")
            errors += _agree(where, annotations[key], profile, "apparmor", _DEFAULTS[:1])
    return errors


def _agree(path: Path, name: str, profile: Object, what: str, defaults: tuple[str, ...]) -> list[FieldError]:
    expected: dict[str, Callable[[], bool]] = {
        "Unconfined": lambda: name == "unconfined",
        "RuntimeDefault": lambda: name in defaults,
        "Localhost": lambda: name.startswith(_LOCALHOST),
    }
    kind = profile.get("type") or ""
    if kind in expected and not expected[kind]():
        return [forbidden(path.child("type"), f"{what} type in annotation and field must match")]
    if kind == "Localhost" and name.removeprefix(_LOCALHOST) != profile.get("localhostProfile"):
        return [forbidden(path.child("localhostProfile"), f"{what} profile in annotation and field must match")]
    return []


def validate_annotations_kept(path: Path, annotations: Mapping[str, str], old: Mapping[str, str]) -> list[FieldError]:
    """Check that the annotations of an existing pod which the kubelet goes by stayed."""
    errors: list[FieldError] = []
    for key, what in _fixed(old):
        if annotations.get(key) != old[key]:
            errors.append(forbidden(path.key(key), f"may not remove or update {what}"))
    for key, what in _fixed(annotations):
        if key not in old:
            errors.append(forbidden(path.key(key), f"may not add {what}"))
    return errors


def _fixed(annotations: Mapping[str, str]) -> list[tuple[str, str]]:
    found = [(key, "AppArmor annotations") for key in sorted(annotations) if key.startswith(APP_ARMOR)]
    return found + [(MIRROR, "mirror pod annotation")] * (MIRROR in annotations)
