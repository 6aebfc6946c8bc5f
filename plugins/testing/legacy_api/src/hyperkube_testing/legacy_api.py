# ruff: noqa: D102 - tests, whose names are their docstrings
"""What every removed version promises beside what all API groups do: subclass `LegacyApiContract`.

Objects are drawn from the version's own schemas, so that a member that conversion forgets is found. Needs hypothesis.
"""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from hyperkube_lib.protobuf import Protobuf
from hyperkube_testing.api import ApiContract
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, SearchStrategy

from hyperkube.hookspecs import api as specs
from hyperkube.hookspecs.api import ApiHooks, ResourceSpec
from hyperkube.hookspecs.base import Plugin, PluginContext
from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.machinery.objects import Object, copy_object
from hyperkube.machinery.schema import KubeSchema, compile_schema, fields, resolve
from hyperkube.plugin.loader import PluginHost

_DEPTH = 6
_FIXED: Object = {
    "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": None}},
    "openAPIV3Schema": {"type": "object"},
}
"""Members with a world of their own, which conversion does not look into."""


def _text() -> SearchStrategy[str]:
    return st.text("abz-.0", min_size=1, max_size=6)


_EXPRESSION = st.fixed_dictionaries({"key": _text(), "operator": st.just("Exists")})
_SELECTOR = st.fixed_dictionaries(
    {},
    optional={
        "matchLabels": st.dictionaries(_text(), _text(), min_size=1, max_size=2),
        "matchExpressions": st.lists(_EXPRESSION, min_size=1, max_size=2),
    },
)


def value_of(field: fields.KubeField, depth: int) -> SearchStrategy[Any] | None:
    """Return a strategy for the values that a field of a schema has when it is set; None for what is left out."""
    if depth <= 0:
        return None
    match field:
        case fields.List() | fields.Map():
            inner = value_of(field.items, depth)
            if inner is None:
                return None
            if isinstance(field, fields.List):
                return st.lists(inner, min_size=1, max_size=2)
            return st.dictionaries(_text(), inner, min_size=1, max_size=2)
        case fields.Struct():
            return object_of(field.schema(), depth - 1)
        case fields.IntOrString():
            return st.one_of(st.integers(0, 70000), st.sampled_from(["http", "50%"]))
        case fields.Bool():
            return st.just(True)
        case fields.Int32() | fields.Int64():
            return st.integers(1, 2**31 - 1)
        case fields.String():
            return st.sampled_from(field.enum) if field.enum else _text()
    return None


def _members_of(schema: type[KubeSchema], depth: int) -> dict[str, SearchStrategy[Any]]:
    members: dict[str, SearchStrategy[Any]] = {}
    for attribute, field in schema.declared().items():
        name = field.json_name or attribute
        if isinstance(field, fields.Inline):
            members |= _members_of(field.schema(), depth)
        elif name in _FIXED:
            members[name] = st.just(_FIXED[name])
        elif name not in {"kind", "apiVersion", "metadata"}:
            found = value_of(field, depth)
            if found is not None:
                members[name] = found
    return members


@cache
def object_of(schema: type[KubeSchema], depth: int = _DEPTH) -> SearchStrategy[Object]:
    """Return a strategy for objects of a schema, without metadata."""
    if schema.__name__ == "LabelSelector":
        return _SELECTOR
    return st.fixed_dictionaries({}, optional=_members_of(schema, depth))


def canonical(schema: str, kind: GroupVersionKind, obj: Object) -> Object:
    """Return an object as its schema writes it."""
    return {**compile_schema(schema).canonical(copy_object(obj)), "kind": kind.kind, "apiVersion": kind.api_version}


def _hooks(plugin: type[Plugin]) -> ApiHooks:
    host: PluginHost[ApiHooks] = PluginHost("api", specs, [("test", plugin(PluginContext(name="test")))])
    return host.hook


def spec_named(name: str, *plugins: type[Plugin]) -> ResourceSpec:
    """Return the resource ``plural.version.group`` of the first of some API plugins that has it."""
    versions = (version for plugin in plugins for offered in _hooks(plugin).api_group_versions() for version in offered)
    found: ResourceSpec = next(
        spec
        for version in versions
        for spec in version.resources
        if f"{spec.resource.resource}.{spec.resource.version}.{spec.resource.group}" == name
    )
    return found


class LegacyApiContract(ApiContract):
    """The promises of versions that Kubernetes has removed, as tests.

    Attributes:
        module: where the newer schemas are.
        tidied: kinds of which the version has several ways to say one thing; they come back in one of them.
    """

    module: ClassVar[str]
    modules: ClassVar[dict[str, str]] = {}
    """By kind, where the newer schemas are not all in one module."""
    tidied: ClassVar[frozenset[str]] = frozenset()

    def newer_schema(self, spec: ResourceSpec) -> str:
        """Return the schema of the version that is stored."""
        return f"{self.modules.get(spec.kind.kind, self.module)}:{spec.kind.kind}"

    def test_it_is_served_when_asked_for_and_says_when_it_went(self) -> None:
        assert all(version.legacy for version in self.versions())
        for spec in self.specs():
            assert not spec.served
            assert spec.deprecated.startswith(f"{spec.kind.api_version} {spec.kind.kind} is deprecated in v1.")

    @settings(deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def test_what_was_stored_once_stays_as_it_is(self, data: DataObject) -> None:
        spec = data.draw(st.sampled_from(self.specs()))
        drawn = data.draw(object_of(resolve(spec.schema)))
        stored_as, to_storage, from_storage = spec.storage_kind, spec.to_storage, spec.from_storage
        assert stored_as is not None
        assert to_storage is not None
        assert from_storage is not None
        older = canonical(spec.schema, spec.kind, {**drawn, "metadata": {}})
        before = copy_object(older)

        newer = canonical(self.newer_schema(spec), stored_as, to_storage(older))
        back = canonical(spec.schema, spec.kind, from_storage(newer))

        assert older == before
        assert to_storage(back)["apiVersion"] == stored_as.api_version
        assert canonical(self.newer_schema(spec), stored_as, to_storage(back)) == newer
        assert spec.kind.kind in self.tidied or back == older

    def test_it_comes_back_from_protobuf(self) -> None:
        codec = Protobuf()
        for spec in self.specs():
            schema = compile_schema(spec.schema)
            obj = schema.canonical({"metadata": {"name": "a"}})

            assert schema.canonical(codec.read_message(codec.write_message(obj, schema), schema)) == obj
