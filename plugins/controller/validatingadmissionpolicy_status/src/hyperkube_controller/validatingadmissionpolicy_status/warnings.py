"""Checking a policy's expressions against the types it matches.

Source: kubernetes apiserver ``pkg/admission/plugin/policy/validating/typechecking.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Protocol

from hyperkube_controller.validatingadmissionpolicy_status.schemas import Kind
from hyperkube_lib.cel import CompilationFailed, Environment, Type
from hyperkube_lib.cel.admission import compile_variables, environment
from hyperkube_lib.cel.structural import declared

from hyperkube.machinery.field import ROOT
from hyperkube.machinery.groups import GroupVersion, GroupVersionResource
from hyperkube.machinery.objects import Object

MOST_TYPES = 10
"""How many types one rule is checked against."""


class Schemas(Protocol):
    """Where types come from."""

    def kind_of(self, resource: GroupVersionResource) -> Kind | None:
        """Return the kind of a resource."""

    def schema_of(self, kind: Kind) -> Object | None:
        """Return the structural schema of a kind."""


def warnings_of(policy: Object, schemas: Schemas) -> list[Object]:
    """Return the warnings (``fieldRef``, ``warning``) about the expressions of a policy's validations."""
    scopes = list(_scopes(policy, schemas))
    if not scopes:
        return []
    path, found = ROOT.child("spec", "validations"), list[Object]()
    for index, validation in enumerate(policy["spec"].get("validations") or ()):
        for member in ("expression", "messageExpression"):
            source = validation.get(member) or ""
            texts = [text for kind, scope in scopes if (text := _issue(kind, scope, source))] if source else []
            if texts:
                found.append({"fieldRef": str(path.index(index).child(member)), "warning": "\n".join(texts)})
    return found


def _issue(kind: Kind, scope: Environment, source: str) -> str:
    try:
        scope.compile(source)
    except CompilationFailed as error:
        return f"{kind}: {error}\n"
    return ""


def _scopes(policy: Object, schemas: Schemas) -> Iterator[tuple[Kind, Environment]]:
    """Yield each matched type with the environment in which the object is of that type."""
    spec = policy["spec"]
    params = _type(_param_kind(spec.get("paramKind") or {}), schemas)
    base = environment(params=params is not None, authorizer=True, patches=False)
    variables = [(str(one.get("name") or ""), str(one.get("expression") or "")) for one in spec.get("variables") or ()]
    for kind in matched_kinds(policy, schemas):
        own = _type(kind, schemas)
        if own is None:
            continue
        types = {"object": own, "oldObject": own} | ({"params": params} if params is not None else {})
        yield kind, compile_variables(base.extended(types), variables)[0]


def _param_kind(given: Object) -> Kind | None:
    if not given:
        return None
    version = GroupVersion.parse(str(given.get("apiVersion") or ""))
    return Kind(version.group, version.version, str(given.get("kind") or ""))


def _type(kind: Kind | None, schemas: Schemas) -> Type | None:
    schema = schemas.schema_of(kind) if kind is not None else None
    return declared(schema) if schema is not None else None


def matched_kinds(policy: Object, schemas: Schemas) -> list[Kind]:
    """Return the kinds that a policy's rules name, sorted; rules with wildcards name none."""
    kinds: set[Kind] = set()
    for rule in (policy["spec"].get("matchConstraints") or {}).get("resourceRules") or ():
        count = 0
        for group, version, resource in product(*_named(rule)):
            kind = schemas.kind_of(GroupVersionResource(group, version, resource))
            if kind is not None:
                kinds.add(kind)
                count += 1
            if count == MOST_TYPES:
                return sorted(kinds)
    return sorted(kinds)


def _named(rule: Object) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    groups, versions = rule.get("apiGroups") or [], rule.get("apiVersions") or []
    resources = [one for one in rule.get("resources") or () if not {"*", "/"} & set(one)]
    if any("*" in one for one in (*groups, *versions)):
        return [], [], []
    return sorted(groups), sorted(versions), sorted(resources)
