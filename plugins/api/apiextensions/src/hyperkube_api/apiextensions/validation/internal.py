"""A definition as its validation sees it: what all versions share stands beside them, and errors name it there.

A schema that is the same in all versions (in the only one, too) is ``spec.validation``; only one that differs is
``spec.versions[i].schema``.

Source: kubernetes apiextensions-apiserver ``pkg/apis/apiextensions/v1/conversion.go``,
``pkg/apis/apiextensions/types{,_jsonschema}.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object

_SHARED = ("subresources", "schema", "additionalPrinterColumns", "selectableFields")


@dataclass(frozen=True, slots=True)
class Spec:
    """The spec of a definition; what is shared by all versions is taken out of `versions`.

    Attributes:
        lists_versions: whether there is a list of versions, be it empty.
    """

    group: str
    names: Object
    scope: str
    version: str
    versions: Sequence[Object]
    lists_versions: bool
    validation: Object | None
    subresources: Object | None
    columns: Sequence[Object]
    selectable: Sequence[Object]
    conversion: Object | None
    preserves_unknown_fields: bool

    def schemas(self) -> list[Object]:
        """Return all schemas."""
        holders = [self.validation, *(version.get("schema") for version in self.versions)]
        return [schema for holder in holders if (schema := (holder or {}).get("openAPIV3Schema")) is not None]


def internal(definition: Object) -> Spec:
    """Return the spec of a definition of ``apiextensions.k8s.io/v1`` in its internal form."""
    spec = definition.get("spec") or {}
    versions = spec.get("versions") or []
    shared: dict[str, Any] = {}
    for name in _SHARED:
        values = [version.get(name) or None if name != "schema" else version.get(name) for version in versions]
        if values and all(value == values[0] for value in values):
            shared[name] = values[0]
    if "schema" not in shared:
        shared.pop("selectableFields", None)
    return Spec(
        group=spec.get("group") or "",
        names=spec.get("names") or {},
        scope=spec.get("scope") or "",
        version=(versions[0].get("name") or "") if versions else "",
        versions=[{name: value for name, value in version.items() if name not in shared} for version in versions],
        lists_versions=spec.get("versions") is not None,
        validation=shared.get("schema"),
        subresources=shared.get("subresources"),
        columns=shared.get("additionalPrinterColumns") or (),
        selectable=shared.get("selectableFields") or (),
        conversion=spec.get("conversion"),
        preserves_unknown_fields=bool(spec.get("preserveUnknownFields")),
    )


_VERSION = {
    "Name": "name",
    "Served": "served",
    "Storage": "storage",
    "Deprecated": "deprecated",
    "DeprecationWarning": "deprecationWarning",
    "Schema": "schema",
    "Subresources": "subresources",
    "AdditionalPrinterColumns": "additionalPrinterColumns",
    "SelectableFields": "selectableFields",
}
_ZERO = {"Name": "", "Served": False, "Storage": False, "Deprecated": False}
_COLUMN = {
    "Name": ("name", ""),
    "Type": ("type", ""),
    "Format": ("format", ""),
    "Description": ("description", ""),
    "Priority": ("priority", 0),
    "JSONPath": ("jsonPath", ""),
}
SCHEMA_MEMBERS: Mapping[str, tuple[str, Any]] = {
    "ID": ("id", ""),
    "Schema": ("$schema", ""),
    "Ref": ("$ref", None),
    "Description": ("description", ""),
    "Type": ("type", ""),
    "Nullable": ("nullable", False),
    "Format": ("format", ""),
    "Title": ("title", ""),
    "Default": ("default", None),
    "Maximum": ("maximum", None),
    "ExclusiveMaximum": ("exclusiveMaximum", False),
    "Minimum": ("minimum", None),
    "ExclusiveMinimum": ("exclusiveMinimum", False),
    "MaxLength": ("maxLength", None),
    "MinLength": ("minLength", None),
    "Pattern": ("pattern", ""),
    "MaxItems": ("maxItems", None),
    "MinItems": ("minItems", None),
    "UniqueItems": ("uniqueItems", False),
    "MultipleOf": ("multipleOf", None),
    "Enum": ("enum", None),
    "MaxProperties": ("maxProperties", None),
    "MinProperties": ("minProperties", None),
    "Required": ("required", None),
    "Items": ("items", None),
    "AllOf": ("allOf", None),
    "OneOf": ("oneOf", None),
    "AnyOf": ("anyOf", None),
    "Not": ("not", None),
    "Properties": ("properties", None),
    "AdditionalProperties": ("additionalProperties", None),
    "PatternProperties": ("patternProperties", None),
    "Dependencies": ("dependencies", None),
    "AdditionalItems": ("additionalItems", None),
    "Definitions": ("definitions", None),
    "ExternalDocs": ("externalDocs", None),
    "Example": ("example", None),
    "XPreserveUnknownFields": ("x-kubernetes-preserve-unknown-fields", None),
    "XEmbeddedResource": ("x-kubernetes-embedded-resource", False),
    "XIntOrString": ("x-kubernetes-int-or-string", False),
    "XListMapKeys": ("x-kubernetes-list-map-keys", None),
    "XListType": ("x-kubernetes-list-type", None),
    "XMapType": ("x-kubernetes-map-type", None),
    "XValidations": ("x-kubernetes-validations", None),
}
"""Go's name of a member of a schema, in the order of its declaration → its name in JSON, and its zero value."""

