"""Custom resource definitions: names, versions, conversion.

Source: kubernetes apiextensions-apiserver pkg/apis/apiextensions/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hyperkube_api.apiextensions.validation.rules import validate_rules
from hyperkube_api.apiextensions.validation.schemas import validate_structure
from hyperkube_api.meta.validation import unchanged
from hyperkube_api.meta.webhook_clients import client_config

from hyperkube.machinery import names
from hyperkube.machinery.field import (
    ROOT,
    FieldError,
    Path,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_many,
)
from hyperkube.machinery.objects import Object, annotations_of, name_of

_SPEC = ROOT.child("spec")
APPROVED = "api-approved.kubernetes.io"
_APPROVAL_URL = "https://github.com/kubernetes/enhancements/pull/1111"
COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
MAX_SELECTABLE = 8


def validate_definition(obj: Object, stored: Object | None = None) -> list[FieldError]:
    """Check a definition; `stored` is what it is to replace."""
    spec = obj["spec"]
    group, named = spec.get("group") or "", spec.get("names") or {}
    errors: list[FieldError] = []
    full = f"{named.get('plural') or ''}.{group}"
    if name_of(obj) != full:
        text = 'must be spec.names.plural+"."+spec.group'
        errors.append(invalid(ROOT.child("metadata", "name"), name_of(obj), text))
    at = _SPEC.child("group")
    if not group:
        errors.append(required(at))
    else:
        errors += [invalid(at, group, text) for text in names.dns1123_subdomain(group)]
        if "." not in group:
            errors.append(invalid(at, group, "should be a domain with at least one dot"))
    scope = spec.get("scope") or ""
    known = ("Cluster", "Namespaced")
    if scope not in known:
        at = _SPEC.child("scope")
        errors.append(not_supported(at, scope, known) if scope else required(at))
    before = {one.get("name"): _schema(one) for one in ((stored or {}).get("spec") or {}).get("versions") or ()}
    errors += _versions(_SPEC.child("versions"), spec.get("versions") or [], before)
    errors += _names(_SPEC.child("names"), named)
    if spec.get("preserveUnknownFields"):
        text = "must be set to false in order to use apiextensions.k8s.io/v1"
        errors.append(invalid(_SPEC.child("preserveUnknownFields"), True, text))
    errors += _conversion(_SPEC.child("conversion"), spec.get("conversion") or {})
    return errors + _approval(obj, group)


def _approval(obj: Object, group: str) -> list[FieldError]:
    if not group.endswith((".k8s.io", ".kubernetes.io")) and group not in {"k8s.io", "kubernetes.io"}:
        return []
    path = ROOT.child("metadata", "annotations").key(APPROVED)
    value = annotations_of(obj).get(APPROVED)
    if value is None:
        text = f'protected groups must have approval annotation "{APPROVED}", see {_APPROVAL_URL}'
        return [required(path, text)]
    if value.startswith(("unapproved", "https://", "http://")):
        return []
    text = (
        f'protected groups must have approval annotation "{APPROVED}" with either a URL or a reason starting with '
        f'"unapproved", see {_APPROVAL_URL}'
    )
    return [invalid(path, value, text)]


def _names(path: Path, named: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for member in ("plural", "singular", "kind", "listKind"):
        value, at = named.get(member) or "", path.child(member)
        if not value:
            errors.append(required(at))
        else:
            checked = value.lower() if member in {"kind", "listKind"} else value
            wrong = names.dns1035_label(checked)
            if wrong:
                prefix = (
                    "may have mixed case, but should otherwise match: " if checked != value or "ind" in member else ""
                )
                errors.append(invalid(at, value, prefix + ",".join(wrong)))
    for member in ("shortNames", "categories"):
        for index, value in enumerate(named.get(member) or ()):
            wrong = names.dns1035_label(value)
            if wrong:
                errors.append(invalid(path.child(member).index(index), value, ",".join(wrong)))
    if named.get("kind") and named.get("kind") == named.get("listKind"):
        errors.append(invalid(path.child("listKind"), named["listKind"], "kind and listKind may not be the same"))
    return errors


def _schema(version: Object) -> Object | None:
    schema: Object | None = (version.get("schema") or {}).get("openAPIV3Schema")
    return schema


def _versions(path: Path, versions: Sequence[Object], before: Mapping[str, Object | None]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    unique = True
    for index, version in enumerate(versions):
        at, name = path.index(index), version.get("name") or ""
        unique = unique and name not in seen
        seen.add(name)
        wrong = names.dns1035_label(name)
        if wrong:
            errors.append(invalid(at.child("name"), name, ",".join(wrong)))
        errors += _version(at, version, before.get(name))
    if not unique:
        errors.append(invalid(path, versions, "must contain unique version names"))
    if sum(bool(version.get("storage")) for version in versions) != 1:
        errors.append(invalid(path, versions, "must have exactly one version marked as storage version"))
    return errors


def _version(path: Path, version: Object, stored: Object | None) -> list[FieldError]:
    errors: list[FieldError] = []
    warning = version.get("deprecationWarning")
    if warning is not None:
        at = path.child("deprecationWarning")
        if not version.get("deprecated"):
            errors.append(invalid(at, warning, "can only be set for deprecated versions"))
        if not 0 < len(warning) <= 256:
            errors.append(invalid(at, warning, "must be between 1 and 256 characters long"))
    schema = _schema(version)
    at = path.child("schema", "openAPIV3Schema")
    if schema is None:
        errors.append(required(at, "schemas are required"))
    else:
        wrong = validate_structure(at, schema)
        errors += wrong or validate_rules(at, schema, stored=schema == stored)
    for index, column in enumerate(version.get("additionalPrinterColumns") or ()):
        errors += _column(path.child("additionalPrinterColumns").index(index), column)
    scale = (version.get("subresources") or {}).get("scale")
    if scale is not None:
        errors += _scale(path.child("subresources", "scale"), scale)
    return errors + _selectable(path.child("selectableFields"), version.get("selectableFields") or [])


def _column(path: Path, column: Object) -> list[FieldError]:
    errors: list[FieldError] = [] if column.get("name") else [required(path.child("name"))]
    kind, form, value = column.get("type") or "", column.get("format") or "", column.get("jsonPath") or ""
    if not kind:
        errors.append(required(path.child("type"), f"must be one of {','.join(COLUMN_TYPES)}"))
    elif kind not in COLUMN_TYPES:
        errors.append(invalid(path.child("type"), kind, f"must be one of {','.join(COLUMN_TYPES)}"))
    if form and form not in COLUMN_FORMATS:
        errors.append(invalid(path.child("format"), form, f"must be one of {','.join(COLUMN_FORMATS)}"))
    at = path.child("JSONPath")
    if not value:
        errors.append(required(at))
    elif not value.startswith("."):
        text = "must be a simple json path starting with ."
        errors.append(invalid(at, value, text))
    return errors


def _scale(path: Path, scale: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for member, below in (("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")):
        value = scale.get(member) or ""
        if not value:
            errors.append(required(path.child(member)))
        elif not value.startswith(below):
            text = f"should be a json path under {below.rstrip('.')}"
            errors.append(invalid(path.child(member), value, text))
    value = scale.get("labelSelectorPath")
    if value and not value.startswith((".spec.", ".status.")):
        text = "should be a json path under either .spec or .status"
        errors.append(invalid(path.child("labelSelectorPath"), value, text))
    return errors


def _selectable(path: Path, fields: Sequence[Object]) -> list[FieldError]:
    errors = [too_many(path, len(fields), MAX_SELECTABLE)] if len(fields) > MAX_SELECTABLE else []
    seen: set[str] = set()
    for index, field in enumerate(fields):
        at, value = path.index(index).child("jsonPath"), field.get("jsonPath") or ""
        if not value:
            errors.append(required(at))
        elif value.startswith(".metadata."):
            errors.append(invalid(at, value, "must not point to fields in metadata"))
        if value in seen:
            errors.append(duplicate(at, value))
        seen.add(value)
    return errors


def _conversion(path: Path, conversion: Object) -> list[FieldError]:
    strategy, webhook = conversion.get("strategy") or "", conversion.get("webhook")
    known = ("None", "Webhook")
    if not strategy:
        return [required(path.child("strategy"))]
    if strategy not in known:
        return [not_supported(path.child("strategy"), strategy, known)]
    if strategy == "None":
        text = "should not be set when strategy is not set to Webhook"
        return [forbidden(path.child("webhook"), text)] if webhook is not None else []
    client = (webhook or {}).get("clientConfig")
    if client is None:
        return [required(path.child("webhookClientConfig"), "required when strategy is set to Webhook")]
    errors = client_config(path.child("webhookClientConfig"), client)
    versions = (webhook or {}).get("conversionReviewVersions") or []
    at = path.child("conversionReviewVersions")
    if not versions:
        errors.append(required(at))
    elif not {"v1", "v1beta1"} & set(versions):
        errors.append(invalid(at, versions, "must include at least one of v1, v1beta1"))
    return errors


def validate_definition_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a definition: its group, and once established its scope and kind, stay."""
    spec, before = obj["spec"], old["spec"]
    errors = [
        error
        for error in validate_definition(obj, old)
        if not (error.path == "metadata.name" and spec.get("group") != before.get("group"))
    ]
    errors += unchanged(_SPEC.child("group"), spec.get("group"), before.get("group"))
    now, then = spec.get("names") or {}, before.get("names") or {}
    errors += unchanged(_SPEC.child("names", "plural"), now.get("plural"), then.get("plural"))
    if _is_established(old):
        errors += unchanged(_SPEC.child("scope"), spec.get("scope"), before.get("scope"))
        errors += unchanged(_SPEC.child("names", "kind"), now.get("kind"), then.get("kind"))
    return errors + _stored_versions(obj)


def _is_established(obj: Object) -> bool:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return any(item.get("type") == "Established" and item.get("status") == "True" for item in conditions)


def _stored_versions(obj: Object) -> list[FieldError]:
    stored = (obj.get("status") or {}).get("storedVersions") or []
    path = ROOT.child("status", "storedVersions")
    known = {version.get("name"): bool(version.get("storage")) for version in obj["spec"].get("versions") or ()}
    errors: list[FieldError] = []
    if not any(known.get(name) for name in stored):
        storage = next((name for name, is_storage in known.items() if is_storage), "")
        text = f"must have the storage version {storage}"
        errors.append(invalid(path, stored, text))
    for index, name in enumerate(stored):
        if name not in known:
            text = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {name} and removes "
                f"{name} from status.storedVersions"
            )
            errors.append(invalid(path.index(index), name, text))
    return errors
