"""MutatingAdmissionPolicyBindings and ValidatingAdmissionPolicyBindings: where a policy applies.

Source: kubernetes pkg/apis/admissionregistration, pkg/registry/admissionregistration, pkg/printers.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.admissionregistration.versions import V1
from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.validation import by_rule, label_selector
from hyperkube_lib.go_strings import label_selector_string

from hyperkube.hookspecs.api import Call, ResourceSpec, Strategy
from hyperkube.machinery import names
from hyperkube.machinery.field import (
    ROOT,
    FieldError,
    Path,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    repeated,
    required,
)
from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.machinery.objects import Object

_SPEC = ROOT.child("spec")
ACTIONS = ("Audit", "Deny", "Warn")
_MISSING = ("Deny", "Allow")
_EITHER = "name and selector are mutually exclusive"


def default_policy_binding(binding: Object) -> None:
    """Fill in the binding of an admission policy."""
    from hyperkube_api.admissionregistration.matching import default_match

    default_match(binding["spec"].get("matchResources"))


def validate_mutating_binding(obj: Object) -> list[FieldError]:
    """Check the binding of a mutating policy."""
    return _binding(obj["spec"])


def validate_validating_binding(obj: Object) -> list[FieldError]:
    """Check the binding of a validating policy, and its actions."""
    errors = _binding(obj["spec"])
    actions, path = obj["spec"].get("validationActions") or [], _SPEC.child("validationActions")
    if not actions:
        return [*errors, required(path, "at least one validation action is required")]
    again = dict(repeated(actions))
    for index, action in enumerate(actions):
        if action not in ACTIONS:
            errors.append(not_supported(path.index(index), action, ACTIONS))
        if index in again:
            errors.append(duplicate(path.index(index), action))
    if {"Deny", "Warn"} <= set(actions):
        text = (
            "must not contain both Deny and Warn (repeating the same validation failure information in the API "
            "response and headers serves no purpose)"
        )
        errors.append(invalid(path, actions, text))
    return errors


def _binding(spec: Object) -> list[FieldError]:
    from hyperkube_api.admissionregistration.matching import validate_match

    name = spec.get("policyName") or ""
    at = _SPEC.child("policyName")
    errors = by_rule(at, name, names.dns1123_subdomain) if name else [required(at)]
    reference = spec.get("paramRef")
    if reference is not None:
        errors += _reference(_SPEC.child("paramRef"), reference)
    match = spec.get("matchResources")
    return errors + (validate_match(_SPEC.child("matchResources"), match) if match is not None else [])


def _reference(path: Path, reference: Object) -> list[FieldError]:
    name, selector, missing = reference.get("name"), reference.get("selector"), reference.get("parameterNotFoundAction")
    both = bool(name) and selector is not None
    errors = by_rule(path.child("name"), name, names.path_segment_name) if name else []
    if both:
        errors.append(forbidden(path.child("name"), _EITHER))
    errors += label_selector(path.child("selector"), selector)
    if both:
        errors.append(forbidden(path.child("selector"), _EITHER))
    if not name and selector is None:
        errors.append(required(path, "one of name or selector must be specified"))
    at = path.child("parameterNotFoundAction")
    if not missing:
        errors.append(required(at))
    elif missing not in _MISSING:
        errors.append(not_supported(at, missing, _MISSING))
    return errors


def validating_admission_policy_binding_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the policy and its parameters."""
    spec = cells.spec_of(obj)
    shown = _param_ref(spec.get("paramRef") or {})
    return [cells.name(obj), spec.get("policyName") or "", shown, cells.age(obj, now)]


def _param_ref(reference: Object) -> str:
    """Return which parameters: one by name, in any namespace if it names none, or a selector's, as Go writes it."""
    if reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    selector = reference.get("selector")
    if selector is None:
        return cells.UNSET
    return label_selector_string(selector)


mutating_admission_policy_binding_cells = validating_admission_policy_binding_cells


class MutatingAdmissionPolicyBindingStrategy(Strategy):
    """Where a mutating policy applies."""

    plain_finalizers = True
    metadata_checks = ("object",)
    generation = True
    allow_unconditional_update = False

    def default(self, obj: Object) -> None:
        """Fill in selectors."""
        default_policy_binding(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check policy and parameters."""
        return validate_mutating_binding(obj)


class ValidatingAdmissionPolicyBindingStrategy(Strategy):
    """Where a validating policy applies, and what its refusals do."""

    plain_finalizers = True
    metadata_checks = ("object",)
    generation = True
    allow_unconditional_update = False

    def default(self, obj: Object) -> None:
        """Fill in selectors."""
        default_policy_binding(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check policy, parameters and actions."""
        return validate_validating_binding(obj)


def mutating_admission_policy_bindings() -> ResourceSpec:
    """Return the specification of the resource ``mutatingadmissionpolicybindings``."""
    return V1.resource(
        "mutatingadmissionpolicybindings",
        "MutatingAdmissionPolicyBinding",
        namespaced=False,
        categories=("api-extensions",),
        storage_prefix="mutatingadmissionpolicybindings",
        storage_version_hash="90V5FRZZ3Zg=",
        storage_kind=GroupVersionKind("admissionregistration.k8s.io", "v1beta1", "MutatingAdmissionPolicyBinding"),
        strategy=MutatingAdmissionPolicyBindingStrategy(),
        columns=(
            NAME,
            column(
                "PolicyName",
                description="PolicyName indicates the policy definition which the policy binding binded to",
            ),
            column("ParamRef", description="ParamRef indicates the param resource which sets the configuration param"),
            AGE,
        ),
        cells=mutating_admission_policy_binding_cells,
    )


def validating_admission_policy_bindings() -> ResourceSpec:
    """Return the specification of the resource ``validatingadmissionpolicybindings``."""
    return V1.resource(
        "validatingadmissionpolicybindings",
        "ValidatingAdmissionPolicyBinding",
        namespaced=False,
        categories=("api-extensions",),
        storage_prefix="validatingadmissionpolicybindings",
        storage_version_hash="v9715VZqakg=",
        strategy=ValidatingAdmissionPolicyBindingStrategy(),
        columns=(
            NAME,
            column(
                "PolicyName",
                description="PolicyName indicates the policy definition which the policy binding binded to",
            ),
            column("ParamRef", description="ParamRef indicates the param resource which sets the configuration param"),
            AGE,
        ),
        cells=validating_admission_policy_binding_cells,
    )
