"""The strategy of custom resources: what their definition says, and the rules that all of them share.

Source: kubernetes apiextensions-apiserver ``pkg/registry/customresource/strategy.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hyperkube_host.apiserver.custom.scale_rules import spec_errors, status_errors
from hyperkube_host.apiserver.resources.custom_codec import CustomCodec
from hyperkube_host.apiserver.rest.metadata import is_full_finalizer, validate_annotations, validate_labels
from hyperkube_lib.structural_schema.embedded import embedded_errors, has_embedded
from hyperkube_lib.structural_schema.former import Former
from hyperkube_lib.structural_schema.lists import has_sets, repeated
from hyperkube_lib.structural_schema.validation import has_rules, validate

from hyperkube.hookspecs.api import Call, ObjectRules, Strategy
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.field import ROOT, FieldError, Path, invalid
from hyperkube.machinery.objects import Object

_KEPT_BY_STATUS = frozenset({"managedFields"})
_BLOCKING = frozenset(f"FieldValue{name}" for name in ("NotSupported", "Required", "TooLong", "TooMany", "TypeInvalid"))
"""What is so wrong with an object that no rule can be asked about it."""
_UNCHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation"
)


class CustomStrategy(Strategy):
    """Serves one version of a custom resource."""

    generation = True
    allow_unconditional_update = False
    plain_finalizers = True
    metadata_checks = ("change",)

    def __init__(
        self, codec: CustomCodec, *, has_status: bool, rules: ObjectRules | None = None, scale: Object | None = None
    ) -> None:
        self._scale = scale
        self._codec = codec
        self._has_status = has_status
        self.has_rules = has_rules(codec.json_schema)
        """Whether expressions of its schema are evaluated for each write, which may take long."""
        self._has_sets, self._has_embedded = has_sets(codec.json_schema), has_embedded(codec.json_schema)
        self._rules = rules
        self.terminating = False
        """Whether the definition is going, and its objects with it."""

    @property
    def status_subresource(self) -> bool:  # type: ignore[override]  # a fact of the definition, not of the class
        """Whether the definition has a status subresource."""
        return self._has_status

    @property
    def reset_fields(self) -> Mapping[str, Sequence[str]]:  # type: ignore[override]  # the same
        """The fields that writes to the object or its status may not own."""
        if not self._has_status:
            return {}
        return {"": ("status",), "status": ("spec", "metadata")}

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Return what is wrong with an object by its schema and its rules; while all are deleted, refuse a new one."""
        errors = self._type_errors(obj) or self._validate(call, obj, None)
        if self.terminating and not errors:
            why = "create not allowed while custom resource definition is terminating"
            raise Forbidden.about(call.resource.group_resource, obj["metadata"]["name"], why)
        return errors

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Return what is wrong with what changed, by its schema and its rules; they may compare it with the old one."""
        return self._type_errors(obj) or self._validate(call, obj, old)

    def _type_errors(self, obj: Object) -> list[FieldError]:
        kind = self._codec.kind
        wanted = {"kind": kind.kind, "apiVersion": kind.api_version}
        wrong = [name for name, value in wanted.items() if (obj.get(name) or "") != value]
        return [invalid(Path(name), obj.get(name) or "", f"must be {wanted[name]}") for name in wrong]

    def _validate(self, call: Call, obj: Object, old: Object | None) -> list[FieldError]:
        schema = self._codec.json_schema
        former = Former(obj, old, schema) if old is not None else None
        errors = validate(obj, schema, ROOT, former=former)
        errors += [*spec_errors(obj, self._scale), *status_errors(obj, self._scale)]
        if self._has_embedded:
            errors += embedded_errors(ROOT, obj, schema, self._codec.metadata, _metadata_errors)
        return self._with_rules(call, [*errors, *self._repeated(obj, old)], obj, old)

    def _repeated(self, obj: Object, old: Object | None) -> list[FieldError]:
        """Return what occurs twice in sets and maps, unless something did before."""
        schema = self._codec.json_schema
        if not self._has_sets or (old is not None and repeated(old, schema, ROOT)):
            return []
        return repeated(obj, schema, ROOT)

    def _with_rules(self, call: Call, errors: list[FieldError], obj: Object, old: Object | None) -> list[FieldError]:
        """Ask the rules, unless the object is no object that they could speak of."""
        if not self.has_rules or self._rules is None:
            return errors
        if any(error.reason in _BLOCKING for error in errors):
            return [*errors, invalid(ROOT, None, _UNCHECKED)]
        found, warnings = self._rules.check(obj, old)
        call.warnings[:] = dict.fromkeys((*call.warnings, *warnings))
        return errors + found

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Return a text for each new finalizer that others could choose, too."""
        if call.subresource:
            return []
        before = (old or {}).get("metadata", {}).get("finalizers") or ()
        new = sorted(set(obj["metadata"].get("finalizers") or ()) - set(before))
        text = "prefer a domain-qualified finalizer name"
        return [
            f'metadata.finalizers: "{name}": {text} to avoid accidental conflicts with other finalizer writers'
            for name in new
            if not is_full_finalizer(name)
        ]

    def prepare_status_update(self, call: Call, obj: Object, old: Object) -> None:
        """Keep the metadata: only the status is written."""
        kept = {name: value for name, value in obj["metadata"].items() if name in _KEPT_BY_STATUS}
        meta = {name: value for name, value in old["metadata"].items() if name not in _KEPT_BY_STATUS}
        obj["metadata"] = meta | kept

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Return what is wrong with the status by its schema; messages name places from the status on."""
        errors = self._type_errors(obj)
        if errors:
            return errors
        schema = self._codec.json_schema
        inner = (schema.get("properties") or {}).get("status")
        if inner is not None and "status" in obj:
            errors = validate(obj["status"], inner, Path("status"), "", Former(obj, old, schema).key("status"))
        errors += [*status_errors(obj, self._scale), *self._repeated(obj, old)]
        return self._with_rules(call, errors, obj, old)


def _metadata_errors(metadata: Object, path: Path) -> list[FieldError]:
    """Return what is wrong with the metadata of an object within an object."""
    labels = validate_labels(metadata.get("labels") or {}, path.child("labels"))
    return labels + validate_annotations(metadata.get("annotations") or {}, path.child("annotations"))