_RULE = {
    "Rule": ("rule", ""),
    "Message": ("message", ""),
    "MessageExpression": ("messageExpression", ""),
    "Reason": ("reason", None),
    "FieldPath": ("fieldPath", ""),
    "OptionalOldSelf": ("optionalOldSelf", None),
}


def shown_rule(rule: Object) -> Object:
    """Return a rule as messages show it: every member by its Go name."""
    return {shown: rule.get(name, zero) for shown, (name, zero) in _RULE.items()}


def shown_versions(versions: Sequence[Object]) -> list[Object]:
    """Return versions as messages show them."""
    return [{shown: _version_member(version, shown, name) for shown, name in _VERSION.items()} for version in versions]


def _version_member(version: Object, shown: str, name: str) -> Any:
    value = version.get(name)
    if value is None:
        return _ZERO.get(shown)
    if name == "schema":
        schema = value.get("openAPIV3Schema")
        return {"OpenAPIV3Schema": None if schema is None else shown_schema(schema)}
    if name == "additionalPrinterColumns":
        return [{go: column.get(json, zero) for go, (json, zero) in _COLUMN.items()} for column in value]
    if name == "selectableFields":
        return [{"JSONPath": field.get("jsonPath", "")} for field in value]
    return _shown_subresources(value) if name == "subresources" else value


def _shown_subresources(value: Object) -> Object:
    scale = value.get("scale")
    paths = {"SpecReplicasPath": "specReplicasPath", "StatusReplicasPath": "statusReplicasPath"}
    shown = None
    if scale is not None:
        shown = {go: scale.get(name, "") for go, name in paths.items()}
        shown["LabelSelectorPath"] = scale.get("labelSelectorPath")
    return {"Status": value.get("status"), "Scale": shown}


def shown_schema(schema: Object) -> Object:
    """Return a schema as messages show it."""
    return {shown: _schema_member(name, schema.get(name, zero)) for shown, (name, zero) in SCHEMA_MEMBERS.items()}


def _schema_member(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in {"allOf", "oneOf", "anyOf"}:
        return [shown_schema(item) for item in value]
    if name == "not":
        return shown_schema(value)
    if name in {"properties", "patternProperties", "definitions"}:
        return {key: shown_schema(item) for key, item in sorted(value.items())}
    if name in {"additionalProperties", "additionalItems"}:
        is_schema = isinstance(value, dict)
        return {"Allows": is_schema or bool(value), "Schema": shown_schema(value) if is_schema else None}
    if name == "items":
        return shown_items(value)
    if name == "x-kubernetes-validations":
        return [shown_rule(rule) for rule in value]
    return value


def shown_items(items: Any) -> Object:
    """Return the ``items`` of a schema as messages show them."""
    if isinstance(items, dict):
        return {"Schema": shown_schema(items), "JSONSchemas": None}
    return {"Schema": None, "JSONSchemas": [shown_schema(item) for item in items]}
