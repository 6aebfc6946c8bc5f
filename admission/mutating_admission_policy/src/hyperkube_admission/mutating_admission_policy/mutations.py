"""The mutations of a policy: compiled, and made.

Source: kubernetes apiserver ``pkg/admission/plugin/policy/mutating/{compilation.go,patch}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperkube_admission.mutating_admission_policy.json_values import Mismatch, check_names, to_json
from hyperkube_admission.mutating_admission_policy.merge import MergeRefused, Schemas, apply_configuration
from hyperkube_lib.cel.admission import OBJECT, PATCHES_TYPE, compile_variables, environment
from hyperkube_lib.dynamic_admission.evaluation import Compiled, Conditions, compiled

from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, copy_object
from hyperkube.machinery.patch.json_patch import apply_json_patch


class MutationRefused(Exception):
    """A mutation cannot be made; ``str()`` says why."""


@dataclass(frozen=True, slots=True)
class CompiledPolicy:
    """A policy, ready to be asked."""

    variables: Mapping[str, Compiled]
    conditions: Conditions
    mutations: tuple[tuple[str, Compiled], ...]


def compile_policy(policy: Object) -> CompiledPolicy:
    """Compile a policy; what cannot be compiled fails when it is asked."""
    spec = policy["spec"]
    params = bool(spec.get("paramKind"))
    conditions = Conditions(
        environment(params=params, authorizer=True, patches=False), spec.get("matchConditions") or ()
    )
    base = environment(params=params, authorizer=True, patches=True)
    declared = [(str(one["name"]), str(one["expression"])) for one in spec.get("variables") or ()]
    scope, variables = compile_variables(base, declared)
    mutations: list[tuple[str, Compiled]] = []
    for one in spec.get("mutations") or ():
        if one.get("patchType") == "JSONPatch":
            mutations.append(("JSONPatch", compiled(scope, one["jsonPatch"]["expression"], (PATCHES_TYPE,))))
        else:
            source = one["applyConfiguration"]["expression"]
            mutations.append(("ApplyConfiguration", compiled(scope, source, (OBJECT,))))
    return CompiledPolicy(variables, conditions, tuple(mutations))


def mutated(request: AdmissionRequest, kind: str, value: Any, schemas: Schemas) -> Object:
    """Return the object of a request with one mutation made.

    Args:
        request: left as it is.
        kind: ``JSONPatch`` or ``ApplyConfiguration``.
        value: what the expression gave.
        schemas: where the kinds of objects are described.

    Raises:
        MutationRefused: it cannot be made.
    """
    live = copy_object(request.written())
    if kind == "JSONPatch":
        try:
            patched: Object = apply_json_patch(live, to_json(value))
        except Mismatch as error:
            raise MutationRefused(str(error)) from error
        except ApiError as error:
            raise MutationRefused(f"JSON Patch: {error.message}") from error
        return patched
    try:
        check_names(value)
        return apply_configuration(live, to_json(value), schemas.find(request.kind))
    except Mismatch as error:
        raise MutationRefused(str(error)) from error
    except MergeRefused as error:
        raise MutationRefused(f"error applying patch: {error}") from error
