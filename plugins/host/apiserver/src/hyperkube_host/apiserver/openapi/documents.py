"""The documents: one per group version, an index of them with a hash each, and the one document of version 2.

A document is built when it is first asked for and kept as bytes, gzip is the edge's work. The hashes in the index are
made from what a document is built of, so that showing the index builds none.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from hyperkube_host.apiserver.openapi import custom
from hyperkube_host.apiserver.openapi.described import NoDescriptions, Remembered, describe, describe_custom

from hyperkube.hookspecs.api import ResourceSpec
from hyperkube.hookspecs.descriptions import Descriptions
from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.machinery.objects import Object
from hyperkube.machinery.schema import resolve

if TYPE_CHECKING:
    from hyperkube_host.apiserver.openapi.definitions import Definitions
    from hyperkube_host.apiserver.openapi.v2 import Part

_SECURITY = {
    "BearerToken": {
        "type": "apiKey",
        "description": "Bearer Token authentication",
        "name": "authorization",
        "in": "header",
    }
}
_META = "hyperkube_api.meta.v1:"
_FIXED = {
    ".well-known/openid-configuration": ("/.well-known/openid-configuration/", "WellKnown", "string"),
    "api": ("/api/", "Core", "APIVersions"),
    "apis": ("/apis/", "Apis", "APIGroupList"),
    "openid/v1/jwks": ("/openid/v1/jwks/", "Openid", "string"),
    "version": ("/version/", "Version", "string"),
}


class Document(NamedTuple):
    """A document as it is sent, and the hash that names it."""

    body: bytes
    digest: str


class OpenApi:
    """All OpenAPI documents of a server; safe to call from threads.

    The server tells the resources, and calls `invalidate` when they change.
    """

    def __init__(
        self,
        resources: Callable[[], Iterable[ResourceSpec]],
        *,
        version: str,
        descriptions: Callable[[], Descriptions] = NoDescriptions,
    ) -> None:
        """Prepare documents.

        Args:
            resources: returns what is served now.
            version: the server's version, as the documents show it.
            descriptions: returns where longer texts than the schemas' own are to be had.
        """
        self._descriptions = descriptions
        self._source: str | None = None
        self._resources = resources
        self._version = version
        self._lock = threading.Lock()
        self._specs: dict[tuple[str, str], list[ResourceSpec]] | None = None
        self._documents: dict[str, Document] = {}
        self._v2: Document | None = None
        self._common: Remembered | None = None
        self._v2_parts: dict[str, tuple[str, Part]] = {}

    def invalidate(self) -> None:
        """Look at the resources anew; documents of what did not change stay."""
        with self._lock:
            self._specs = None
            self._v2 = None

    def _by_version(self) -> dict[tuple[str, str], list[ResourceSpec]]:
        specs = self._specs
        if specs is None:
            specs = {}
            for spec in self._resources():
                specs.setdefault((spec.resource.group, spec.resource.version), []).append(spec)
            self._specs = specs
        return specs

    def index(self) -> bytes:
        """Return the index of all documents: path → where it is, with its hash."""
        paths = {
            path: {"serverRelativeURL": f"/openapi/v3/{path}?hash={self._digest(path)}"}
            for path in sorted(self._paths())
        }
        return orjson.dumps({"paths": paths})

    def _paths(self) -> set[str]:
        paths = set(_FIXED)
        for group, version in self._by_version():
            paths |= {f"apis/{group}", f"apis/{group}/{version}"} if group else {f"api/{version}"}
        return paths

    def document(self, path: str) -> Document | None:
        """Return the document of a path of the index (``api/v1``, ``apis/GROUP/VERSION``); None if there is none."""
        if path not in self._paths():
            return None
        digest = self._digest(path)
        with self._lock:
            known = self._documents.get(path)
            if known is None or known.digest != digest:
                known = self._documents[path] = Document(orjson.dumps(self._build(path, self._descriptions())), digest)
        return known

    def v2(self) -> Document:
        """Return the document of version 2."""
        from hyperkube_host.apiserver.openapi.v2 import assembled

        with self._lock:
            if self._v2 is None:
                versions = [path for path in sorted(self._paths()) if self._key(path) in self._by_version()]
                body = assembled(self._parts(versions), self._version)
                self._v2 = Document(body, hashlib.sha512(body).hexdigest().upper())
            return self._v2

    def _parts(self, versions: Sequence[str]) -> list[Part]:
        """Return the parts of group versions; only those that have changed are made anew."""
        from hyperkube_host.apiserver.openapi.v2 import part_of

        digests = {path: self._digest(path) for path in versions}
        known = {path: part for path, part in self._v2_parts.items() if digests.get(path) == part[0]}
        descriptions = Remembered(self._descriptions())
        for path, digest in digests.items():
            if path not in known:
                known[path] = (digest, part_of(self._build(path, descriptions)))
        self._v2_parts = known
        return [known[path][1] for path in versions]

    def _key(self, path: str) -> tuple[str, str] | None:
        parts = path.split("/")
        if parts[0] == "api" and len(parts) == len(("api", "v1")):
            return "", parts[1]
        if parts[0] == "apis" and len(parts) == len(("apis", "apps", "v1")):
            return parts[1], parts[2]
        return None

    def _digest(self, path: str) -> str:
        key = self._key(path)
        specs = self._by_version().get(key, []) if key is not None else []
        if self._source is None:
            self._source = self._descriptions().source
        made_of = [[self._version, self._source, path], *(_fingerprint(spec) for spec in specs)]
        return hashlib.sha512(orjson.dumps(made_of)).hexdigest().upper()

    def _build(self, path: str, descriptions: Descriptions) -> Object:
        key = self._key(path)
        document = self._group_version(path, *key) if key is not None else self._fixed(path)
        specs = self._by_version().get(key, []) if key is not None else []
        plurals = {
            custom.definition_name(spec.kind.group, spec.kind.version, _list_kind(spec)): spec.resource.resource
            for spec in specs
            if not isinstance(spec.schema, str)
        }
        if plurals:  # these come and go: what all have in common is looked up once
            if self._common is None:
                self._common = Remembered(self._descriptions())
            descriptions = self._common
            describe_custom(document, plurals, descriptions)
        return describe(document, descriptions)

    def _frame(self, paths: Object, schemas: Object) -> Object:
        return {
            "openapi": "3.0.0",
            "info": {"title": "Kubernetes", "version": self._version},
            "paths": dict(sorted(paths.items())),
            "components": {"schemas": schemas, "securitySchemes": _SECURITY},
        }

    def _group_version(self, path: str, group: str, version: str) -> Object:
        from hyperkube_host.apiserver.openapi.definitions import Definitions
        from hyperkube_host.apiserver.openapi.operations import Operations, resource_list

        specs = self._by_version()[group, version]
        definitions = Definitions(group, version)
        is_custom = all(not isinstance(spec.schema, str) for spec in specs)

        def refer(schema: str, kind: GroupVersionKind) -> Object:
            if schema:
                return definitions.refer(resolve(schema))
            return {"$ref": f"#/components/schemas/{custom.definition_name(kind.group, kind.version, kind.kind)}"}

        operations = Operations(group, version, refer, custom=is_custom)
        listing = refer(f"{_META}APIResourceList", GroupVersionKind("", "v1", "APIResourceList"))
        paths: Object = {f"/{path}/": resource_list(group, version, listing)}
        for spec in specs:
            if isinstance(spec.schema, str):
                item_ref = refer(spec.schema, spec.kind)
                list_ref = self._list_reference(spec, refer)
            else:
                item_ref, list_ref = _custom_references(spec, definitions)
            paths |= operations.paths(spec, list_ref, item_ref)
        return self._frame(paths, definitions.finish())

    def _list_reference(self, spec: ResourceSpec, refer: Callable[[str, GroupVersionKind], Object]) -> Object:
        if "list" not in spec.verbs:
            return {}
        module = spec.schema.rpartition(":")[0]
        return refer(f"{module}:{_list_kind(spec)}", spec.kind)

    def _fixed(self, path: str) -> Object:
        """Return the small document of a path that serves discovery or the like."""
        from hyperkube_host.apiserver.openapi.definitions import Definitions
        from hyperkube_host.apiserver.openapi.operations import camel_group, tag

        definitions = Definitions("", "v1")
        if path in _FIXED:
            url, name, answer = _FIXED[path]
        else:
            group = path.partition("/")[2]
            url, name, answer = f"/{path}/", camel_group(group), "APIGroup"
        schema: Object = {"type": "string"}
        if answer != "string":
            schema = definitions.refer(resolve(_META + answer))
        operation: dict[str, Any] = {
            "tags": [tag(path.partition("/")[2], "") if path.startswith("apis/") else name.lower()],
            "description": f"get {'information of a group' if answer == 'APIGroup' else path}",
            "operationId": f"get{name}API{'Group' if answer == 'APIGroup' else ''}",
            "responses": {
                "200": {"description": "OK", "content": {"application/json": {"schema": schema}}},
                "401": {"description": "Unauthorized"},
            },
        }
        return self._frame({url: {"get": operation}}, definitions.finish())


def _custom_references(spec: ResourceSpec, definitions: Definitions) -> tuple[Object, Object]:
    """Add the definitions of a custom kind and its list; return references to both."""
    group, version, kind = spec.kind
    list_kind = _list_kind(spec)
    name = custom.definition_name(group, version, kind)
    list_name = custom.definition_name(group, version, list_kind)
    definitions.refer(resolve(f"{_META}ObjectMeta"))
    definitions.refer(resolve(f"{_META}ListMeta"))
    definitions.schemas[name] = custom.custom_definition(spec.schema.json_schema, group, version, kind)
    definitions.schemas[list_name] = custom.custom_list_definition(group, version, kind, list_kind)
    prefix = "#/components/schemas/"
    return {"$ref": prefix + name}, {"$ref": prefix + list_name}


def _list_kind(spec: ResourceSpec) -> str:
    return spec.list_kind or f"{spec.kind.kind}List"


def _fingerprint(spec: ResourceSpec) -> list[Any]:
    """Return what a resource's part of a document depends on."""
    schema = spec.schema if isinstance(spec.schema, str) else spec.schema.json_schema
    subresources = [[sub.name, [*sub.kind], sub.verbs, sub.schema] for sub in spec.subresources]
    return [[*spec.resource], [*spec.kind], spec.list_kind, spec.namespaced, spec.verbs, schema, subresources]
