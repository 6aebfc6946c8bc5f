"""Expressions in admission: what policies and match conditions may speak of, and what they must give.

Source: kubernetes apiserver ``pkg/admission/plugin/cel/{compile,composition}.go``, ``pkg/cel/mutation``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from hyperkube_lib.cel import libraries
from hyperkube_lib.cel.environment import Environment, Program
from hyperkube_lib.cel.errors import CelError, CompilationFailed
from hyperkube_lib.cel.library.patches import PATCHES
from hyperkube_lib.cel.types import BOOL, DYN, INT, NULL, STRING, TIMESTAMP, Type, list_of, map_of, output_name, struct

OBJECT, PATCH = (
    struct("Object", None),
    struct("JSONPatch", {"op": STRING, "path": STRING, "from": STRING, "value": DYN}),
)
PATCHES_TYPE = list_of(PATCH)
_TEXTS = list_of(STRING)
_KIND = struct("kubernetes.GroupVersionKind", dict.fromkeys(("group", "version", "kind"), STRING))
_RESOURCE = struct("kubernetes.GroupVersionResource", dict.fromkeys(("group", "version", "resource"), STRING))
_USER = struct(
    "kubernetes.UserInfo", {"username": STRING, "uid": STRING, "groups": _TEXTS, "extra": map_of(STRING, _TEXTS)}
)
_REQUEST = struct(
    "kubernetes.AdmissionRequest",
    {
        "kind": _KIND,
        "resource": _RESOURCE,
        "subResource": STRING,
        "requestKind": _KIND,
        "requestResource": _RESOURCE,
        "requestSubResource": STRING,
        "name": STRING,
        "namespace": STRING,
        "operation": STRING,
        "userInfo": _USER,
        "dryRun": BOOL,
        "options": DYN,
    },
)
_NAMESPACE_META = struct(
    "kubernetes.NamespaceMetadata",
    {
        **dict.fromkeys(("name", "generateName", "namespace", "UID", "resourceVersion"), STRING),
        **dict.fromkeys(("labels", "annotations"), map_of(STRING, STRING)),
        **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), TIMESTAMP),
        **dict.fromkeys(("deletionGracePeriodSeconds", "generation"), INT),
        "finalizers": _TEXTS,
    },
)
_CONDITION = struct(
    "kubernetes.NamespaceCondition",
    {**dict.fromkeys(("status", "type", "message", "reason"), STRING), "lastTransitionTime": TIMESTAMP},
)
_NAMESPACE = struct(
    "kubernetes.Namespace",
    {
        "metadata": _NAMESPACE_META,
        "spec": struct("kubernetes.NamespaceSpec", {"finalizers": _TEXTS}),
        "status": struct("kubernetes.NamespaceStatus", {"conditions": list_of(_CONDITION), "phase": STRING}),
    },
)


class WrongExpression(CelError):
    """An expression that cannot be used where it stands; ``str()`` is Kubernetes' text."""


def _structs(name: str) -> Type | None:
    if name == "JSONPatch":
        return PATCH
    return struct(name, None) if name == "Object" or name.startswith("Object.") else None


@lru_cache(8)
def environment(*, params: bool, authorizer: bool, patches: bool) -> Environment:
    """Return the environment of expressions of one place.

    Args:
        params: whether there are parameters.
        authorizer: whether expressions may ask the authorizers.
        patches: whether they may build objects and patches.
    """
    variables = {"object": DYN, "oldObject": DYN, "namespaceObject": _NAMESPACE, "request": _REQUEST}
    if params:
        variables["params"] = DYN
    if authorizer:
        variables["authorizer"] = Type("kubernetes.authorization.Authorizer")
        variables["authorizer.requestResource"] = Type("kubernetes.authorization.ResourceCheck")
    known = [*libraries(), PATCHES] if patches else libraries()
    if patches:
        return Environment(variables, known, _structs)
    return Environment(variables, known)


def with_variables(base: Environment, types: Mapping[str, Type]) -> Environment:
    """Return an environment that also has ``variables`` with these members."""
    return base.extended({"variables": struct("kubernetes.variables", dict(types))})


def compile_variables(
    base: Environment, declared: Iterable[tuple[str, str]]
) -> tuple[Environment, dict[str, Program | WrongExpression]]:
    """Compile named expressions, each of which may use those before it.

    Returns the environment that has them all, and what became of each: a name that does not compile counts as dynamic.
    """
    types: dict[str, Type] = {}
    programs: dict[str, Program | WrongExpression] = {}
    scope = with_variables(base, types)
    for name, source in declared:
        try:
            program = compile_as(scope, source, ())
            programs[name], types[name] = program, program.result
        except WrongExpression as error:
            programs[name], types[name] = error, DYN
        scope = with_variables(base, types)
    return scope, programs


def compile_as(scope: Environment, source: str, wanted: tuple[Type, ...]) -> Program:
    """Compile an expression that must give one of some types; none wanted takes any.

    Raises:
        WrongExpression: it cannot work, or gives something else.
    """
    try:
        program = scope.compile(source)
    except CompilationFailed as error:
        raise WrongExpression(f"compilation failed: {error}") from error
    if not wanted or program.result in wanted:
        return program
    got = output_name(program.result)
    if len(wanted) == 1:
        raise WrongExpression(f"must evaluate to {output_name(wanted[0])} but got {got}")
    raise WrongExpression(f"must evaluate to one of [{' '.join(map(output_name, wanted))}] but got {got}")


TEXT_OR_NULL = (STRING, NULL)
"""What an audit annotation may give."""
QUESTION = (BOOL,)
"""What a condition or validation gives."""
TEXT = (STRING,)
"""What a message gives."""
