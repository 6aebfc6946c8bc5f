"""The strategy of custom resources: what their definition says, and the rules that all of them share.

Source: kubernetes apiextensions-apiserver ``pkg/registry/customresource/strategy.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hyperkube.apiserver.custom.codec import CustomCodec
from hyperkube.apiserver.custom.scale_rules import scale_errors
from hyperkube.hookspecs.api import Call, ObjectRules, Strategy
from hyperkube.kinds.custom_objects.validation import has_rules, validate
from hyperkube.machinery.field import FieldError, Path, invalid
from hyperkube.machinery.objects import Object

_KEPT_BY_STATUS = frozenset({"managedFields"})
_UNCHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation"
)


class CustomStrategy(Strategy):
    """Serves one version of a custom resource."""

    generation = True
    allow_unconditional_update = False

    def __init__(
        self, codec: CustomCodec, *, has_status: bool, rules: ObjectRules | None = None, scale: Object | None = None
    ) -> None:
        self._scale = scale
        self._codec = codec
        self._has_status = has_status
        self._has_rules = has_rules(codec.json_schema)
        self._rules = rules

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
        """Return what is wrong with an object by its schema and its rules."""
        return self._validate(call, obj, None)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Return what is wrong with a new object by its schema and its rules; they may compare it with the old one."""
        return self._validate(call, obj, old)

    def _validate(self, call: Call, obj: Object, old: Object | None) -> list[FieldError]:
        kind = self._codec.kind
        if obj.get("kind") != kind.kind:
            return [invalid(Path("kind"), obj.get("kind"), f"must be {kind.kind}")]
        errors = validate(obj, self._codec.json_schema, Path(""))
        errors += scale_errors(obj, self._scale, status=False)
        if errors and self._has_rules:
            errors.append(invalid(Path(""), None, _UNCHECKED))
        return errors or self._ask_rules(call, obj, old)

    def _ask_rules(self, call: Call, obj: Object, old: Object | None) -> list[FieldError]:
        if self._rules is None:
            return []
        errors, warnings = self._rules.check(obj, old)
        call.warnings.extend(text for text in warnings if text not in call.warnings)
        return errors

    def prepare_status_update(self, call: Call, obj: Object, old: Object) -> None:
        """Keep the metadata: only the status is written."""
        kept = {name: value for name, value in obj["metadata"].items() if name in _KEPT_BY_STATUS}
        meta = {name: value for name, value in old["metadata"].items() if name not in _KEPT_BY_STATUS}
        obj["metadata"] = meta | kept

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Return what is wrong with the status by its schema; messages name places from the status on."""
        properties = self._codec.json_schema.get("properties") or {}
        errors: list[FieldError] = []
        if "status" in properties and "status" in obj:
            errors = validate(obj["status"], properties["status"], Path("status"), "")
        errors += scale_errors(obj, self._scale, status=True)
        return errors or self._ask_rules(call, obj, old)
