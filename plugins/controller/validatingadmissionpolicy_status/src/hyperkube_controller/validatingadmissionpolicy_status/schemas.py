"""Types by their published OpenAPI documents, and which kinds a resource has.

Source: kubernetes apiserver ``pkg/cel/openapi/resolver/{discovery,refs}.go``, ``pkg/cel/openapi/adaptor.go``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

from hyperkube.client.client import Client
from hyperkube.machinery.groups import GroupVersion, GroupVersionResource
from hyperkube.machinery.objects import Object

_KIND = "x-kubernetes-group-version-kind"
_UNTYPED = "int-or-string"


class Kind(NamedTuple):
    """A kind in a version of its group; ``str()`` is Kubernetes' form."""

    group: str
    version: str
    kind: str

    def __str__(self) -> str:
        return f"{GroupVersion(self.group, self.version)}, Kind={self.kind}"


class PublishedSchemas:
    """Asks one API server, each document once: make a new one for each policy."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._documents: dict[str, Object] = {}

    def kind_of(self, resource: GroupVersionResource) -> Kind | None:
        """Return the kind of a resource, None when it is not served."""
        for one in self._document(resource.root).get("resources") or ():
            if one["name"] == resource.resource:
                return Kind(resource.group, resource.version, str(one["kind"]))
        return None

    def schema_of(self, kind: Kind) -> Object | None:
        """Return the structural schema of a kind, None when none is published."""
        root = GroupVersionResource(kind.group, kind.version, "").root
        definitions = (self._document(f"/openapi/v3{root}").get("components") or {}).get("schemas") or {}
        wanted = {"group": kind.group, "version": kind.version, "kind": kind.kind}
        for definition in definitions.values():
            if wanted in (definition.get(_KIND) or ()):
                return _resolved(definition, definitions, ())
        return None

    def _document(self, path: str) -> Object:
        if path not in self._documents:
            answer = self._client.request("GET", path, headers={"Accept": "application/json"})
            found: Object = orjson.loads(answer.body) if answer.status == 200 else {}
            self._documents[path] = found
        return self._documents[path]


def _resolved(schema: Object, definitions: Object, above: tuple[str, ...]) -> Object:
    """Return a schema with what it refers to in it; a type that has itself in it ends there, untyped."""
    references = [schema, *(schema.get("allOf") or ())]
    reference = next((str(one["$ref"]) for one in references if "$ref" in one), "")
    if reference:
        name = reference.rpartition("/")[2]
        return {} if name in above else _resolved(definitions.get(name) or {}, definitions, (*above, name))
    if schema.get("format") == _UNTYPED:
        return {"x-kubernetes-int-or-string": True}
    forms = [one.get("type") for one in schema.get("oneOf") or ()]
    if forms == ["string", "number"]:
        return {"type": "string"}
    out: dict[str, Any] = dict(schema)
    if "properties" in schema:
        out["properties"] = {
            name: _resolved(one, definitions, above) for name, one in (schema["properties"] or {}).items()
        }
    for member in ("items", "additionalProperties"):
        if isinstance(schema.get(member), dict):
            out[member] = _resolved(schema[member], definitions, above)
    return out
