"""Custom resource definitions: names, versions, conversion, approval; and what may change.

Source: kubernetes apiextensions-apiserver ``pkg/apis/apiextensions/validation/validation.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from hyperkube_api.apiextensions.validation.conversion import WebhookOptions, conversion, webhook_options_after
from hyperkube_api.apiextensions.validation.defaults import has_unpruned
from hyperkube_api.apiextensions.validation.internal import Spec, internal, shown_versions
from hyperkube_api.apiextensions.validation.lists import has_other_sets, identified_items
from hyperkube_api.apiextensions.validation.openapi import TYPES, Options
from hyperkube_api.apiextensions.validation.schemas import SchemaOptions, validate_schema
from hyperkube_api.apiextensions.validation.versions import columns, deprecation, selectable, subresources
from hyperkube_api.meta.validation import unchanged
from hyperkube_lib.structural_schema.approval import APPROVED, approval, is_protected
from hyperkube_lib.structural_schema.structural_rules import unsupported, validate_structure

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, invalid, not_supported, required
from hyperkube.machinery.objects import Object, annotations_of

_SPEC = ROOT.child("spec")
_STATUS = ROOT.child("status")
_SCOPES = ("Cluster", "Namespaced")


def validate_definition(obj: Object) -> list[FieldError]:
    """Check a new definition."""
    spec = internal(obj)
    return [
        *_spec(spec, SchemaOptions(), frozenset(), WebhookOptions()),
        *_names(_STATUS.child("acceptedNames"), (obj.get("status") or {}).get("acceptedNames") or {}),
        *_stored_versions(obj),
        *_approval(obj, None),
        *_unknown_fields(spec, None),
    ]


def validate_definition_update(obj: Object, old: Object) -> list[FieldError]:
    """Check a changed definition: what names its objects stays; what was wrong before may stay wrong."""
    spec, before = internal(obj), internal(old)
    options, same = _schema_options_after(before), _unchanged_versions(obj, old)
    errors = list(_spec(spec, options, same, webhook_options_after(old), schemas_required=_has_all_schemas(before)))
    if _is_established(old):
        errors += unchanged(_SPEC.child("scope"), spec.scope, before.scope)
        errors += unchanged(_SPEC.child("names", "kind"), spec.names.get("kind"), before.names.get("kind"))
    errors += unchanged(_SPEC.child("group"), spec.group, before.group)
    errors += unchanged(_SPEC.child("names", "plural"), spec.names.get("plural"), before.names.get("plural"))
    errors += _names(_STATUS.child("acceptedNames"), (obj.get("status") or {}).get("acceptedNames") or {})
    return [*errors, *_stored_versions(obj), *_approval(obj, old), *_unknown_fields(spec, before)]


def validate_definition_status(obj: Object) -> list[FieldError]:
    """Check a changed status of a definition."""
    return list(_names(_STATUS.child("acceptedNames"), (obj.get("status") or {}).get("acceptedNames") or {}))


def _schema_options_after(before: Spec) -> SchemaOptions:
    """Return what is required of the schemas of an update: only what the schemas before it fulfilled."""
    schemas = before.schemas()
    structural = not any(unsupported(schema) or validate_structure(ROOT, schema) for schema in schemas)
    levels = [level for schema in schemas for level in subschemas(schema)]
    return SchemaOptions(
        structural=structural or not before.preserves_unknown_fields,
        pruned=not any(has_unpruned(schema) for schema in schemas),
        openapi=Options(
            known_types=all(level.get("type") in {None, "", *TYPES} for level in levels),
            atomic_sets=not any(has_other_sets(level) for level in levels),
            identified=not any(any(identified_items(ROOT, level)) for level in levels),
        ),
    )


def subschemas(schema: Object) -> Iterator[Object]:
    """Return a schema and all those within it."""
    yield schema
    inner: list[object] = [schema.get(name) for name in ("items", "not", "additionalProperties", "additionalItems")]
    inner += [one for name in ("allOf", "anyOf", "oneOf") for one in schema.get(name) or ()]
    inner += [one for name in ("properties", "patternProperties", "definitions") for one in _values(schema.get(name))]
    for one in inner:
        if isinstance(one, dict):
            yield from subschemas(one)


def _values(schemas: Mapping[str, Object] | None) -> Iterable[Object]:
    return (schemas or {}).values()


def _unchanged_versions(obj: Object, old: Object) -> frozenset[str]:
    """Return the names of the versions whose schema is what it was."""
    before = {version.get("name"): version.get("schema") for version in old["spec"].get("versions") or ()}
    now = {version.get("name") or "": version.get("schema") for version in obj["spec"].get("versions") or ()}
    return frozenset(name for name, schema in now.items() if name in before and before[name] == schema)


def _has_all_schemas(spec: Spec) -> bool:
    return spec.validation is not None or all(version.get("schema") for version in spec.versions)


def _spec(
    spec: Spec,
    options: SchemaOptions,
    same: frozenset[str],
    webhook_options: WebhookOptions,
    *,
    schemas_required: bool = True,
) -> Iterator[FieldError]:
    yield from _group_and_scope(spec)
    if (spec.validation or {}).get("openAPIV3Schema") is None:
        for index, version in enumerate(spec.versions):
            if (version.get("schema") or {}).get("openAPIV3Schema") is not None:
                continue
            at = _SPEC.child("versions").index(index).child("schema", "openAPIV3Schema")
            if schemas_required:
                yield required(at)
            elif version.get("served") and not spec.preserves_unknown_fields:
                yield required(at, "because otherwise all fields are pruned")
    if spec.preserves_unknown_fields and any(
        "default" in level for schema in spec.schemas() for level in subschemas(schema)
    ):
        text = "must be false in order to use defaults in the schema"
        yield invalid(_SPEC.child("preserveUnknownFields"), True, text)
    yield from _versions(spec, options, same)
    yield from _required_names(_SPEC.child("names"), spec.names)
    yield from _names(_SPEC.child("names"), spec.names)
    yield from _top_level_members(spec, options, same)
    yield from conversion(_SPEC.child("conversion"), spec, webhook_options)


def _group_and_scope(spec: Spec) -> Iterator[FieldError]:
    at = _SPEC.child("group")
    if not spec.group:
        yield required(at)
    elif wrong := names.dns1123_subdomain(spec.group):
        yield invalid(at, spec.group, ",".join(wrong))
    elif "." not in spec.group:
        yield invalid(at, spec.group, "should be a domain with at least one dot")
    at = _SPEC.child("scope")
    if spec.scope not in _SCOPES:
        yield not_supported(at, spec.scope, _SCOPES) if spec.scope else required(at)


def _versions(spec: Spec, options: SchemaOptions, same: frozenset[str]) -> Iterator[FieldError]:
    path = _SPEC.child("versions")
    for index, version in enumerate(spec.versions):
        at, name = path.index(index), version.get("name") or ""
        if wrong := names.dns1035_label(name):
            yield invalid(at.child("name"), name, ",".join(wrong))
        parts = version.get("subresources", spec.subresources)
        yield from deprecation(at.child("deprecationWarning"), version)
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema is not None:
            own, status = _options_for_version(options, name, same), _has_status(parts)
            yield from validate_schema(at.child("schema", "openAPIV3Schema"), schema, own, status=status)
        yield from subresources(at.child("subresources"), version.get("subresources"))
        yield from columns(at.child("additionalPrinterColumns"), version.get("additionalPrinterColumns") or ())
        fields = version.get("selectableFields") or ()
        if fields and schema is not None:
            yield from selectable(at, fields, schema)
        elif fields:
            text = "may only be set when `version.schema.openAPIV3Schema` is not included"
            yield invalid(at.child("selectableFields"), "", text)
    given = [version.get("name") for version in spec.versions]
    if len(set(given)) < len(given):
        yield invalid(path, shown_versions(spec.versions), "must contain unique version names")
    if sum(bool(version.get("storage")) for version in spec.versions) != 1:
        text = "must have exactly one version marked as storage version"
        yield invalid(path, shown_versions(spec.versions) if spec.lists_versions else None, text)
    if spec.version and (wrong := names.dns1035_label(spec.version)):
        yield invalid(_SPEC.child("version"), spec.version, ",".join(wrong))


def _top_level_members(spec: Spec, options: SchemaOptions, same: frozenset[str]) -> Iterator[FieldError]:
    """Check what is declared for all versions together."""
    schema = (spec.validation or {}).get("openAPIV3Schema")
    if schema is not None:
        status = any(_has_status(one) for one in [spec.subresources, *(v.get("subresources") for v in spec.versions)])
        path = _SPEC.child("validation", "openAPIV3Schema")
        yield from validate_schema(path, schema, _options_for_version(options, spec.version, same), status=status)
    yield from subresources(_SPEC.child("subresources"), spec.subresources)
    yield from columns(_SPEC.child("additionalPrinterColumns"), spec.columns)
    if spec.selectable and spec.validation is None:
        text = "selectableFields may only be set when validations.schema is included"
        yield invalid(_SPEC.child("selectableFields"), "", text)
    elif spec.selectable:
        yield from selectable(_SPEC, spec.selectable, schema or {})


def _options_for_version(options: SchemaOptions, name: str, same: frozenset[str]) -> SchemaOptions:
    """Return the options for a version: an unchanged schema has no limit of the cost of each rule."""
    if name not in same:
        return options
    return replace(options, openapi=replace(options.openapi, limit_each=False))


def _has_status(parts: Object | None) -> bool:
    return (parts or {}).get("status") is not None


def _required_names(path: Path, named: Object) -> Iterator[FieldError]:
    for member in ("plural", "singular", "kind", "listKind"):
        if not named.get(member):
            yield required(path.child(member))


def _names(path: Path, named: Object) -> Iterator[FieldError]:
    for member in ("plural", "singular", "kind", "listKind"):
        value = named.get(member) or ""
        is_kind = member in {"kind", "listKind"}
        wrong = names.dns1035_label(value.lower() if is_kind else value) if value else []
        if wrong:
            prefix = "may have mixed case, but should otherwise match: " if is_kind else ""
            yield invalid(path.child(member), value, prefix + ",".join(wrong))
    yield from _labels(path.child("shortNames"), named.get("shortNames") or ())
    if named.get("kind") and named["kind"] == named.get("listKind"):
        yield invalid(path.child("listKind"), named["listKind"], "kind and listKind may not be the same")
    yield from _labels(path.child("categories"), named.get("categories") or ())


def _labels(path: Path, values: Sequence[str]) -> Iterator[FieldError]:
    for index, value in enumerate(values):
        if wrong := names.dns1035_label(value):
            yield invalid(path.index(index), value, ",".join(wrong))


def _is_established(obj: Object) -> bool:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return any(item.get("type") == "Established" and item.get("status") == "True" for item in conditions)


def _stored_versions(obj: Object) -> Iterator[FieldError]:
    stored = (obj.get("status") or {}).get("storedVersions")
    path = _STATUS.child("storedVersions")
    if not stored:
        yield invalid(path, stored, "must have at least one stored version")
        return
    versions = obj["spec"].get("versions") or ()
    for version in versions:
        if version.get("storage") and version.get("name") not in stored:
            yield invalid(path, stored, f"must have the storage version {version.get('name')}")
    known = {version.get("name") for version in versions}
    for index, name in enumerate(stored):
        if name not in known:
            text = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {name} and removes "
                f"{name} from status.storedVersions"
            )
            yield invalid(path.index(index), name, text)


def _approval(obj: Object, old: Object | None) -> Iterator[FieldError]:
    if not is_protected(obj["spec"].get("group") or ""):
        return
    state, reason = approval(obj)
    if old is not None and approval(old)[0] == state:
        return
    path = ROOT.child("metadata", "annotations").key(APPROVED)
    if state == "missing":
        yield required(path, reason)
    elif state == "invalid":
        yield invalid(path, annotations_of(obj)[APPROVED], reason)


def _unknown_fields(spec: Spec, before: Spec | None) -> Iterator[FieldError]:
    if spec.preserves_unknown_fields and not (before is not None and before.preserves_unknown_fields):
        text = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        yield invalid(_SPEC.child("preserveUnknownFields"), True, text)
