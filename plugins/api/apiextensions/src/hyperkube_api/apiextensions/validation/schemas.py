"""A schema of a definition: structural, with defaults that fit it, and rules within the cost limit.

Source: kubernetes apiextensions-apiserver ``pkg/apis/apiextensions/validation/validation.go``
(validateCustomResourceDefinitionValidation).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from hyperkube_api.apiextensions.validation.costs import TotalCost
from hyperkube_api.apiextensions.validation.defaults import validate_defaults
from hyperkube_api.apiextensions.validation.internal import SCHEMA_MEMBERS, shown_schema
from hyperkube_api.apiextensions.validation.openapi import Options, validate_openapi
from hyperkube_api.apiextensions.validation.patterns import wrong_patterns
from hyperkube_lib.structural_schema.structural_rules import unsupported, validate_structure

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.field import FieldError, Path, forbidden, invalid
from hyperkube.machinery.objects import Object

_BESIDE_STATUS = (
    *("Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum"),
    *("MaxLength", "MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required", "Items"),
    *("Properties", "ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations"),
)
"""What the root of a schema may have when the status is written apart, and so checked apart."""


@dataclass(frozen=True, slots=True)
class SchemaOptions:
    """What is required of the schemas of a definition.

    Attributes:
        structural: require structural schemas.
        pruned: require defaults without undeclared members.
        openapi: what is required at every level.
    """

    structural: bool = True
    pruned: bool = True
    openapi: Options = field(default_factory=Options)


def validate_schema(path: Path, schema: Object, options: SchemaOptions, *, status: bool) -> list[FieldError]:
    """Check a schema at a path; `status` tells that its objects have a status subresource."""
    errors = list(_root(path, schema, status=status))
    unsupported_errors: list[FieldError] = []
    total_cost: TotalCost | None = None
    if options.structural:
        why = unsupported(schema)
        if why:
            unsupported_errors = [invalid(path, "", why)]
        else:
            wrong = sorted([*validate_structure(path, schema), *wrong_patterns(path, schema)], key=str)
            wrong = wrong or validate_defaults(path, schema, pruned=options.pruned)
            errors += wrong
            total_cost = None if wrong else TotalCost(limit_each=options.openapi.limit_each)
    errors += validate_openapi(path, schema, options.openapi, total_cost)
    errors += unsupported_errors if not errors else []
    return errors + (total_cost.errors(path) if total_cost is not None else [])


def _root(path: Path, schema: Object, *, status: bool) -> Iterator[FieldError]:
    if status:
        yield from _beside_status(path, schema)
    if schema.get("nullable"):
        yield forbidden(path.child("nullable"), "nullable cannot be true at the root")


def _beside_status(path: Path, schema: Object) -> Iterator[FieldError]:
    for shown, (name, zero) in SCHEMA_MEMBERS.items():
        value = schema.get(name, zero)
        if value == zero or (value == {} and name == "properties"):
            continue
        if shown == "Type" and value != "object":
            text = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
            yield invalid(path.child("type"), value, text)
            return
        if shown not in _BESIDE_STATUS:
            allowed = " ".join(_BESIDE_STATUS)
            text = f"only [{allowed}] fields are allowed at the root of the schema if the status subresource is enabled"
            yield invalid(path, shown_schema(schema), text)
            return
